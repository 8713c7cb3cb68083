-- Lazy and computed properties: a slice of the module `obs`.
local core, obs = ...

local getmetatable, ipairs, pcall, rawlen, select, setmetatable, tostring, type =
  getmetatable, ipairs, pcall, rawlen, select, setmetatable, tostring, type
local bad_argument, check_function, check_literal, check_observed, declare =
  core.bad_argument, core.check_function, core.check_literal, core.check_observed, core.declare
local declare_usual, ARMED, NAME, PATH =
  core.declare_usual, core.flags.ARMED, core.flags.CHECKED_NAME, core.flags.CHECKED_PATH
local LOADED, OFMODEL, READONLY, TRACKED =
  core.flags.LOADED, core.flags.OFMODEL, core.flags.READONLY, core.flags.TRACKED
local UNCACHED, force, forget, inherited, invalidate, is_path =
  core.flags.UNCACHED, core.force, core.forget, core.inherited, core.invalidate, core.is_path
local hint, is_valid, kind_of, lazy_names, record_of, next =
  core.hint, core.is_valid, core.kind, core.lazy_names, core.model_record, core.next
local path_parts, peek, current_sandbox = core.path_parts, core.peek, core.sandbox
local string_find, string_format, string_sub = string.find, string.format, string.sub

-- The short texts that were checked as names or as paths; the same texts are declared again and
-- again. `declare_usual` gets this table, too.
local checked, count = {}, 0
local MOST_CHECKED, LONGEST = 2000, 40

local function is_checked(text, use) return (checked[text] or 0) & use ~= 0 end

local function remember(text, use)
  if #text > LONGEST then return end
  if count == MOST_CHECKED then checked, count = {}, 0 end
  checked[text], count = (checked[text] or 0) | use, count + 1
end

-- Declarations -----------------------------------------------------------------------------------

local option_types = {
  get = "function", deps = "table", cached = "boolean", track = "boolean", loader = "function",
  create = "function", configure = "function", with = "any", readonly = "boolean",
}

local function check_options(options, number, name)
  for key, value in next, options do
    local expected = option_types[key]
    if not expected then
      bad_argument(number, name,
        string_format("unknown option '%s'%s", tostring(key), hint(key, option_types)))
    end
    if expected ~= "any" and type(value) ~= expected
      and not (key == "deps" and is_path(value)) then
      if not (expected == "function" and pcall(check_function, value, number, name)) then
        bad_argument(number, name,
          string_format("option '%s' takes a %s, not a %s", key, expected, type(value)))
      end
    end
  end
  local sources = 0
  for _, key in next, { "get", "loader", "create" } do
    if options[key] then sources = sources + 1 end
  end
  if sources > 1 then
    bad_argument(number, name,
      "only one of the options 'get', 'loader' and 'create' can give the value")
  end
  if options.track and options.deps then
    bad_argument(number, name, "the options 'track' and 'deps' exclude each other")
  end
  if options.cached == false and sources > 0 and not options.get then
    bad_argument(number, name, "only a getter ('get') can do without a cached value")
  end
  for _, key in next, { "configure", "with" } do
    if options[key] ~= nil and not options.create then
      bad_argument(number, name, string_format("option '%s' needs 'create'", key))
    end
  end
end

local function check_path(path, number, name)
  if is_checked(path, PATH) then return end
  local keys, kinds = path_parts(path, name, number)
  for i = 1, #keys do
    if kinds[i] ~= "operation" and type(keys[i]) == "string"
      and string_sub(keys[i], 1, 2) == "__" then
      bad_argument(number, name, string_format(
        "'%s': names that begin with '__' are metamethods to Lua and cannot be observed",
        keys[i]))
    end
  end
  if type(path) == "string" then remember(path, PATH) end
end

-- Adds dependencies to a declaration as its elements: paths, and {object, path} for paths from
-- other objects.
local function add_dependencies(declaration, deps, number, name)
  local kind = type(deps)
  if kind == "string" or kind == "userdata" and is_path(deps) then
    check_path(deps, number, name)
    declaration[1] = deps
    return
  end
  if kind ~= "table" then
    bad_argument(number, name, "list of key paths expected, got "
      .. (deps == nil and "no value" or kind))
  end
  local length = rawlen(deps)
  if length == 0 and next(deps) ~= nil then
    bad_argument(number, name, "the list of key paths is empty")
  end
  for i = 1, length do
    local dependency = deps[i]
    if type(dependency) == "table" then
      check_observed(dependency[1], number, name)
      check_path(dependency[2], number, name)
      declaration[i] = { dependency[1], dependency[2] }
    else
      check_path(dependency, number, name)
      declaration[i] = dependency
    end
  end
end

local function callable(value)
  if type(value) == "function" or value == nil then return value end
  return function(...) return value(...) end
end

-- Makes a getter that creates a value, stores it, and configures it, once.
local function creation(create, configure, with)
  return function(self, name)
    local value = create(with)
    self[name] = value
    if configure then configure(self, value, with) end
  end
end

--- Compiles the part of a lazy property that instances share: its computation and, as elements, its
--- dependencies.
function core.compile_lazy(options, name, number)
  number = number or 3
  if type(options) ~= "table" then
    if options ~= nil then check_function(options, number, name) end
    options = { get = options }
  else
    check_options(options, number, name)
  end
  local flags = 0
  if options.loader or options.create then flags = flags | LOADED end
  if options.create then flags = flags | ARMED end
  if options.readonly then flags = flags | READONLY end
  if options.cached == false then flags = flags | UNCACHED end
  if options.track then flags = flags | TRACKED end
  local get = callable(options.get or options.loader)
  if options.create then get = creation(options.create, options.configure, options.with) end
  local declaration = {
    get = get or inherited, flags = flags,
    origin = options.get or options.loader or options.create,
  }
  if options.deps ~= nil then add_dependencies(declaration, options.deps, number, name) end
  return declaration
end

--- The first components of a declaration's dependencies that are names.
function core.own_dependencies(declaration)
  local names = {}
  for _, dependency in ipairs(declaration) do
    if type(dependency) ~= "table" then
      local keys, kinds = path_parts(dependency, "model", 2)
      if (kinds[1] == "name" or kinds[1] == "key") and type(keys[1]) == "string" then
        names[#names + 1] = keys[1]
      end
    end
  end
  return names
end

-- The metatable of values that declare a lazy property in the body of a model.
local Descriptor = { __name = "obs.lazy" }
core.Descriptor = Descriptor

-- Notes the declaring script's sandbox for the properties of all instances.
local function descriptor(declaration)
  local sandbox = current_sandbox()
  if sandbox ~= 0 then declaration.sandbox = sandbox end
  declaration.flags = declaration.flags | OFMODEL
  return setmetatable({ declaration = declaration }, Descriptor)
end

-- Checks the target, and returns whether it may be an instance of a model.
local function check_target(target, name)
  if type(target) == "table" then
    if getmetatable(target) == nil then return false end
    local kind = kind_of(target)
    if kind == "array" or kind == "set" then
      bad_argument(1, name, "arrays and sets have no lazy fields")
    end
    local model = record_of(target)
    if model then
      bad_argument(1, name, string_format("the model %s declares the lazy and computed properties "
        .. "of its instances in obs.model", model.name))
    end
    return true
  end
  if type(target) == "userdata" then
    bad_argument(1, name,
      "table expected, got an object of the host program (which declares its own)")
  end
  bad_argument(1, name, "table expected, got " .. type(target))
end

-- `kind` replaces nil in the error if it says more.
local function check_key(target, key, number, name, kind)
  if is_checked(key, NAME) then return end
  if type(key) ~= "string" then
    if key == nil or key ~= key or is_path(key) then
      bad_argument(number, name, "name of a property expected, got "
        .. (key == nil and (kind or "nil") or key ~= key and "NaN" or "a key path"))
    end
    return
  end
  if string_sub(key, 1, 2) == "__" then
    bad_argument(number, name,
      string_format("'%s' is a metamethod to Lua, and cannot be lazy", key))
  end
  check_literal(target, key, number, name)
  -- The check of a name with a dot depends on the target.
  if not string_find(key, ".", 1, true) then remember(key, NAME) end
end

--- Checks one name, or each name in a list, and returns a list.
function core.each_name(target, names, number, name)
  if type(names) ~= "table" then
    check_key(target, names, number, name)
    return { names }
  end
  if rawlen(names) == 0 then bad_argument(number, name, "the list of names is empty") end
  local list = {}
  for i = 1, rawlen(names) do
    check_key(target, names[i], number, name)
    list[i] = names[i]
  end
  return list
end

local each_name = core.each_name

-- Whether a table contains options; otherwise it is an object, and the property's name is missing.
local function is_options(value)
  for key, option in next, value do
    if option_types[key] then return true end
    if type(key) == "string" and type(option) == "function" and core.nearest(key, option_types) then
      return true
    end
  end
  return false
end

function obs.lazy(target, names, ...)
  if select("#", ...) == 0 and names == nil then
    if type(target) ~= "table" then check_function(target, 1, "lazy")
    elseif not is_options(target) then check_key(target, nil, 2, "lazy", "no value") end
    return descriptor(core.compile_lazy(target, "lazy", 1))
  end
  local is_instance = check_target(target, "lazy")
  names = each_name(target, names, 2, "lazy")
  local declaration = core.compile_lazy((...), "lazy", 3)
  if is_instance then core.check_own_dependencies(target, declaration, "lazy") end
  local get, flags = declaration.get, declaration.flags
  for i = 1, #names do declare(target, names[i], declaration, get, flags) end
end

local function compile_computed(deps, get, number)
  if get == nil then
    check_function(deps, number, "computed")
    return { get = callable(deps), flags = TRACKED, origin = deps }
  end
  -- Most have one dependency, so make room for it.
  local declaration = { get = get, flags = 0, origin = get, nil }
  add_dependencies(declaration, deps, number, "computed")
  if type(get) ~= "function" then
    check_function(get, number + 1, "computed")
    declaration.get = callable(get)
  end
  return declaration
end

function obs.computed(target, name, ...)
  if declare_usual(checked, target, name, ...) then return end
  local deps, get = ...
  if deps == nil and select("#", ...) == 0 then
    -- In the body of a model, the arguments are (get), or (deps, get).
    if type(name) == "string" then
      bad_argument(3, "computed", "list of key paths or function expected, got no value")
    elseif name == nil and type(target) == "table"
      and not pcall(check_function, target, 1, "computed") then
      check_key(target, nil, 2, "computed", "no value")
    end
    return descriptor(compile_computed(target, name, 1))
  end
  local is_instance = check_target(target, "computed")
  if type(name) == "table" then
    bad_argument(2, "computed", "name of a property expected, got table")
  end
  check_key(target, name, 2, "computed")
  if get == nil and select("#", ...) > 1 then check_function(get, 4, "computed") end
  local declaration = compile_computed(deps, get, 3)
  if is_instance then core.check_own_dependencies(target, declaration, "computed") end
  declare(target, name, declaration, declaration.get, declaration.flags)
end

-- Inspecting and invalidating --------------------------------------------------------------------

local function prepare(target, name)
  check_observed(target, 1, name)
  core.instantiate(target)
end

function obs.invalidate(target, names)
  prepare(target, "invalidate")
  local all = names == nil
  names = all and lazy_names(target) or each_name(target, names, 2, "invalidate")
  for i = 1, #names do
    if not invalidate(target, names[i]) and not all then
      bad_argument(2, "invalidate", string_format("'%s' is not lazy%s", tostring(names[i]),
        hint(names[i], lazy_names(target))))
    end
  end
end

function obs.is_valid(target, ...)
  local name = ...
  prepare(target, "is_valid")
  check_key(target, name, 2, "is_valid", select("#", ...) == 0 and "no value")
  return is_valid(target, name)
end

function obs.valid_names(target)
  prepare(target, "valid_names")
  return lazy_names(target, true)
end

function obs.invalid_names(target)
  prepare(target, "invalid_names")
  return lazy_names(target, false)
end

function obs.forget(target, names)
  check_target(target, "forget")
  core.instantiate(target)
  names = names == nil and lazy_names(target) or each_name(target, names, 2, "forget")
  for i = 1, #names do
    forget(target, names[i])
    core.forgotten(target, names[i])
  end
end

function obs.force(target)
  prepare(target, "force")
  force(target)
end

function obs.peek(target, ...)
  local name = ...
  check_observed(target, 1, "peek")
  check_key(target, name, 2, "peek", select("#", ...) == 0 and "no value")
  -- The parentheses make it exactly one value, perhaps nil.
  return (peek(target, name))
end

--- For other slices: scripts may have replaced the fields of `obs`.
core.own = { invalidate = obs.invalidate, is_valid = obs.is_valid, peek = obs.peek }

return obs
