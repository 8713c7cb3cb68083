-- Reading and writing through key paths: a slice of the module `obs`.
local core, obs = ...

local next, pairs, pcall, rawget, tostring, type = next, pairs, pcall, rawget, tostring, type
local string_find, string_format = string.find, string.format
local absorb, check_observed, element_count, fold, follow_keys, is_object, kept =
  core.absorb, core.check_observed, core.element_count, core.fold, core.follow_keys,
  core.is_object, core.kept
local kind_of, lazy_keys, named_member, path_parts, path_text, raise =
  core.kind, core.lazy_keys, core.named_member, core.path_parts, core.path_text, core.raise
local written = core.written

local none = {}

-- Means many values where an operator needs one.
local many = {}

-- Collections ------------------------------------------------------------------------------------

-- The elements that operators use of a collection, in a new list, and their number; nil for a value
-- that is no collection.
local function elements(object)
  local kind, list, count = kind_of(object), {}, 0
  if kind == "set" or kind == "dictionary" then
    local iterate, state, lazy = next, object, none
    if type(object) == "userdata" then
      iterate, state = pairs(object)
    else
      lazy = lazy_keys(object) or none
    end
    for key, value in iterate, state do
      if not lazy[key] then
        count = count + 1
        list[count] = value
      end
    end
  elseif type(object) == "table" then
    count = element_count(object)
    for i = 1, count do list[i] = rawget(object, i) end
  elseif kind == "array" then
    count = #object
    for i = 1, count do list[i] = object[i] end
  else
    return nil
  end
  return list, count
end

local function size(object)
  local kind = kind_of(object)
  if kind == "array" or kind == "set" then return object.count end
  if kind ~= "dictionary" then return type(object) == "table" and element_count(object) or nil end
  local _, count = elements(object)
  return count
end

local function element_at(object, is_last)
  local kind = kind_of(object)
  if kind == "set" or kind == "dictionary" then
    local list, count = elements(object)
    return list[is_last and count or 1]
  end
  if type(object) == "table" then
    local count = element_count(object)
    if count == 0 then return nil end
    return rawget(object, is_last and count or 1)
  end
  if kind == "array" then
    local count = #object
    if count > 0 then return object[is_last and count or 1] end
  end
end

-- Operators --------------------------------------------------------------------------------------

local function fail(path, format, ...)
  raise(string_format("key path '%s'" .. format, path_text(path), ...))
end

local follow

local function place(path, object, step, position)
  local kind = kind_of(object)
  if kind == "set" or kind == "dictionary" then return "an element" end
  if step == 1 then return "element " .. position end
  return string_format("element %d of '%s'", position, tostring(path.keys[step - 1]))
end

-- Unions are new plain lists, in the order in which their values first appear.
local function union(path, operator, list, count)
  local result, seen = {}, not string_find(operator, "^unionOf[OA]") and {}
  local function take(value)
    if value == nil then return end
    if value == many then
      fail(path.source, ": one element gives '@%s' many values; nest the operators", operator)
    end
    if seen then
      local key = value
      -- NaN cannot be a key; as an element it equals itself (T5).
      if value ~= value and type(value) == "number" then key = seen end
      if seen[key] then return end
      seen[key] = true
    end
    result[#result + 1] = value
  end
  local is_of_objects = string_find(operator, "Objects$")
  for i = 1, count do
    local value = list[i]
    if is_of_objects or value == many then
      take(value)
    elseif is_object(value) then
      local members, length = elements(value)
      for j = 1, length or 0 do take(members[j]) end
    end
  end
  return result
end

-- The value of the operator at `step`, and of the rest of the path, for an object. `inside`: within
-- another operator.
local function operate(path, object, step, inside)
  local operator = path.keys[step]
  if operator == "count" then return size(object) end
  if operator == "first" or operator == "last" then
    return follow(path, element_at(object, operator == "last"), step + 1, inside)
  end
  local is_union = string_find(operator, "[uU]nionOf")
  if not inside and not is_union then
    local is_kept, value = kept(object, path.source, step)
    if is_kept then return value end
  end
  local list, count = elements(object)
  if not list then return nil end
  if step < #path.keys then
    for i = 1, count do list[i] = follow(path, list[i], step + 1, true) end
  end
  if is_union then return union(path, operator, list, count) end
  local ok, value, what, expectation = fold(operator, list, count, many)
  if ok then return value end
  fail(path.source, ": %s: %s under '@%s', %s", place(path, object, step, value), what, operator,
    expectation)
end

-- Paths ------------------------------------------------------------------------------------------

-- The value of a path from `step` on, starting at `value`.
function follow(path, value, step, inside)
  local keys, kinds = path.keys, path.kinds
  for i = step, #keys do
    if not is_object(value) then return nil end
    local key, kind = keys[i], kinds[i]
    -- C code may have written raw into the table, without its store.
    local is_key = kind == "key" or kind == "name" and key ~= "count"
    absorb(value, is_key and key or nil)
    local collection = kind ~= "operation" and kind_of(value)
    if kind == "operation" then return operate(path, value, i, inside) end
    if kind == "deep" then
      fail(path.source, ": '**' matches many values; obs.get reads one")
    elseif kind == "every" or kind == "name" and key ~= "count"
      and (collection == "array" or collection == "set") then
      if inside then return many end
      fail(path.source, " matches many values; obs.get reads one "
        .. "(a list of them: '@unionOfObjects.%s')", kind == "name" and key or "…")
    elseif kind == "name" and key == "count" and collection then
      value = size(value)
    elseif kind == "member" then
      local member = nil
      if collection == "set" then member = named_member(key) end
      if member ~= nil and not value:contains(member) then member = nil end
      value = member
    else
      value = value[key]
    end
  end
  return value
end

-- Parsed paths, by their texts. A script may make many texts, and long ones.
local parsed, count, MANY, LONG = {}, 0, 256, 256

-- The keys and kinds of a path. The first `names` steps are keys of objects.
local function parse(path, name)
  local known = parsed[path]
  if known then return known end
  local keys, kinds = path_parts(path, name)
  local names = 0
  for i = 1, #kinds do
    if kinds[i] ~= "key" and (kinds[i] ~= "name" or keys[i] == "count") then break end
    names = i
  end
  known = { keys = keys, kinds = kinds, source = path, names = names }
  if type(path) == "string" and #path <= LONG then
    if count == MANY then parsed, count = {}, 0 end
    parsed[path], count = known, count + 1
  end
  return known
end

function obs.get(observed, path)
  check_observed(observed, 1, "get")
  path = parse(path, "get")
  local value, step = follow_keys(observed, path.keys, path.names)
  return follow(path, value, step, false)
end

local function write(object, key, value) object[key] = value end

function obs.set(observed, path, value)
  check_observed(observed, 1, "set")
  local parts, object = parse(path, "set"), observed
  local keys, kinds = parts.keys, parts.kinds
  for i = 1, #kinds do
    if kinds[i] ~= "key" and kinds[i] ~= "name" then
      fail(path, " does not end in a single place that can be assigned")
    end
  end
  for i = 1, #keys - 1 do
    object = object[keys[i]]
    if not is_object(object) then
      fail(path, " cannot be assigned: component %d, '%s', is %s", i, tostring(keys[i]),
        object == nil and "nil" or "a " .. type(object))
    end
  end
  written(pcall(write, object, keys[#keys], value))
end

return obs
