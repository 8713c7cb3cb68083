-- Changes between two states of a tree: a slice of the module `obs`.
--
-- A state is a graph of objects. Objects in both states are *kept*, the others are *removed* or
-- *new*. Kept and removed objects are handled from the deepest level up, each at its path in the
-- first state: no object on that path changes before the object's turn. A removed object leaves as
-- a tree of plain data, after all parts that stay elsewhere were taken out of it. A new object
-- comes as such a tree, and then gets its shared parts. So the list can be applied from its first
-- change on, and the inverse is the reversed list.
local core, obs = ...

local next, setmetatable, tostring, type = next, setmetatable, tostring, type
local concat = table.concat
local are_alike, bad_argument, check_observed, extended, trees =
  core.are_alike, core.bad_argument, core.check_observed, core.extended, core.trees
local are_lists, are_same, contents, copied, differing_keys, each_object, edit_script =
  trees.are_lists, trees.are_same, trees.contents, trees.copied, trees.differing_keys,
  trees.each_object, trees.edit_script
local holds_objects, is_element, is_object, leaf =
  trees.holds_objects, trees.is_element, trees.is_object, trees.leaf
local same, sorted_keys, trace, track_contents =
  trees.same, trees.sorted_keys, trees.trace, core.track_contents

-- Data of objects ---------------------------------------------------------------------------------

-- The marks for making an object again: its model's name, its collection type.
local function mark_of(made)
  return made.model, made.kind
end

-- Whether an object inside another one needs a separate change, because plain data does not show
-- its type. Inside an object of the host program, declared types show it, except for tables of
-- scripts, which data cannot make there.
local function is_apart(made, owner)
  if owner.is_host then return not made.is_host end
  return made.model ~= nil or made.kind ~= nil
end

-- One side of a difference: its contents, its walk, and the objects only in it.
local Side = {}
Side.__index = Side

-- Whether an object at a key of another one belongs to the data tree of `owner`.
function Side:is_inner(owner, key, object)
  return self.only[object] and self.walk.parent[object] == owner
    and trees.key(self.walk, object, self.contents) == key
end

--- The path of an object; callers must not change it.
function Side:known_path(object)
  local path = self.paths[object]
  if not path then
    path = trees.path(self.walk, object, self.contents)
    self.paths[object] = path
  end
  return path
end

--- A new copy of the path of an object. Objects often have a parent in common.
function Side:path(object)
  local parent = self.walk.parent[object]
  if not parent then return {} end
  return extended(self:known_path(parent), trees.key(self.walk, object, self.contents))
end

-- The data of an object that a change carries, with the inner objects that belong to it.
function Side:data(root)
  local made = self.contents(root)
  local data = {}
  local work = { { root, made, data } }
  while #work > 0 do
    local item = work[#work]
    work[#work] = nil
    local object, map, to, n = item[1], item[2].map, item[3], 0
    local made = item[2]
    local function put(key, value)
      if is_object(value) and holds_objects(made, key) then
        local inner = self.contents(value)
        if not self:is_inner(object, key, value) or is_apart(inner, made) then return false end
        local copy = {}
        work[#work + 1] = { value, inner, copy }
        value = copy
      else
        if holds_objects(made, key) then value = copied(value) else leaf(value) end
      end
      to[key] = value
      return true
    end
    if made.kind == "set" then
      for _, member in next, sorted_keys(map) do
        n = n + 1
        to[n] = leaf(member)
      end
    else
      -- Left-out elements leave no hole in a list.
      local length = are_lists(made, made) and made.n or 0
      for position = 1, length do
        if put(position, map[position]) then
          n = n + 1
          if n ~= position then to[n], to[position] = to[position], nil end
        end
      end
      for key, value in next, map do
        if not is_element(key, length) then put(key, value) end
      end
    end
  end
  return data, mark_of(made)
end

-- The keys of the objects that the data of an object leaves out, and of the ones it contains.
function Side:parts(object)
  local made, cut, inner = self.contents(object), {}, {}
  each_object(made, function(key, value)
    if self:is_inner(object, key, value) and not is_apart(self.contents(value), made) then
      inner[#inner + 1] = key
    else
      cut[#cut + 1] = key
    end
  end)
  return made, cut, inner
end

-- Whether an object contains objects that its data leaves out.
function Side:leaves_parts(object)
  local _, cut = self:parts(object)
  return #cut > 0
end

-- Changes -----------------------------------------------------------------------------------------

local Difference = {}
Difference.__index = Difference

function Difference:add(kind, path, from)
  local change = { path = path, kind = kind, from = from }
  self.changes[#self.changes + 1] = change
  return change
end

-- Sets the fields for a key's former or new value; does nothing if it is nil.
function Difference:describe(change, side, owner, key, value, is_leaf)
  local field, reference = side.field, side.reference
  if value == nil then return end
  if is_leaf or not is_object(value) then
    if is_leaf then change[field] = leaf(value) else change[field] = copied(value) end
  elseif side:is_inner(owner, key, value) then
    change[field], change.model, change.type = side:data(value)
  elseif (side == self.before) == (side.only[value] ~= nil) then
    -- An object that left this key and stays in the tree has a final path instead.
    change[reference] = self.before:path(value)
  else
    change[reference] = { after = self.after:path(value) }
  end
end

-- The type mark of a value in a change: nil if the change holds no table for it; otherwise the
-- mark, or "".
local function tag(side, owner, key, value, is_leaf)
  if is_leaf or not is_object(value) then
    return (type(value) == "table" or type(value) == "userdata") and "" or nil
  end
  if not side:is_inner(owner, key, value) then return nil end
  local made = side.contents(value)
  return (made.model or "") .. "\0" .. (made.kind or "")
end

-- Whether a value needs no copy in data.
local function is_scalar(value)
  local kind = type(value)
  return kind ~= "table" and kind ~= "userdata"
end

-- Adds the change of one key, or two changes if the old and the new value have different types.
function Difference:slot(path, owner, old_key, old, new_key, new, kind)
  if is_scalar(old) and is_scalar(new) then
    local change = self:add(kind == "replace" and "set" or kind, path)
    change.old, change.new = old, new
    return
  end
  local is_leaf = not holds_objects(self.after.contents(owner), new_key or old_key)
  local old_tag = old ~= nil and tag(self.before, owner, old_key, old, is_leaf)
  local new_tag = new ~= nil and tag(self.after, owner, new_key, new, is_leaf)
  local is_list = kind ~= "set"
  if old_tag and new_tag and old_tag ~= new_tag then
    self:describe(self:add(is_list and "remove" or "set", path), self.before, owner, old_key, old,
      is_leaf)
    self:describe(self:add(is_list and "insert" or "set", path), self.after, owner, new_key, new,
      is_leaf)
  else
    local change = self:add(kind == "replace" and "set" or kind, path)
    self:describe(change, self.before, owner, old_key, old, is_leaf)
    self:describe(change, self.after, owner, new_key, new, is_leaf)
  end
  if not is_leaf and is_object(new) and self.after:is_inner(owner, new_key, new) then
    self:complete(new, path)
  end
end

-- Adds the left-out parts to a new object, and to the objects in it.
function Difference:complete(root, path)
  local after, work, first = self.after, { { root, path } }, 1
  while first <= #work do
    local object, path = work[first][1], work[first][2]
    work[first] = false
    first = first + 1
    local made, cut, inner = after:parts(object)
    local n = are_lists(made, made) and made.n
    for i = 1, #cut do
      local key = cut[i]
      local value, place = made.map[key], extended(path, key)
      local kind = is_element(key, n) and "insert" or "set"
      self:describe(self:add(kind, place), after, object, key, value)
      if after:is_inner(object, key, value) then work[#work + 1] = { value, place } end
    end
    for i = 1, #inner do
      work[#work + 1] = { made.map[inner[i]], extended(path, inner[i]) }
    end
  end
end

-- Takes the parts that its data leaves out from a removed object.
function Difference:strip(object, path)
  local before = self.before
  local made, cut = before:parts(object)
  local n = are_lists(made, made) and made.n
  for i = #cut, 1, -1 do
    local key = cut[i]
    self:describe(self:add(is_element(key, n) and "remove" or "set", extended(path, key)), before,
      object, key, made.map[key])
  end
end

function Difference:list(object, path, old, new)
  local steps = {}
  edit_script(old.map, old.n, new.map, new.n, function(kind, position, from, to)
    steps[#steps + 1] = { kind, position, from, to }
  end)
  -- A single element that was removed and inserted again has moved.
  if #steps == 2 then
    local first, second = steps[1], steps[2]
    if first[1] == "remove" and second[1] == "insert"
      and same(old.map[first[3]], new.map[second[4]]) then
      self:add("move", extended(path, second[2]), first[2])
      return
    elseif first[1] == "insert" and second[1] == "remove"
      and same(new.map[first[4]], old.map[second[3]]) then
      self:add("move", extended(path, first[2]), second[2] - 1)
      return
    end
  end
  for i = 1, #steps do
    local kind, position, from, to = steps[i][1], steps[i][2], steps[i][3], steps[i][4]
    self:slot(extended(path, position), object, from, from and old.map[from], to,
      to and new.map[to], kind)
  end
end

-- Adds the change of a member of a set. At a position, it gets a type, unlike a change of a list.
function Difference:member(kind, path, field, member)
  local change = self:add(kind, extended(path))
  change[field] = leaf(member)
  if trees.position_of(path[#path]) then change.type = "set" end
end

function Difference:object(object, path)
  local old, new = self.before.contents(object), self.after.contents(object)
  if new.kind == "set" then
    for _, member in next, sorted_keys(old.map) do
      if not new.map[member] then self:member("remove", path, "old", member) end
    end
    for _, member in next, sorted_keys(new.map) do
      if not old.map[member] then self:member("insert", path, "new", member) end
    end
    return
  end
  local n = nil
  if are_lists(old, new) then
    self:list(object, path, old, new)
    if old.is_pure and new.is_pure then return end
    n = old.n > new.n and old.n or new.n
  end
  for _, key in next, (differing_keys(old.map, new.map, n)) do
    self:slot(extended(path, key), object, key, old.map[key], key, new.map[key], "set")
  end
end

--- The changes from one state to another. `objects` are the kept ones that may have changed, and
--- the removed ones; `before` and `after` have `contents`, `walk` and `only`. `site_of` returns the
--- place where a key of an object was last written.
function trees.difference(before, after, objects, site_of)
  before.field, before.reference, before.paths = "old", "old_ref", {}
  after.field, after.reference, after.paths = "new", "ref", {}
  local made = setmetatable({
    before = setmetatable(before, Side), after = setmetatable(after, Side),
    changes = {},
  }, Difference)
  -- Group the objects by the lengths of their paths.
  local levels, paths, deepest = {}, {}, 0
  for i = 1, #objects do
    local object, is_changed = objects[i]
    if before.only[object] then
      is_changed = before:leaves_parts(object)
    else
      is_changed = before.contents(object) ~= after.contents(object)
    end
    if is_changed then
      local path = before:path(object)
      local level = levels[#path]
      if not level then
        level = {}
        levels[#path] = level
        if #path > deepest then deepest = #path end
      end
      level[#level + 1], paths[i] = i, path
    end
  end
  for depth = deepest, 0, -1 do
    local level = levels[depth] or {}
    for k = 1, #level do
      local object, path = objects[level[k]], paths[level[k]]
      local first = #made.changes + 1
      if before.only[object] then made:strip(object, path) else made:object(object, path) end
      for n = first, site_of and #made.changes or 0 do
        made.changes[n].site = site_of(object, made.changes[n].path[#path + 1])
      end
    end
  end
  return made.changes
end

-- Two trees ---------------------------------------------------------------------------------------

-- A text that is equal for objects that are probably versions of the same object.
local function signature(made)
  local parts = { made.kind or "", made.model or "", made.n > 0 and "list" or "" }
  for _, key in next, sorted_keys(made.map, made.n) do
    local value = made.map[key]
    parts[#parts + 1] = tostring(key)
    parts[#parts + 1] = is_object(value) and "{}" or tostring(value)
  end
  return concat(parts, "\0")
end

--- Pairs the objects of two trees: returns a table from objects of the second tree to their
--- partners. `pair_lists(old, new, pair)` pairs elements of lists.
function trees.paired(a, b, contents_a, contents_b, can_pair, pair_lists)
  local partners, taken, work = { [b] = a }, { [a] = b }, { { a, b } }
  local first = 1
  while first <= #work do
    local x, y = contents_a(work[first][1]), contents_b(work[first][2])
    first = first + 1
    local function pair(old, new)
      if not is_object(old) or not is_object(new) or partners[new] or taken[old] then return end
      if not can_pair(contents_a(old), contents_b(new)) then return end
      partners[new], taken[old] = old, new
      work[#work + 1] = { old, new }
    end
    if are_lists(x, y) then pair_lists(x, y, pair) end
    each_object(y, function(key, value)
      local has_partner = are_lists(x, y) and is_element(key, y.n)
      if not has_partner and holds_objects(x, key) then pair(x.map[key], value) end
    end)
  end
  return partners, taken
end

--- Pairs elements by position.
function trees.pair_positions(x, y, pair)
  for i = 1, x.n < y.n and x.n or y.n do pair(x.map[i], y.map[i]) end
end

-- Pairs elements that look alike, then the replaced elements in order.
local function pair_alike(contents_a, contents_b)
  return function(x, y, pair)
    if x.n == y.n then return trees.pair_positions(x, y, pair) end
    local function signatures(made, contents_of)
      local list = {}
      for i = 1, made.n do
        local value = made.map[i]
        list[i] = is_object(value) and signature(contents_of(value)) or trees.is_value(value) and ""
          or value
      end
      return list
    end
    local from, to = signatures(x, contents_a), signatures(y, contents_b)
    local gone, come, i, j = {}, {}, 0, 0
    local is_gone, is_new = {}, {}
    edit_script(from, x.n, to, y.n, function(kind, _, old, new)
      if old then is_gone[old] = true end
      if new then is_new[new] = true end
      if kind == "replace" then gone[#gone + 1], come[#come + 1] = old, new end
    end)
    -- The remaining elements of both lists are the same, in order.
    while i < x.n or j < y.n do
      repeat i = i + 1 until not is_gone[i]
      repeat j = j + 1 until not is_new[j]
      if i > x.n or j > y.n then break end
      pair(x.map[i], y.map[j])
    end
    for k = 1, #gone do pair(x.map[gone[k]], y.map[come[k]]) end
  end
end

local function is_of_one_kind(x, y)
  return x.kind == y.kind and x.model == y.model
end

--- A function that reads the contents of each object once. With `tracks`, these are reads of a
--- tracked getter (Z10).
function trees.remembered(tracks)
  local known = {}
  return function(object)
    local made = known[object]
    if not made then
      if tracks and type(object) == "table" then track_contents(object) end
      made = contents(object)
      known[object] = made
    end
    return made
  end
end

function obs.diff(a, b)
  check_observed(a, 1, "diff")
  check_observed(b, 2, "diff")
  if are_alike(a, b, trees.tools, false) then return {} end
  local contents_a, contents_b = trees.remembered(true), trees.remembered(true)
  local x, y = contents_a(a), contents_b(b)
  if x.kind ~= y.kind then
    local kind = x.kind == "array" and "an array" or x.kind and "a " .. x.kind
    bad_argument(2, "diff", (kind or "a table that is not a collection")
      .. " expected, as the first argument is one")
  end
  local partners, taken =
    trees.paired(a, b, contents_a, contents_b, is_of_one_kind, pair_alike(contents_a, contents_b))
  -- The second state, expressed with objects of the first one. Objects without partners get a
  -- placeholder, as they may be in the first tree as well.
  local after, walk_b = {}, trace(b, contents_b)
  local walk_after = { order = {}, parent = {}, key = {}, depth = {}, root = a }
  for _, object in next, walk_b.order do partners[object] = partners[object] or {} end
  for i, object in next, walk_b.order do
    local made, map, partner = contents_b(object), {}, partners[object]
    for key, value in next, made.map do
      map[key] = holds_objects(made, key) and partners[value] or value
    end
    local present =
      { kind = made.kind, model = made.model, n = made.n, sparse = made.sparse, map = map,
        is_host = made.is_host }
    local former = taken[partner] and contents_a(partner)
    after[partner] = former and are_same(former, present) and former or present
    local parent = walk_b.parent[object]
    walk_after.order[i], walk_after.parent[partner] = partner, parent and partners[parent]
    walk_after.key[partner], walk_after.depth[partner] = walk_b.key[object], walk_b.depth[object]
  end
  local function contents_after(object) return after[object] end
  local walk_a = trace(a, contents_a)
  local objects, removed, added = {}, {}, {}
  for _, object in next, walk_a.order do
    if not walk_after.depth[object] then removed[object] = true end
    objects[#objects + 1] = object
  end
  for _, object in next, walk_after.order do
    if not walk_a.depth[object] then added[object] = true end
  end
  return trees.difference(
    { contents = contents_a, walk = walk_a, only = removed },
    { contents = contents_after, walk = walk_after, only = added }, objects)
end

return obs
