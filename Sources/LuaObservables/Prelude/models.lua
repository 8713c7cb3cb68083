-- Models: classes of tables with declared names. A slice of the module `obs`.
local core, obs = ...

local getmetatable, ipairs, rawget, rawset, setmetatable, sort, type =
  getmetatable, ipairs, rawget, rawset, setmetatable, table.sort, type
local array, bad_argument, declare_lazy, Descriptor, dictionary, ONSTORED =
  core.array, core.bad_argument, core.declare, core.Descriptor, core.dictionary, core.flags.ONSTORED
local is_declared, is_instance, kind_of, lazy_keys, make_model, model_of =
  core.is_declared, core.is_instance, core.kind, core.lazy_keys, core.make_model, core.model_of
local record_of, hint, next, None, own_dependencies, raise =
  core.model_record, core.hint, core.next, core.none, core.own_dependencies, core.raise
local forget, lazies_of, running_owner, set_of =
  core.forget, core.lazies_of, core.tasks.owner, core.set_of
local string_format, string_sub = string.format, string.sub

-- The latest model of each name in the running sandbox. Each sandbox has separate names (S5),
-- because a script can change every class that it gets.
local function known_models() return core.sandbox_table("models", "v") end

--- The latest model of this name in the running sandbox, or nil.
function core.model_named(name) return known_models()[name] end

-- Errors -----------------------------------------------------------------------------------------

local function sorted_names(map)
  local names = {}
  for name in next, map do names[#names + 1] = name end
  sort(names)
  return names
end

-- The error text if `name` is not a property of a model, whose record has `declared` and `class`.
local function unknown(record, name)
  if type(name) ~= "string" then
    return string_format("name of a property of %s expected, got %s", record.name,
      type(name) == "number" and "the number " .. name or "a " .. type(name))
  end
  local value = record.class[name]
  if type(value) == "function" then
    return string_format("'%s' is a method of %s, not a property", name, record.name)
  end
  return string_format("%s has no property '%s'%s", record.name, name,
    hint(name, record.declared))
end

-- Defaults ---------------------------------------------------------------------------------------

-- Whether each instance gets a copy of a default: plain tables and collections are copied, other
-- objects are shared.
local function is_copied(value)
  return type(value) == "table" and (kind_of(value) ~= nil or getmetatable(value) == nil)
end

local function empty_copy(value)
  local kind = kind_of(value)
  if kind == "array" then return array() end
  if kind == "set" then return set_of() end
  if kind == "dictionary" then return dictionary() end
  return {}
end

-- A deep copy of a plain table; tables that occur twice or contain each other do so in the copy.
-- The walk is iterative, as tables can be nested deeper than calls.
local function deep_copy(root)
  local copies, found = { [root] = {} }, { root }
  local i = 0
  while i < #found do
    i = i + 1
    for _, value in next, found[i] do
      if is_copied(value) and not copies[value] then
        copies[value] = empty_copy(value)
        found[#found + 1] = value
      end
    end
  end
  for _, from in ipairs(found) do
    local to = copies[from]
    if kind_of(from) == "set" then
      for member in next, from do to:add(copies[member] or member) end
    else
      for key, value in next, from do
        local copy = copies[value]
        if copy == nil then copy = value end
        to[copies[key] or key] = copy
      end
    end
  end
  return copies[root]
end

-- Whether each of the tables is plain, contains no table, and occurs once.
local function are_flat(templates)
  local seen = {}
  for _, template in next, templates do
    if seen[template] or kind_of(template) then return false end
    seen[template] = true
    for _, value in next, template do
      if type(value) == "table" then return false end
    end
  end
  return true
end

-- Makes a function that sets copies of defaults in a new instance.
local function completion(templates)
  if next(templates) == nil then return nil end
  if not are_flat(templates) then
    return function(fields)
      local missing = {}
      for name, template in next, templates do
        if fields[name] == nil then missing[name] = template end
      end
      for name, copy in next, deep_copy(missing) do fields[name] = copy end
    end
  end
  return function(fields)
    for name, template in next, templates do
      if fields[name] == nil then
        local copy = {}
        for key, value in next, template do copy[key] = value end
        fields[name] = copy
      end
    end
  end
end

-- Lazy properties of instances -------------------------------------------------------------------

-- Instance -> the names whose declarations were removed from it.
local forgotten = setmetatable({}, { __mode = "k" })

-- Declares a property of the model on an instance; false if its declaration was removed.
local function declare(instance, name, declaration)
  local names = forgotten[instance]
  if names and names[name] then return false end
  declare_lazy(instance, name, declaration, declaration.get, declaration.flags)
  return true
end

-- Declares all missing lazy properties of an instance; does nothing for other objects.
function core.instantiate(object)
  local record = model_of(object)
  if not record or not record.instantiate then return end
  for _, name in ipairs(record.lazy_names) do
    if not is_declared(object, name) then declare(object, name, record.declared[name]) end
  end
end

local none = {}

-- The lazy and computed keys of an object, whether they were read or not (C13).
function core.derived_keys(object)
  local keys, record = lazy_keys(object), model_of(object)
  if not record or not record.instantiate then return keys or none end
  keys = keys or {}
  local names = forgotten[object]
  for _, name in ipairs(record.lazy_names) do
    if not (names and names[name]) then keys[name] = true end
  end
  return keys
end

-- Notes a removed declaration: the model does not declare it on this instance again.
function core.forgotten(object, name)
  local record = model_of(object)
  if not record or type(record.declared[name]) ~= "table" then return end
  local names = forgotten[object]
  if not names then
    names = {}
    forgotten[object] = names
  end
  names[name] = true
end

-- Classes ----------------------------------------------------------------------------------------

local own_events = { __index = true, __newindex = true, __name = true }

local function copied_map(map)
  local copy = {}
  for key, value in next, map or {} do copy[key] = value end
  return copy
end

-- Adds the declarations of a body to the record and the class.
local function take(record, class, body, number)
  local declared, values, templates = record.declared, record.values, {}
  for name, value in next, body do
    if type(name) ~= "string" then
      bad_argument(number, "model", string_format("name of a property or method expected, got %s",
        type(name) == "number" and "the number " .. name or "a " .. type(name)))
    end
    if string_sub(name, 1, 2) == "__" then
      if own_events[name] then
        bad_argument(number, "model", string_format("'%s' belongs to the model", name))
      end
      class[name] = value
    else
      -- A child can replace any declaration by any other.
      declared[name], values[name], record.templates[name] = nil, nil, nil
      if type(value) == "function" then
        class[name] = value
      elseif is_instance(value, Descriptor) then
        declared[name] = value.declaration
      else
        declared[name] = true
        if is_copied(value) then
          templates[name] = value
        elseif value ~= None then
          values[name] = value
        end
      end
    end
  end
  -- Templates are copies of the tables, so that later changes of the body's tables do not affect
  -- instances.
  for name, copy in next, deep_copy(templates) do record.templates[name] = copy end
end

-- Checks that computed properties depend on declared names (P9). Notes whether these are stored
-- properties in all models that have the declaration.
local function check_dependencies(record, number)
  for _, name in ipairs(record.lazy_names) do
    local declaration = record.declared[name]
    for _, first in ipairs(own_dependencies(declaration)) do
      local declared = record.declared[first]
      if declared == nil then
        bad_argument(number, "model", string_format("'%s' depends on '%s': %s",
          name, first, unknown(record, first)))
      end
      if type(declared) == "table" then declaration.is_on_lazy = true end
    end
    local flags = declaration.flags & ~ONSTORED
    declaration.flags = declaration.is_on_lazy and flags or flags | ONSTORED
  end
end

-- Checks the dependencies of a property declared on an instance, which may have more names than its
-- model.
function core.check_own_dependencies(target, declaration, name)
  local record = declaration[1] and model_of(target)
  if not record then return end
  for _, first in ipairs(own_dependencies(declaration)) do
    local shared = record.class[first]
    local is_known = record.declared[first] ~= nil or is_declared(target, first)
      or rawget(target, first) ~= nil or shared ~= nil and type(shared) ~= "function"
    if not is_known then bad_argument(3, name, unknown(record, first)) end
  end
end

local function finish(record, parent)
  local size, hides = 0, false
  record.lazy_names = {}
  for _, name in ipairs(sorted_names(record.declared)) do
    if type(record.declared[name]) == "table" then
      record.lazy_names[#record.lazy_names + 1] = name
    else
      if record.values[name] ~= nil or record.templates[name] then size = size + 1 end
      hides = hides or parent ~= nil and parent[name] ~= nil
    end
  end
  record.size = size
  record.complete = completion(record.templates)
  record.declare = declare
  record.instantiate = #record.lazy_names > 0 and core.instantiate or nil
  record.own_access = hides or #record.lazy_names > 0
  function record.refuse(fields, name)
    if name == nil then
      return string_format("bad argument #1 to '%s' (table of properties expected, got %s)",
        record.name, type(fields))
    end
    return unknown(record, name)
  end
end

-- Handles later additions to a class: methods, and values that its instances share.
local function added(class, name, value)
  local record = record_of(class)
  if record.declared[name] ~= nil then
    raise(string_format(
      "'%s' is a property of the instances of %s; redeclare it in a model that extends it",
      name, record.name))
  end
  rawset(class, name, value)
end

-- Completes a class: its metatable, and the constructor of its instances.
local function complete(class, record, parent)
  record.own = copied_map(class)
  for _, value in next, class do core.note_callback(value) end
  for _, declaration in next, record.declared do
    if type(declaration) == "table" then core.note_callback(declaration.get) end
  end
  setmetatable(class, {
    __name = "model " .. record.name, __index = parent, __newindex = added,
    __call = make_model(class, record),
  })
end

-- Copies the fields of a class to another one, and removes that one's other fields that are in
-- `own`. Instances find metamethods in their class, so they use the new ones.
local function copy_fields(from, to, own)
  for key in next, copied_map(to) do
    if rawget(from, key) == nil and own[key] ~= nil then rawset(to, key, nil) end
  end
  for key, value in next, from do rawset(to, key, value) end
end

-- Gives existing instances the new getters of a model that was defined again (H3).
local function redeclare(former, record)
  local names = {}
  for name, declaration in next, former.declared do
    if type(declaration) == "table" then names[declaration] = name end
  end
  for _, entry in ipairs(lazies_of(names)) do
    local instance, name = entry[1], names[entry[3]]
    if model_of(instance) == record then
      local declaration = record.declared[name]
      if type(declaration) ~= "table" then
        forget(instance, name)
      elseif declaration ~= entry[3] then
        declare_lazy(instance, name, declaration, declaration.get, declaration.flags)
      end
    end
  end
end

-- Gives a class of a former loading a new definition. The class keeps its identity, and its
-- instances keep their values.
local function define_again(class, definition, record, parent)
  local former, fields, meta = record_of(class), copied_map(class), getmetatable(class)
  core.note_undo(function()
    setmetatable(class, nil)
    copy_fields(fields, class, copied_map(class))
    make_model(class, former)
    setmetatable(class, meta)
  end)
  setmetatable(class, nil)
  copy_fields(definition, class, former.own)
  record.class = class
  complete(class, record, parent)
  for _, event in ipairs { "__index", "__newindex" } do rawset(class, event, class[event]) end
  redeclare(former, record)
  return class
end

-- The class with this name that a former loading of the running module has defined.
local function former_class(name)
  local class = core.former_module and known_models()[name]
  return class and record_of(class).module == core.former_module and class or nil
end

function obs.model(name, parent, body)
  if type(name) ~= "string" or name == "" then
    bad_argument(1, "model", "name expected, got " ..
      (name == "" and "an empty one" or name == nil and "no value" or type(name)))
  end
  local inherited, number = record_of(parent), 3
  if not inherited then
    if body ~= nil then
      local instance = model_of(parent)
      bad_argument(2, "model", "model expected, got " ..
        (instance and "an instance of " .. instance.name or type(parent)))
    end
    parent, body, number = nil, parent, 2
  elseif body == nil then
    body = {}
  end
  if type(body) ~= "table" or record_of(body) then
    bad_argument(number, "model", "table of properties and methods expected, got " ..
      (body == nil and "no value" or type(body) == "table" and "the model " .. record_of(body).name
        or type(body)))
  end
  local class = { __name = name }
  local record = {
    name = name, class = class,
    declared = copied_map(inherited and inherited.declared),
    values = copied_map(inherited and inherited.values),
    templates = copied_map(inherited and inherited.templates),
    module = running_owner() >> 32,
  }
  -- Lua looks for metamethods in the metatable itself.
  for key, value in next, parent or {} do
    if type(key) == "string" and string_sub(key, 1, 2) == "__" and not own_events[key] then
      class[key] = value
    end
  end
  take(record, class, body, number)
  setmetatable(class, { __index = parent })
  finish(record, parent)
  check_dependencies(record, number)
  local former = former_class(name)
  if former then return define_again(former, class, record, parent) end
  complete(class, record, parent)
  local models = known_models()
  local outer = models[name]
  core.note_undo(function() models[name] = outer end)
  models[name] = class
  return class
end

return obs
