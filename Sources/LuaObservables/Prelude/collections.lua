-- Collections: a slice of the module `obs`.
local core, obs = ...

local next, pairs, pcall, rawequal, rawget, rawlen, setmetatable, tostring, type =
  next, pairs, pcall, rawequal, rawget, rawlen, setmetatable, tostring, type
local arrange, array, assign_object, bad_argument, begin_batch, call_plainly =
  core.arrange, core.array, core.assign, core.bad_argument, core.begin_batch, core.call_plainly
local check_function, check_literal, check_observed, compile_lazy, copy_tables, declare =
  core.check_function, core.check_literal, core.check_observed, core.compile_lazy,
  core.copy_tables, core.declare
local dictionary, element_count, end_batch, exact_key, COPY, freeze =
  core.dictionary, core.element_count, core.end_batch, core.exact_key, core.flags.COPY, core.freeze
local HostArray, HostSet, idle, kind_of, exact_path, raise, register =
  core.HostArray, core.HostSet, core.idle, core.kind, core.path, core.raise, core.register
local same, set_of, site, written = core.same, core.set_of, core.site, core.written
local sort = table.sort

-- Whole collections ------------------------------------------------------------------------------

-- The contents of `other`, by key, or a list for a set's members. Lazy keys are left out (C13).
local function entries(other, number, name)
  check_observed(other, number, name)
  local kind, copy = kind_of(other), {}
  if type(other) == "userdata" and not kind then
    bad_argument(number, name, "collection or table expected, got an object")
  end
  local iterate, state = next, other
  if type(other) == "userdata" then iterate, state = pairs(other) end
  if kind == "set" then
    for _, value in iterate, state do copy[#copy + 1] = value end
  elseif type(other) == "userdata" and kind == "array" then
    for i = 1, #other do copy[i] = other[i] end
  else
    local derived = core.derived_keys(other)
    for key, value in iterate, state do
      if not derived[key] then copy[key] = value end
    end
  end
  return copy
end

-- The contents of `other` as a list.
local function values_of(other, number, name)
  local list = {}
  for _, value in next, entries(other, number, name) do list[#list + 1] = value end
  return list
end

-- Makes several writes of a collection one operation: immediate watchers are called after it.
local function in_one(change, ...)
  begin_batch()
  local ok, message = pcall(call_plainly, change, ...)
  end_batch()
  return written(ok, message)
end

local function clear_table(collection)
  local derived = core.derived_keys(collection)
  for i = element_count(collection), 1, -1 do collection[i] = nil end
  for key in next, collection do
    if not derived[key] then collection[key] = nil end
  end
end

function obs.clear(collection)
  check_observed(collection, 1, "clear")
  local kind = kind_of(collection)
  if kind == "array" or kind == "set" then
    return written(pcall(collection.clear, collection))
  end
  if type(collection) == "table" then return in_one(clear_table, collection) end
  if not kind then bad_argument(1, "clear", "collection or table expected, got an object") end
  return assign_object(collection, {})
end

-- Raises an error if the values by key are not a list without holes.
local function check_list(wanted)
  local last = 0
  for key in next, wanted do
    if type(key) ~= "number" or key < 1 or key ~= key // 1 then
      raise("an array has integer indices, got " .. type(key)
        .. (type(key) == "string" and " '" .. key .. "'" or ""))
    end
    if key > last then last = key end
  end
  for i = 1, last do
    if wanted[i] == nil then raise("the list has a hole at " .. i .. " of " .. last // 1) end
  end
end

local function assign_to_set(set, wanted)
  local members, gone = {}, {}
  for _, value in next, wanted do members[value] = true end
  for value in pairs(set) do
    if not members[value] then gone[#gone + 1] = value end
  end
  for i = 1, #gone do set:remove(gone[i]) end
  for i = 1, #wanted do set:add(wanted[i]) end
end

local function assign_to_table(to, wanted)
  local length, derived = rawlen(wanted), core.derived_keys(to)
  for i = element_count(to), length + 1, -1 do to[i] = nil end
  for i = 1, length do
    if not derived[i] and not same(rawget(to, i), wanted[i]) then to[i] = wanted[i] end
  end
  for key in next, to do
    if wanted[key] == nil and not derived[key] then to[key] = nil end
  end
  for key, value in next, wanted do
    if not derived[key] and not same(rawget(to, key), value) then to[key] = value end
  end
end

function obs.assign(collection, other)
  check_observed(collection, 1, "assign")
  local kind, wanted = kind_of(collection), entries(other, 2, "assign")
  if rawequal(collection, other) then return end
  if kind == "array" then
    check_list(wanted)
    return written(pcall(collection.set, collection, wanted))
  end
  if kind == "set" then
    return in_one(assign_to_set, collection, values_of(other, 2, "assign"))
  end
  if type(collection) == "table" then
    return in_one(assign_to_table, collection, wanted)
  end
  if not kind then bad_argument(1, "assign", "collection or table expected, got an object") end
  return assign_object(collection, wanted)
end

--- For other slices: scripts may have replaced the fields of `obs`.
core.assign = obs.assign

-- Copies
-- -------------------------------------------------------------------------------------------

-- A read-only collection of the same kind; any other value is returned unchanged.
local function copied(value)
  local kind = kind_of(value)
  if kind == "array" then return freeze(array(value)) end
  if kind == "set" then return freeze(set_of(value)) end
  if kind == "dictionary" then return freeze(dictionary(entries(value, 1, "copy_of"))) end
  return type(value) == "table" and freeze(entries(value, 1, "copy_of")) or value
end

function obs.copy_of(target, name, source)
  if type(target) ~= "table" then
    bad_argument(1, "copy_of", "table expected, got "
      .. (target == nil and "no value" or type(target)))
  end
  for number, key in next, { name or false, source or false } do
    if type(key) ~= "string" then
      bad_argument(number + 1, "copy_of", "name of a property expected, got "
        .. (key and type(key) or "no value"))
    end
    check_literal(target, key, number + 1, "copy_of")
  end
  if name == source then bad_argument(3, "copy_of", "a property cannot be a copy of itself") end
  -- The path covers the whole collection of any kind.
  local path = tostring(exact_path(source)) .. ".*"
  local declaration = compile_lazy({
    get = function(self) return copied(self[source]) end, deps = { path }, readonly = true,
  }, "copy_of", 3)
  declaration.flags = declaration.flags | COPY
  declaration.origin = site()
  declare(target, name, declaration, declaration.get, declaration.flags)
end

function obs.raw(observed, options)
  if type(observed) ~= "table" then
    bad_argument(1, "raw", "table expected, got "
      .. (observed == nil and "no value" or type(observed)))
  end
  if options ~= nil and type(options) ~= "table" then
    bad_argument(2, "raw", "table of options expected, got " .. type(options))
  end
  for key, value in next, options or {} do
    if key ~= "computed" then
      bad_argument(2, "raw", "unknown option '" .. tostring(key) .. "' (there is 'computed')")
    end
    if type(value) ~= "boolean" then
      bad_argument(2, "raw", "option 'computed' takes a boolean, not a " .. type(value))
    end
  end
  local is_computing = options ~= nil and options.computed
  local copies, work = { [observed] = {} }, { observed }
  local function copied_value(value)
    if type(value) ~= "table" then return value end
    local known = copies[value]
    if not known then
      known = {}
      copies[value] = known
      work[#work + 1] = value
    end
    return known
  end
  -- The walk is iterative, as tables can be nested deeper than Lua calls.
  local from = copy_tables(copies, work)
  while from do
    local to, derived = copies[from], core.derived_keys(from)
    for key, value in next, from do
      if not derived[key] then to[copied_value(key)] = copied_value(value) end
    end
    if is_computing then
      for key in next, derived do to[key] = copied_value(from[key]) end
    end
    from = copy_tables(copies, work)
  end
  return copies[observed]
end

-- Collections of the host program -----------------------------------------------------------------

function HostArray:set(list)
  assign_object(self, entries(list, 1, "set"))
end

function HostArray:sort(less)
  if less ~= nil then check_function(less, 1, "sort") end
  local order, values = {}, {}
  for i = 1, #self do order[i], values[i] = i, self[i] end
  if less then
    sort(order, function(a, b) return less(values[a], values[b]) end)
  else
    sort(order, function(a, b) return values[a] < values[b] end)
  end
  arrange(self, order)
end

function HostSet:values()
  return pairs(self)
end

local function change_each(set, method, values)
  for _, value in next, values do method(set, value) end
end

function HostSet:union(other)
  in_one(change_each, self, self.add, values_of(other, 1, "union"))
end

function HostSet:intersect(other)
  local kept = {}
  for _, value in next, values_of(other, 1, "intersect") do
    if self:contains(value) then kept[#kept + 1] = value end
  end
  assign_object(self, kept)
end

function HostSet:subtract(other)
  in_one(change_each, self, self.remove, values_of(other, 1, "subtract"))
end

-- Watching collections ---------------------------------------------------------------------------

local edits = { kind = "edits" }

function obs.observe_edits(collection, callback, options)
  return register(collection, edits, callback, options)
end

-- After an error in the callback, delivers the remaining keys in the next turn.
local Rest = { __name = "obs.observe_keys" }
function Rest:__close(failure)
  if failure ~= nil and self.watcher then self.watcher:schedule() end
end

function obs.observe_keys(collection, keys, callback, options)
  check_observed(collection, 1, "observe_keys")
  if type(keys) ~= "table" then keys = { keys } end
  if #keys == 0 then bad_argument(2, "observe_keys", "list of keys expected, got none") end
  local kind = kind_of(collection)
  local is_set = kind == "set"
  local names, last, request = {}, {}, { kind = "keys" }
  for i = 1, #keys do
    if is_set then
      names[i], request[i] = keys[i], collection:key_of(keys[i])
    else
      names[i], request[i] = exact_key(collection, keys[i], 2, "observe_keys")
    end
  end
  local function read(from, name)
    if is_set then return from:contains(name) and name or nil end
    return from[name]
  end
  local equals = type(options) == "table" and options.equals or same
  local rest = setmetatable({}, Rest)

  function request.driver(callback, from, observer)
    local guard <close> = rest
    local has_called = false
    for i = 1, #names do
      local old, new = last[i], read(from, names[i])
      if not equals(old, new) then
        last[i] = new
        has_called = true
        callback(names[i], old, new, from, observer)
        -- No call is made after the watcher was stopped (T7).
        if rest.watcher and not rest.watcher.active then return end
      end
    end
    if not has_called then idle() end
  end

  local is_initial = type(options) == "table" and options.initial
  if not is_initial then
    for i = 1, #names do last[i] = read(collection, names[i]) end
  end
  rest.watcher = register(collection, request, callback, options)
  if not is_initial then
    core.witness { renew = function(_, objects)
      if not objects[collection] then return end
      for i = 1, #names do last[i] = read(collection, names[i]) end
    end }
  end
  return rest.watcher
end

return obs
