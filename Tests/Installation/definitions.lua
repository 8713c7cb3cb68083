-- Compares the definitions for language servers with the module that runs:
-- obs-lua Tests/Installation/definitions.lua FILE [FURTHER FILES …]
--
-- Every function, method and field of the module is declared, and nothing else is, with its
-- parameters, declared types, and the real results of a call. A function without a sample call here
-- must declare a result; otherwise a missing one would go unnoticed.

local folder = arg[0]:match "^(.*)/[^/]*$" or "."
local annotations = dofile(folder .. "/annotations.lua")
local obs = require "obs"

local faults = 0

local function fault(place, ...)
  faults = faults + 1
  io.stderr:write("✘ ", place, ": ", string.format(...), "\n")
end

local path = arg[1]
local defined = annotations.read(path)

-- The module that the file describes.
local module_name = io.lines(path)():match "^%-%-%-@meta (%S+)"
local module = require(module_name)
local samples = dofile(("%s/samples/%s.lua"):format(folder, module_name))

-- Types ------------------------------------------------------------------------------------------

-- The classes of the other files.
local others = {}

local function is_known(name, generics)
  return generics[name] or annotations.is_builtin(name) or defined.classes[name] ~= nil
    or defined.aliases[name] ~= nil or others[name] ~= nil
end

local function check_type(type, block, what)
  local place = ("%s:%d"):format(block.path, block.line)
  if type.problem then return fault(place, "%s: %s", what, type.problem) end
  for _, name in ipairs(type.names) do
    if not is_known(name, block.generics) then
      fault(place, "%s: the type '%s' is not declared", what, name)
    end
  end
  if type.isAnonymous then
    fault(place, "%s: a table with names needs a class, or misspelt names are not found", what)
  end
end

local function check_types(block)
  for _, param in ipairs(block.params) do check_type(param.type, block, param.name) end
  for _, field in ipairs(block.fields) do check_type(field.type, block, field.name) end
  for _, result in ipairs(block.returns) do check_type(result, block, "the result") end
  for _, overload in ipairs(block.overloads) do check_type(overload, block, "the overload") end
  for _, other in ipairs(block.others) do check_type(other, block, "the generic type") end
  if block.aliasType then check_type(block.aliasType, block, block.alias) end
  if block.type then check_type(block.type, block, block.value or "the value") end
  for _, parent in ipairs(block.parents) do
    if not is_known(parent, block.generics) then
      fault(("%s:%d"):format(block.path, block.line), "the class '%s' is not declared", parent)
    end
  end
end

local function check_parameters(block)
  local place = ("%s:%d"):format(block.path, block.line)
  for i = 1, math.max(#block.names, #block.params) do
    local name, param = block.names[i], block.params[i]
    if not param then
      fault(place, "%s: the parameter '%s' has no type", block.name, name)
    elseif param.name ~= name then
      fault(place, "%s: @param %s stands where %s is", block.name, param.name, name or "none")
    end
  end
end

-- The first file describes the module, the others describe globals of scripts.
for i, file in ipairs(arg) do
  local found = i == 1 and defined or annotations.read(file)
  for name, class in pairs(found.classes) do others[name] = class end
  for _, problem in ipairs(found.problems) do fault(file, "%s", problem) end
  local chunk, message = loadfile(file)
  if not chunk then fault(file, "%s", message) end
  for _, block in ipairs(found.blocks) do check_types(block) end
  for _, block in ipairs(found.functions) do check_parameters(block) end
end

-- The module creates classes with methods and callable classes. All others are tables that programs
-- write or read: exact classes, in which a language server finds unknown names.
local has_methods = {}
for _, block in ipairs(defined.functions) do
  local class = block.name:match "^(.*):"
  if class then has_methods[class] = true end
end
for name, class in pairs(defined.classes) do
  local is_table = #class.fields > 0 and not has_methods[name] and #class.overloads == 0
  if is_table and not class.isExact then
    fault(("%s:%d"):format(path, class.line), "%s has fields only and is not (exact)", name)
  end
end

-- The alternatives of a type, aliases resolved.
local function alternatives(types, found)
  found = found or {}
  for _, name in ipairs(types) do
    local alias = defined.aliases[name]
    if alias then alternatives(alias.aliasType.types, found) else found[name] = true end
  end
  return found
end

local function is_a(value, type, block)
  if type.problem then return true end
  local names = alternatives(type.types)
  if names.any then return true end
  for name in pairs(block.generics) do
    if names[name] then return true end
  end
  local kind = _G.type(value)
  if kind == "boolean" and (names["true"] or names["false"]) then return true end
  if math.type(value) == "integer" and names.integer then return true end
  if names[kind] or names["file*"] and io.type(value) then return true end
  local meta = debug.getmetatable(value)
  for name in pairs(names) do
    local class = defined.classes[name]
    if class and meta and meta.__name == name then return true end
    if class and kind == "table" and (class.isExact or samples.is_of(name, value)) then
      return true
    end
  end
  return false
end

-- Functions --------------------------------------------------------------------------------------

-- The Lua function that the module's function wraps; nil if that is a Swift function.
local function inner(value)
  if debug.getinfo(value, "S").what == "Lua" then return value end
  local _, wrapped = debug.getupvalue(value, 1)
  if type(wrapped) == "function" then return inner(wrapped) end
end

local function check_arity(block, value)
  local wrapped = inner(value)
  if not wrapped then return end
  local info, count = debug.getinfo(wrapped, "u"), #block.names
  local is_method = block.name:find(":", 1, true)
  local expected = info.nparams - (is_method and 1 or 0)
  if block.names[count] == "..." then count = count - 1 end
  if count < expected or count > expected and not info.isvararg then
    fault(("%s:%d"):format(path, block.line), "%s has %d parameters, not %d", block.name, expected,
      count)
  end
end

local function check_results(block)
  local place = ("%s:%d"):format(path, block.line)
  local sample = samples.calls[block.name]
  if not sample then
    if #block.returns == 0 then
      fault(place, "%s declares no result (@return), and the samples has no call that shows it",
        block.name)
    end
    return
  end
  local results = table.pack(sample())
  local last = block.returns[#block.returns]
  if results.n > #block.returns and not (last and last.isMany) then
    fault(place, "%s returns %d values, and declares %d", block.name, results.n, #block.returns)
  end
  for i = 1, math.min(results.n, #block.returns) do
    if not is_a(results[i], block.returns[i], block) then
      fault(place, "%s returns a %s as result %d, which it does not declare", block.name,
        type(results[i]), i)
    end
  end
end

local declared = {}
for _, block in ipairs(defined.functions) do
  if declared[block.name] then
    fault(("%s:%d"):format(path, block.line), "%s is declared twice", block.name)
  end
  declared[block.name] = block
end
for _, block in ipairs(defined.values) do declared[block.value] = block end

local function sorted(map)
  local names = {}
  for name in pairs(map) do names[#names + 1] = tostring(name) end
  table.sort(names)
  return names
end

-- Compares the members of the object with the declarations under the prefix.
local function check_members(members, prefix)
  for _, name in ipairs(sorted(members)) do
    local block = declared[prefix .. name]
    if not block then
      fault(path, "%s is not declared", prefix .. name)
    elseif type(members[name]) == "function" then
      check_arity(block, members[name])
    end
  end
  for name, block in pairs(declared) do
    local member = name:sub(1, #prefix) == prefix and name:sub(#prefix + 1)
    if member and not member:find "[.:]" and members[member] == nil then
      fault(("%s:%d"):format(path, block.line), "%s is declared, and there is no such thing", name)
    end
  end
end

check_members(module, module_name .. ".")
for _, class in ipairs(sorted(has_methods)) do
  local instance = samples.instances[class]
  if instance then
    local index = debug.getmetatable(instance).__index
    if type(index) == "function" then _, index = debug.getupvalue(index, 1) end
    check_members(index, class .. ":")
  else
    fault(path, "the samples makes no %s", class)
  end
end

-- Tables -----------------------------------------------------------------------------------------

local function check_fields(name, value)
  local class, fields = defined.classes[name], {}
  local place = ("%s:%d"):format(path, class and class.line or 1)
  if not class then return fault(path, "the class %s is not declared", name) end
  for _, field in ipairs(class.fields) do
    fields[field.name] = true
    local entry = value[field.name]
    if entry == nil and not field.isOptional and not is_a(nil, field.type, class) then
      fault(place, "%s has no field '%s', which is declared", name, field.name)
    elseif entry ~= nil and not is_a(entry, field.type, class) then
      fault(place, "%s: the field '%s' is a %s", name, field.name, type(entry))
    end
  end
  for key in pairs(value) do
    if not fields[key] then
      fault(place, "%s has a field '%s', which is not declared", name, key)
    end
  end
end

-- Each declared option is accepted, and no other.
local function check_options(name, sample)
  local class = defined.classes[name]
  if not class then return fault(path, "the class %s is not declared", name) end
  local place = ("%s:%d"):format(path, class.line)
  if pcall(sample.pass, { [class.fields[1].name .. "_misspelt"] = 1 }) then
    fault(place, "the module takes a misspelt option of %s", name)
  end
  local fields = {}
  for _, field in ipairs(class.fields) do
    fields[field.name] = true
    local value = sample.values[field.name]
    if value == nil then
      fault(place, "the samples has no value for the option '%s' of %s", field.name, name)
    else
      local ok, problem = pcall(sample.pass, { [field.name] = value })
      -- Some options require another one; only unknown options have this message.
      if not ok and tostring(problem):find("unknown", 1, true) then
        fault(place, "%s: %s", name, problem)
      end
      if not is_a(value, field.type, class) then
        fault(place, "%s: the option '%s' takes a %s", name, field.name, type(value))
      end
    end
  end
  for option in pairs(sample.values) do
    if not fields[option] then fault(place, "%s has no option '%s'", name, option) end
  end
end

-- Functions that accept fewer arguments, as in the body of a model, declare it.
local function check_overloads(name, wanted)
  local found = {}
  local block = declared[name] or defined.classes[name]
  for _, overload in ipairs(block and block.overloads or {}) do found[overload.text] = true end
  for _, text in ipairs(wanted) do
    if not found[text] then fault(path, "%s lacks the overload %s", name, text) end
  end
end

-- Functions that wait work only in tasks.
obs.task(function()
  for _, block in ipairs(defined.functions) do check_results(block) end
  for _, name in ipairs(sorted(samples.tables)) do
    local values = samples.tables[name]()
    if #values == 0 then fault(path, "the samples makes no %s.%s", module_name, name) end
    for _, value in ipairs(values) do check_fields(module_name .. "." .. name, value) end
  end
  for _, name in ipairs(sorted(samples.options)) do check_options(name, samples.options[name]) end
  for name, wanted in pairs(samples.overloads) do check_overloads(name, wanted) end
  if faults > 0 then os.exit(1, true) end
  print(("✔ %s: %d functions"):format(path, #defined.functions))
  os.exit(0, true)
end)
