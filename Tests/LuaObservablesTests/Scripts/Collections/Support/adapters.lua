-- One interface for all kinds of collections, so that the same cases run with each of them.
--
-- A list adapter makes objects (`new`) with the properties name, price, flag, tags and items, and
-- lists of objects or numbers (`list`; `numbers` if empty lists have a type), and has the
-- operations of a program. Its results are used like any object: `object.items = adapter.list {…}`.
-- A keyed adapter makes dictionaries or sets.
local obs = require "obs"

local function copy(list) return table.move(list, 1, #list, 1, {}) end

-- The common part of all kinds that scripts use directly.
local function common(adapter)
  adapter.observe = obs.observe
  adapter.stop = obs.stop
  adapter.edits = obs.observe_edits
  adapter.read = obs.get
  adapter.batch = obs.batch
  return adapter
end

local function object_maker(list)
  return function(fields)
    local object = {}
    for key, value in pairs(fields) do
      object[key] = type(value) == "table" and key == "tags" and list(value) or value
    end
    return object
  end
end

-- Plain lists, in place --------------------------------------------------------------------------

local plain = common {kind = "a plain list", size_name = "@count", spreads = false}
plain.has_nil, plain.has_mixed = true, true
plain.list = copy
plain.new = object_maker(copy)
function plain.size(list) return #list end
function plain.get(list, i) return list[i] end
function plain.append(list, ...)
  for i = 1, select("#", ...) do list[#list + 1] = (select(i, ...)) end
end
plain.insert = table.insert
plain.remove = table.remove
function plain.replace(list, i, value) list[i] = value end
-- Assigns each slot once, so that slots with their old value at the end report nothing.
function plain.move(list, from, to)
  local value = list[from]
  if from < to then
    table.move(list, from + 1, to, from)
  else
    table.move(list, to, from - 1, to + 1)
  end
  list[to] = value
end
function plain.swap(list, a, b) list[a], list[b] = list[b], list[a] end
plain.sort = table.sort
function plain.reverse(list)
  local n = #list
  for i = 1, n // 2 do list[i], list[n + 1 - i] = list[n + 1 - i], list[i] end
end
function plain.clear(list) for i = #list, 1, -1 do list[i] = nil end end
function plain.set(list, other) obs.assign(list, other) end

-- Arrays, and Swift arrays used by scripts --------------------------------------------------------

local function with_methods(kind, list, new)
  local adapter = common {
    kind = kind, size_name = "count", spreads = true, is_typed = true, list = list, new = new,
  }
  function adapter.size(array) return array.count end
  function adapter.get(array, i) return array[i] end
  for _, name in ipairs {
    "append", "insert", "remove", "replace", "move", "swap", "sort", "reverse", "clear", "set",
  } do
    adapter[name] = function(array, ...) return array[name](array, ...) end
  end
  return adapter
end

local function array()
  local adapter = with_methods("obs.array", obs.array, object_maker(obs.array))
  adapter.has_nil, adapter.has_mixed = true, true
  return adapter
end

-- The host gives `swift_new(kind)`; scripts use the objects and collections directly.
local function swift_list(elements, kind)
  local array = swift_new(kind or math.type(elements[1]) and "numbers" or "items")
  for _, element in ipairs(elements) do array:append(element) end
  return array
end

local function swift_numbers(numbers) return swift_list(numbers, "numbers") end

local function swift_item(fields)
  local item = swift_new "item"
  for key, value in pairs(fields) do
    item[key] = key == "tags" and swift_numbers(value) or value
  end
  return item
end

local function bridged()
  local adapter = with_methods("a Swift array in Lua", swift_list, swift_item)
  adapter.numbers = swift_numbers
  return adapter
end

-- Swift arrays that Swift code changes and observes ----------------------------------------------
-- The host gives functions over numbers that identify objects and lists, counted from 0.

local function swift()
  local core = swift_core
  local proxies = setmetatable({}, {__mode = "v"})
  local numbers = setmetatable({}, {__mode = "k"})
  local meta = {}
  local function wrap(number)
    local proxy = proxies[number]
    if not proxy then
      proxy = setmetatable({}, meta)
      proxies[number], numbers[proxy] = proxy, number
    end
    return proxy
  end
  -- An object or list is passed as {number}, any other value as it is.
  local function lower(value) return numbers[value] and {numbers[value]} or value end
  local function raise(value)
    if type(value) == "table" then return wrap(value[1]) end
    return value
  end
  local function lower_all(list)
    local lowered = {}
    for i, value in ipairs(list) do lowered[i] = lower(value) end
    return lowered
  end
  function meta:__index(key) return raise(core.read(numbers[self], key)) end
  function meta:__newindex(key, value) core.write(numbers[self], key, lower(value)) end
  -- Swift paths count from 0.
  local function path_from_0(path)
    return (path:gsub("(#?)(%d+)", function(mark, n) return mark .. math.tointeger(n) - 1 end))
  end

  local Watcher = {}
  Watcher.__index = function(self, key)
    if key == "active" then return core.is_active(self.number) end
    return Watcher[key]
  end
  for _, name in ipairs {"stop", "pause", "resume"} do
    Watcher[name] = function(self) core[name .. "_watcher"](self.number) end
  end

  local adapter = {kind = "a Swift array", size_name = "count", spreads = true, is_typed = true}
  function adapter.new(fields)
    local object = wrap(core.new_item())
    for key, value in pairs(fields) do
      object[key] = key == "tags" and adapter.numbers(value) or value
    end
    return object
  end
  function adapter.list(elements, of_numbers)
    return wrap(core.new_list(lower_all(elements), of_numbers or math.type(elements[1]) ~= nil))
  end
  function adapter.numbers(numbers) return adapter.list(numbers, true) end
  function adapter.size(list) return core.size(numbers[list]) end
  function adapter.get(list, i) return raise(core.get(numbers[list], i - 1)) end
  function adapter.append(list, ...)
    for _, value in ipairs {...} do core.append(numbers[list], lower(value)) end
  end
  function adapter.insert(list, i, value) core.insert(numbers[list], lower(value), i - 1) end
  function adapter.remove(list, i)
    return raise(core.remove(numbers[list], (i or adapter.size(list)) - 1))
  end
  function adapter.replace(list, i, value) core.replace(numbers[list], i - 1, lower(value)) end
  function adapter.move(list, from, to) core.move(numbers[list], from - 1, to - 1) end
  function adapter.swap(list, a, b) core.swap(numbers[list], a - 1, b - 1) end
  function adapter.sort(list, less)
    core.sort(numbers[list], function(a, b) return less(raise(a), raise(b)) end)
  end
  function adapter.reverse(list) core.reverse(numbers[list]) end
  function adapter.clear(list) core.clear(numbers[list]) end
  function adapter.set(list, elements) core.set(numbers[list], lower_all(elements)) end
  function adapter.observe(root, paths, callback, options)
    options = options or {}
    local list = {}
    for i, path in ipairs(type(paths) == "table" and paths or {paths}) do
      list[i] = path_from_0(path)
    end
    local number = core.observe(
      numbers[root], list, options.immediate or false, options.once or false,
      function() callback(root) end)
    return setmetatable({number = number}, Watcher)
  end
  function adapter.stop(root, path) return core.stop(numbers[root], path_from_0(path)) end
  function adapter.edits(list, callback)
    local number = core.observe_edits(numbers[list], function(edits)
      for _, edit in ipairs(edits) do
        edit.at, edit.from = edit.at + 1, edit.from and edit.from + 1
        edit.old, edit.new = raise(edit.old), raise(edit.new)
      end
      callback(list, edits)
    end)
    return setmetatable({number = number}, Watcher)
  end
  adapter.batch = core.batch
  function adapter.read(root, path)
    local value = core.value(numbers[root], path_from_0(path))
    if type(value) ~= "table" or #value ~= 2 then return raise(value) end
    -- A list of values is passed as {"list", values}.
    local list = {}
    for i, element in ipairs(value[2]) do list[i] = raise(element) end
    return list
  end
  return adapter
end

-- Dictionaries and sets --------------------------------------------------------------------------

local function new_table(fields) return fields end

local function keyed(kind, make, new)
  local adapter = common {kind = kind, make = make, new = new, has_size = true}
  function adapter.get(dictionary, key) return dictionary[key] end
  function adapter.set(dictionary, key, value) dictionary[key] = value end
  return adapter
end

local function map()
  local adapter = keyed("a plain map", function(entries) return entries end, new_table)
  -- Operators use its list part.
  adapter.has_size = false
  return adapter
end

local function dictionary() return keyed("obs.dictionary", obs.dictionary, new_table) end
local function bridged_dictionary()
  return keyed("a Swift dictionary in Lua", function(entries)
    local _, value = next(entries)
    local dictionary = swift_new(type(value) == "userdata" and "items by name" or "numbers by name")
    for key, value in pairs(entries) do dictionary[key] = value end
    return dictionary
  end, swift_item)
end

local function set()
  local adapter = keyed("obs.set_of", obs.set_of, new_table)
  adapter.is_mixed = true
  return adapter
end
-- A set of strings.
local function bridged_set()
  return keyed("a Swift set in Lua", function(members)
    local set = swift_new "set"
    for _, member in ipairs(members) do set:add(member) end
    return set
  end)
end

return {
  plain = plain, array = array, bridged = bridged, swift = swift,
  map = map, dictionary = dictionary, bridged_dictionary = bridged_dictionary,
  set = set, bridged_set = bridged_set,
}
