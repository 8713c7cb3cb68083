-- Making a tree equal to plain data: a slice of the module `obs`.
local core, obs = ...

local next, rawequal, setmetatable, type = next, rawequal, setmetatable, type
local string_format, move = string.format, table.move
local are_alike, array, bad_argument, check_observed, dictionary, is_optional =
  core.are_alike, core.array, core.bad_argument, core.check_observed, core.dictionary,
  core.is_optional
local make_host, raise, set_of, trees, written =
  core.make_host, core.raise, core.set_of, core.trees, core.written
local number_type = trees.number_type
local are_lists, copied, differing_keys, edit_script, holds_objects, is_element, is_object, same =
  trees.are_lists, trees.copied, trees.differing_keys, trees.edit_script, trees.holds_objects,
  trees.is_element, trees.is_object, trees.same
local equal, is_value, key_of, plain, sorted_keys =
  trees.equal, trees.is_value, trees.key_of, trees.plain, trees.sorted_keys

-- Whether contents of data are just a list.
local function is_list(made)
  if made.kind == "array" then return true end
  if made.kind ~= nil or made.sparse then return false end
  for key in next, made.map do
    if number_type(key) ~= "integer" then return false end
  end
  return true
end

-- Whether an object can take on the contents of data.
local function can_pair(object, data)
  if data.kind ~= nil or data.model ~= nil then
    return data.kind == object.kind and data.model == object.model
  end
  if object.kind == "array" or object.kind == "set" then return is_list(data) end
  if object.is_host and object.kind == nil then
    for key in next, data.map do
      if type(key) ~= "string" then return false end
    end
  end
  return true
end

-- Pairs elements that have the same value under a key; if several have it, or none, by position.
local function pair_by(name, contents_of, contents_of_data)
  local function value_in(element, contents_of)
    return is_object(element) and contents_of(element).map[name]
  end
  local function named(list, contents_of)
    local found = {}
    for i = list.n, 1, -1 do
      local value = value_in(list.map[i], contents_of)
      if value ~= nil and value == value then found[value] = list.map[i] end
    end
    return found
  end
  return function(x, y, pair)
    local old, new = named(x, contents_of), named(y, contents_of_data)
    for i = 1, y.n do
      local element = y.map[i]
      local value = value_in(element, contents_of_data)
      if value ~= nil and rawequal(new[value], element) and old[value] then
        pair(old[value], element)
      end
    end
    for i = 1, x.n < y.n and x.n or y.n do
      local value = value_in(y.map[i], contents_of_data)
      if rawequal(value_in(x.map[i], contents_of), value) then pair(x.map[i], y.map[i]) end
    end
  end
end

local Merge = {}
Merge.__index = Merge

function Merge:note(kind, object, key, value, from)
  self.writes[#self.writes + 1] =
    { number = 0, kind = kind, object = object, key = key, value = value, from = from }
end

-- The object for a value of data: its partner or a new object; or the value itself.
function Merge:value(value, owner, key)
  if not is_object(value) then return copied(value) end
  local partner = self.partners[value]
  if partner then return partner end
  local made = self.contents_of_data(value)
  local object = nil
  if type(owner) == "userdata" then
    local problem
    object, problem = make_host(owner, key, value, nil)
    if problem then raise(problem) end
    if object ~= nil then return object end
  end
  object = made.kind == "array" and array() or made.kind == "set" and set_of()
    or made.kind == "dictionary" and dictionary() or {}
  self.partners[value] = object
  self.new[#self.new + 1] = { object, made }
  return object
end

-- Fills the new objects; inner objects are made on the way.
function Merge:fill()
  local first = 1
  while first <= #self.new do
    local object, made = self.new[first][1], self.new[first][2]
    first = first + 1
    if made.kind == "set" then
      for _, member in next, sorted_keys(made.map) do object:add(member) end
    else
      for position = 1, made.n do
        object[position] = self:value(made.map[position], object, position)
      end
      for key, value in next, made.map do
        if not is_element(key, made.n) then
          object[key] = holds_objects(made, key) and self:value(value, object, key) or value
        end
      end
    end
  end
end

-- The elements of a list as contents.
local function elements(map, n)
  return { map = move(map, 1, n, 1, {}), n = n }
end

-- Returns data of the host program after a merge with other data, or the other data if they do not
-- fit together.
function Merge:extended(old, data)
  local whole = copied(old)
  if not can_pair(self.contents_of(whole), self.contents_of_data(data)) then return data end
  obs.merge(whole, data, self.options)
  return whole
end

-- `map` begins with the elements of the data. Adds the other elements of the old list: with the
-- option `key` the elements that are not in the data, otherwise the elements behind the data's last
-- position. Returns the new length.
function Merge:extend(map, old, new)
  if self.options.key == nil then
    move(old.map, new.n + 1, old.n, new.n + 1, map)
    return old.n > new.n and old.n or new.n
  end
  local counts, n = {}, new.n
  for i = 1, n do counts[key_of(map[i])] = (counts[key_of(map[i])] or 0) + 1 end
  local function is_in_data(value)
    if is_value(value) then
      for i = 1, new.n do
        if equal(value, new.map[i]) then return true end
      end
      return false
    end
    local count = counts[key_of(value)] or 0
    counts[key_of(value)] = count - 1
    return count > 0
  end
  for i = 1, old.n do
    if not is_in_data(old.map[i]) then
      n = n + 1
      map[n] = old.map[i]
    end
  end
  return n
end

function Merge:list(object, old, map, n)
  local steps = {}
  local is_short = edit_script(old.map, old.n, map, n, function(kind, position, from, to)
    steps[#steps + 1] = { kind, position, from, to }
  end, old.kind == nil and trees.FEW_EDITS or nil)
  if not is_short then
    local write = { number = 0, kind = "contents", object = object, key = false }
    write.from, write.value = elements(old.map, old.n), elements(map, n)
    self.writes[#self.writes + 1] = write
    return
  end
  if #steps == 2 then
    local first, second = steps[1], steps[2]
    if first[1] == "remove" and second[1] == "insert"
      and same(old.map[first[3]], map[second[4]]) then
      return self:note("move", object, second[2], nil, first[2])
    elseif first[1] == "insert" and second[1] == "remove"
      and same(map[first[4]], old.map[second[3]]) then
      return self:note("move", object, first[2], nil, second[2] - 1)
    end
  end
  for i = 1, #steps do
    local step = steps[i]
    local value = step[4] and plain(map[step[4]])
    self:note(step[1] == "replace" and "set" or step[1], object, step[2], value)
  end
end

function Merge:members(object, old, data)
  local wanted = {}
  if data.kind == "set" then
    wanted = data.map
  else
    for i = 1, data.n do wanted[copied(data.map[i])] = true end
  end
  if not self.options.add_only then
    for _, member in next, sorted_keys(old.map) do
      if not wanted[member] then self:note("drop", object, nil, member) end
    end
  end
  for _, member in next, sorted_keys(wanted) do
    if not old.map[member] then self:note("add", object, nil, member) end
  end
end

-- Notes the writes that make an object equal to its data, or with `add_only` give it the data.
function Merge:object(object, data)
  local old, new = self.contents_of(object), self.contents_of_data(data)
  if old.kind == "set" then return self:members(object, old, new) end
  local derived = type(object) == "table" and not old.kind and core.derived_keys(object) or {}
  local map, n = {}, nil
  for key, value in next, new.map do
    -- Data does not concern lazy keys (C13).
    if not derived[key] then
      local is_data = is_value(old.map[key]) and type(value) == "table"
      if is_data and self.options.add_only and old.kind ~= "array" then
        value = self:extended(old.map[key], value)
      end
      if is_data and equal(old.map[key], value) then
        map[key] = old.map[key]
      elseif holds_objects(new, key) then
        map[key] = self:value(value, object, key)
      else
        map[key] = value
      end
    end
  end
  if are_lists(old, new) then
    local count = self.options.add_only and self:extend(map, old, new) or new.n
    self:list(object, old, map, count)
    n = old.n > count and old.n or count
  end
  local is_model = type(object) == "userdata" and not old.kind
  for _, key in next, (differing_keys(old.map, map, n)) do
    local stays = map[key] == nil
      and (self.options.add_only or is_model and not is_optional(object, key))
    if not stays then self:note("set", object, key, map[key]) end
  end
end

local function plan(merge, target, data)
  local contents_of, contents_of_data = merge.contents_of, merge.contents_of_data
  local key = merge.options.key
  local pair_lists = trees.pair_positions
  if key ~= nil then pair_lists = pair_by(key, contents_of, contents_of_data) end
  local taken
  merge.partners, taken = trees.paired(
    target, data, contents_of, contents_of_data, can_pair, pair_lists)
  local pairs_in_order = trees.trace(data, contents_of_data).order
  for i = 1, #pairs_in_order do
    local partner = merge.partners[pairs_in_order[i]]
    if partner ~= nil and taken[partner] ~= nil then merge:object(partner, pairs_in_order[i]) end
  end
  merge:fill()
end

function obs.merge(target, data, options)
  check_observed(target, 1, "merge")
  if type(data) ~= "table" then
    bad_argument(2, "merge", "table of plain data expected, got "
      .. (data == nil and "no value" or type(data)))
  end
  options = core.check_options(options, 3, "merge", { key = true, add_only = "boolean" })
  local key = options.key
  if key ~= nil and type(key) ~= "string" and type(key) ~= "number" then
    bad_argument(3, "merge", "option 'key' takes the name of a property, not a " .. type(key))
  end
  if target == data or are_alike(target, data, trees.tools, true) then return end
  local merge = setmetatable({
    contents_of = trees.remembered(), contents_of_data = trees.remembered(true),
    writes = {}, new = {}, options = options,
  }, Merge)
  if not can_pair(merge.contents_of(target), merge.contents_of_data(data)) then
    bad_argument(2, "merge", string_format("%s cannot take these contents",
      trees.shown(target)))
  end
  trees.through_opaque(plan, merge, target, data)
  local failed, problem = trees.in_batch(trees.written, merge.writes)
  if failed then
    written(false, problem)
  end
end

return obs
