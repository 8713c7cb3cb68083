-- Trees of objects, for deep changes: a slice of the module `obs`.
--
-- An object is a table, or a model or collection of the host program, except leaves. Its *contents*
-- are a copy of its stored values: `map` has the values by key, and 1..`n` are a list. Objects may
-- be shared and contain each other, so all walks here remember visited objects. No walk is
-- recursive, as objects may be nested deeper than Lua calls.
local core, obs = ...

local next, pairs, pcall, rawequal, setmetatable, tostring, type =
  next, pairs, pcall, rawequal, setmetatable, tostring, type
local concat, move, sort = table.concat, table.move, table.sort
local absorb, call_plainly, common_ends, differing_keys, edit_steps, host_class =
  core.absorb, core.call_plainly, core.common_ends, core.differing_keys, core.edit_steps,
  core.host_class
local is_host_object, is_opaque, is_opaque_table, kind_of, model_of, read_contents, same =
  core.is_host_object, core.is_opaque, core.is_opaque_table, core.kind, core.model_of,
  core.read_contents, core.same
local stored_names, written = core.stored_names, core.written

local trees = {}
core.trees = trees

-- Tables { data = … } that wrap data of host objects, as each read makes a new table of such data.
local host_data = setmetatable({}, { __mode = "k" })

local function is_value(value) return host_data[value] or false end

--- The data in a wrapper, or the value itself.
local function plain(value)
  if host_data[value] then return value.data end
  return value
end

-- Whether walks go into opaque objects.
local passes_opaque = false

--- Whether a value is an object with changes inside, not a leaf.
local function is_object(value)
  local kind = type(value)
  if kind == "table" then
    return not host_data[value] and (passes_opaque or not is_opaque_table(value))
  end
  return kind == "userdata" and is_host_object(value)
    and (passes_opaque or not is_opaque(value))
end

--- Calls a function that treats opaque objects like other objects.
function trees.through_opaque(body, ...)
  local was_passing = passes_opaque
  passes_opaque = true
  local ok, result = pcall(call_plainly, body, ...)
  passes_opaque = was_passing
  written(ok, result)
  return result
end

-- Objects that are unchanged values in changes: members of sets, and values under a key that is an
-- object. Trees of data are copies, so they contain no such object.
local leaves = setmetatable({}, { __mode = "k" })

--- Whether a table in data is an object itself, not data.
local function is_leaf(value) return leaves[value] or is_opaque(value) end

--- Marks an object that a change contains as itself, not as data.
function trees.leaf(value)
  if type(value) == "table" then leaves[value] = true end
  return value
end

--- "integer" for a whole number, "float" for any other number, otherwise nil. Keys of tables are
--- integers whenever possible; a host may leave out the library that distinguishes the types.
local function number_type(value)
  if type(value) ~= "number" then return nil end
  return value % 1 == 0 and "integer" or "float"
end

--- The list position in a key, or nil; data from other programs may have it as a float.
local function position_of(key)
  if number_type(key) == "integer" and key > 0 and key < 1 << 53 then return key // 1 | 0 end
end

-- Objects that work on trees, but are not part of a tree that contains them: histories.
local tools = setmetatable({}, { __mode = "k" })
trees.tools = tools

-- Keys are sorted in a reproducible order: by type, then by value.
local ranks = { number = 1, string = 2, boolean = 3 }

local function is_before(a, b)
  local kind_a, kind_b = type(a), type(b)
  if kind_a ~= kind_b then return (ranks[kind_a] or 4) < (ranks[kind_b] or 4) end
  if kind_a == "number" or kind_a == "string" then return a < b end
  if kind_a == "boolean" then return a and not b end
  return false
end

local function sort_keys(keys)
  local kind, is_mixed = type(keys[1]), false
  for i = 2, #keys do is_mixed = is_mixed or type(keys[i]) ~= kind end
  -- Lua's comparison is much faster than a function.
  local is_plain = not is_mixed and (kind == "number" or kind == "string")
  if #keys > 1 then sort(keys, not is_plain and is_before or nil) end
  return keys
end

-- The stored value under a key of a host object.
local function host_value(object, key)
  local value = object[key]
  if type(value) == "table" and not rawequal(value, object[key]) then
    value = { data = value }
    host_data[value] = true
  end
  return value
end

local object_keys

-- The number of consecutive keys 1, 2 … in a map.
local function list_length(map)
  local n = 0
  while map[n + 1] ~= nil do n = n + 1 end
  return n
end

-- Notes in contents whether integer keys follow behind a hole.
local function measure(made)
  local map = made.map
  if made.kind == nil and not made.model then
    made.n = list_length(map)
    made.sparse = false
    for key in next, map do
      if number_type(key) == "integer" and (key < 1 or key > made.n) then
        made.sparse = true
        break
      end
    end
  end
  return made
end

local function host_contents(object)
  local kind, map = kind_of(object), {}
  local made = {
    kind = kind, map = map, n = 0, sparse = false, model = host_class(object), is_host = true,
    has_hosts = true,
  }
  if kind == "array" then
    made.n = #object
    for i = 1, made.n do map[i] = host_value(object, i) end
  elseif kind == "set" then
    for _, member in pairs(object) do map[member] = true end
  elseif kind == "dictionary" then
    for key in pairs(object) do map[key] = host_value(object, key) end
  else
    for _, name in next, stored_names(object) do map[name] = host_value(object, name) end
  end
  made.objects = object_keys(made)
  return made
end

--- The contents of an object, which callers must not change.
---
--- `map` has the values by key; for a set, the members are keys. 1..`n` are the list: `is_pure` if
--- there are no other keys, `sparse` if positions follow behind a hole. `objects` has the keys of
--- the objects, in order, or is false; nil if unknown. `kind` is the kind of a collection, `model`
--- the model name of an instance. `is_host`: the object belongs to the host program; `has_hosts`:
--- some values may belong to it.
local function contents(object)
  if type(object) == "userdata" then return host_contents(object) end
  absorb(object)
  local record, derived = model_of(object), core.derived_keys(object)
  local kind, map, n, sparse, objects, numbered, has_userdata, has_fields =
    read_contents(object, tools, not record, passes_opaque)
  local made =
    { kind = kind, map = map, n = n, sparse = sparse, objects = objects, is_pure = not has_fields }
  if not kind and record then made.model = record.name end
  if kind ~= "array" and kind ~= "set" and next(derived) ~= nil then
    for key in next, derived do map[key] = nil end
    if not kind then measure(made) end
    made.objects = nil
  end
  if has_userdata then made.objects, made.has_hosts = nil, true end
  if made.objects == nil then
    made.objects = object_keys(made)
  elseif objects and #objects > numbered + 1 then
    local others = sort_keys(move(objects, numbered + 1, #objects, 1, {}))
    move(others, 1, #others, numbered + 1, objects)
  end
  return made
end

--- The former contents of a table; `map` has the former values of its store, by key, and becomes
--- part of the contents.
function trees.former(object, map)
  local kind = kind_of(object)
  local made = { kind = kind, map = map, n = 0, sparse = false }
  if kind == "array" then
    made.n = list_length(map)
  elseif kind == "set" then
    for member in next, map do map[member] = true end
  else
    local derived, record = core.derived_keys(object), not kind and model_of(object)
    made.model = record and record.name or nil
    for key, value in next, map do
      if derived[key] or tools[value] then map[key] = nil end
    end
    measure(made)
  end
  return made
end

--- Whether values at a key of contents can be objects: members of sets, and values under a key that
--- is an object, are leaves.
local function holds_objects(made, key)
  if made.kind == "set" then return false end
  local kind = type(key)
  return kind == "string" or kind == "number" or kind == "boolean"
end

--- Whether the keys 1..n of contents are elements of a list.
local function has_list(made) return made.kind == "array" or not made.kind and not made.model end

--- Whether the keys 1..n of both contents are lists.
local function are_lists(a, b)
  return has_list(a) and has_list(b) and not a.sparse and not b.sparse
end

--- Whether a key is in 1..`n`; false if `n` is nil or false.
local function is_element(key, n)
  return n and number_type(key) == "integer" and key >= 1 and key <= n
end

--- The keys of a map in order, except 1..`n`; keys that are objects come last, in no order.
local function sorted_keys(map, n)
  local keys, count = {}, 0
  for key in next, map do
    if not is_element(key, n) then
      count = count + 1
      keys[count] = key
    end
  end
  return sort_keys(keys)
end

--- The keys under which two maps differ, except 1..`n`, in the order of `sorted_keys`; and their
--- number.
function trees.differing_keys(a, b, n)
  local keys, count = differing_keys(a, b, n)
  if count > 1 then sort_keys(keys) end
  if next(host_data) == nil then return keys, count end
  local kept = {}
  for i = 1, count do
    if not trees.same(a[keys[i]], b[keys[i]]) then kept[#kept + 1] = keys[i] end
  end
  return kept, #kept
end

--- Whether contents are equal.
function trees.are_same(a, b)
  local keys, count = differing_keys(a.map, b.map, nil, 1)
  -- Data of host objects is a new table for each read, and may be equal.
  if count > 0 and host_data[a.map[keys[1]]] then
    keys = trees.differing_keys(a.map, b.map)
    count = #keys
  end
  return count == 0
end

--- The text of a path, for errors.
local function path_text(path)
  local parts = {}
  for i = 1, #path do
    local key = path[i]
    parts[i] = type(key) == "string" and key or tostring(key)
  end
  return concat(parts, ".")
end

-- Copies and comparisons of data ------------------------------------------------------------------

-- The contents of data: of the table as it is, whatever its class.
local function data_contents(data)
  return contents(plain(data))
end

--- A copy of plain data: all tables in it are new and plain. With `contents_of`, a function that
--- returns contents, it copies an object and everything below it, sharing included.
function trees.copied(data, contents_of)
  if is_value(data) then data = data.data end
  if not contents_of and (type(data) ~= "table" or is_leaf(data)) then return data end
  local copies, work = { [data] = {} }, { data }
  local function copy_of(value)
    if is_value(value) then value = contents_of and trees.copied(value) or value.data end
    local is_followed
    if contents_of then
      is_followed = is_object(value)
    else
      is_followed = type(value) == "table" and not is_leaf(value)
    end
    if not is_followed then return value end
    local copy = copies[value]
    if not copy then
      copy = {}
      copies[value] = copy
      work[#work + 1] = value
    end
    return copy
  end
  while #work > 0 do
    local from = work[#work]
    work[#work] = nil
    local to, made = copies[from], (contents_of or contents)(from)
    if made.kind == "set" then
      for _, member in next, trees.sorted_keys(made.map) do
        to[#to + 1] = contents_of and trees.leaf(member) or member
      end
    else
      for key, value in next, made.map do
        if holds_objects(made, key) then to[key] = copy_of(value) else to[key] = plain(value) end
      end
    end
  end
  return copies[data]
end

--- Whether a value is deeply equal to data. `contents_of` returns the contents of an object; an
--- object inside another one must be neither a model nor a declared collection.
function trees.equal(value, data, contents_of)
  contents_of = contents_of or data_contents
  local seen, work, is_inner = {}, { { value, data } }, false
  while #work > 0 do
    local pair = work[#work]
    work[#work] = nil
    local x, y = pair[1], pair[2]
    if is_value(y) then y = y.data end
    local is_tree = type(y) == "table" and not is_leaf(y) and (is_value(x) or is_object(x))
    if not is_tree then
      if not same(x, y) then return false end
    elseif not rawequal(seen[x], y) then
      seen[x] = y
      local in_x, in_y = is_value(x) and data_contents(x) or contents_of(x), data_contents(y)
      if is_inner and (in_x.kind or in_x.model) and not in_x.is_host then return false end
      is_inner = true
      local wanted = in_y.map
      if in_x.kind == "set" and in_y.kind ~= "set" then
        wanted = {}
        for i = 1, in_y.n do wanted[in_y.map[i]] = true end
      end
      for key, own in next, in_x.map do
        local other = wanted[key]
        if other == nil then return false end
        if holds_objects(in_x, key) then
          work[#work + 1] = { own, other }
        elseif not same(own, other) then
          return false
        end
      end
      for key in next, wanted do
        if in_x.map[key] == nil then return false end
      end
    end
  end
  return true
end

--- Whether the values of a stored key are the same: data of host objects is compared deeply.
function trees.same(a, b)
  if is_value(a) and is_value(b) then return trees.equal(a, b) end
  return same(a, b)
end

trees.number_type, trees.kind_of, trees.plain = number_type, kind_of, plain
trees.is_value, trees.is_object, trees.contents, trees.measure =
  is_value, is_object, contents, measure
trees.holds_objects, trees.has_list, trees.are_lists, trees.is_element, trees.sorted_keys =
  holds_objects, has_list, are_lists, is_element, sorted_keys
trees.position_of, trees.list_length, trees.is_leaf, trees.host_value =
  position_of, list_length, is_leaf, host_value
trees.path_text = path_text

-- Lists -------------------------------------------------------------------------------------------

local nan = {}

-- The key that counts or numbers a value in a table, where NaN cannot be a key.
local function key_of(value) return value ~= value and nan or value end
trees.key_of = key_of

-- The maximum number of host objects' values that are compared pairwise.
local MANY = 256

-- The maximum number of edits for which `edit_steps` searches a script.
local MOST_STEPS = 256

--- Up to this many insertions and removals are made one by one in a plain table. Each moves the
--- elements behind it, so more of them cost more than assigning all elements.
trees.FEW_EDITS = 16

--- Calls `edit` for each step of a shortest script from one list to another, in order of
--- application: edit(kind, position, old index, new index) with "insert", "remove" or "replace".
--- Returns false, and calls nothing, if there were more than `limit` steps.
function trees.edit_script(from, count, to, new_count, edit, limit)
  local equal, shorter = trees.same, count < new_count and count or new_count
  local head, tail = 0, 0
  -- Compares from the end first, so that an edit gets the lowest possible position (C10).
  if next(host_data) == nil then
    head, tail = common_ends(from, count, to, new_count)
  else
    while tail < shorter and equal(from[count - tail], to[new_count - tail]) do tail = tail + 1 end
    while head + tail < shorter and equal(from[head + 1], to[head + 1]) do head = head + 1 end
  end
  local gone, come = count - head - tail, new_count - head - tail
  if limit and (gone - come > limit or come - gone > limit) then return false end
  -- Several edits may have lower positions if elements of the common beginning occur behind it.
  if gone + come > 1 and not (gone == 1 and come == 1) then
    local keys, values = {}, {}
    local function note(value)
      keys[key_of(value)] = true
      if is_value(value) then values[#values + 1] = value end
    end
    local function is_noted(value)
      if keys[key_of(value)] then return true end
      if not is_value(value) or #values > MANY then return false end
      for i = 1, #values do
        if equal(values[i], value) then return true end
      end
      return false
    end
    for i = head + 1, head + gone do note(from[i]) end
    for i = head + 1, head + come do note(to[i]) end
    while head > 0 and is_noted(from[head]) do head, gone, come = head - 1, gone + 1, come + 1 end
  end
  if gone == 0 then
    for i = head + 1, head + come do edit("insert", i, nil, i) end
    return true
  end
  if come == 0 then
    -- `edit_steps` would search for no script this long, and remove from the end.
    local is_long = gone > MOST_STEPS
    for i = head + 1, head + gone do
      local old = is_long and 2 * head + gone + 1 - i or i
      edit("remove", is_long and old or head + 1, old)
    end
    return true
  end
  if gone == 1 and come == 1 then
    edit("replace", head + 1, head + 1, head + 1)
    return true
  end
  if limit and gone > MANY and is_value(from[head + 1]) then return false end
  -- Elements are numbered so that `edit_steps` can compare them.
  local numbers, last = {}, 0
  local function numbered(list, length)
    local ids = {}
    for i = 1, length do
      local value = list[head + i]
      local key = key_of(value)
      if is_value(value) then
        for known in next, numbers do
          if is_value(known) and trees.equal(known, value) then key = known end
        end
      end
      local number = numbers[key]
      if not number then
        last = last + 1
        number = last
        numbers[key] = number
      end
      ids[i] = number
    end
    return ids
  end
  local steps = edit_steps(numbered(from, gone), gone, numbered(to, come), come, limit)
  if limit and #steps > 4 * limit then return false end
  for i = 1, #steps, 4 do
    local kind, position, old, new = steps[i], steps[i + 1], steps[i + 2], steps[i + 3]
    edit(kind, head + position, old > 0 and head + old or nil, new > 0 and head + new or nil)
  end
  return true
end

-- Walks -------------------------------------------------------------------------------------------

-- The keys of the objects in contents, in order; false without objects.
function object_keys(made)
  if made.objects ~= nil then return made.objects end
  local map, keys, others = made.map, {}, {}
  for position = 1, made.n do
    if is_object(map[position]) then keys[#keys + 1] = position end
  end
  if made.kind ~= "array" and made.kind ~= "set" then
    for key, value in next, map do
      if not is_element(key, made.n) and is_object(value) and holds_objects(made, key) then
        others[#others + 1] = key
      end
    end
    move(sort_keys(others), 1, #others, #keys + 1, keys)
  end
  return keys[1] ~= nil and keys
end

--- Calls `visit` with the key and each object in contents, in order.
local function each_object(made, visit)
  local keys, map = object_keys(made), made.map
  for i = 1, keys and #keys or 0 do visit(keys[i], map[keys[i]]) end
end

trees.object_keys = object_keys
trees.each_object = each_object

--- The objects reachable from a root, in breadth-first order; and for each object its parent, its
--- key there, and its depth. `contents_of` returns contents.
function trees.trace(root, contents_of)
  local order, parent, keys, depth = { root }, {}, {}, { [root] = 0 }
  local i = 0
  while i < #order do
    i = i + 1
    local object = order[i]
    each_object(contents_of(object), function(key, value)
      if depth[value] then return end
      parent[value], keys[value], depth[value] = object, key, depth[object] + 1
      order[#order + 1] = value
    end)
  end
  return { order = order, parent = parent, key = keys, depth = depth, root = root }
end

--- The key under which a walk has met an object. Elements of lists may have moved since then.
function trees.key(walk, object, contents_of)
  local key, map = walk.key[object], contents_of(walk.parent[object]).map
  if rawequal(map[key], object) then return key end
  local parent = walk.parent[object]
  local places = walk.places and walk.places[map]
  if not places then
    places = {}
    each_object(contents_of(parent), function(place, value)
      places[value] = places[value] or place
    end)
    walk.places = walk.places or {}
    walk.places[map] = places
  end
  return places[object]
end

--- The path of an object in a walk.
function trees.path(walk, object, contents_of)
  local path, n = {}, 0
  while not rawequal(object, walk.root) do
    n = n + 1
    path[n] = trees.key(walk, object, contents_of)
    object = walk.parent[object]
  end
  for i = 1, n // 2 do path[i], path[n + 1 - i] = path[n + 1 - i], path[i] end
  return path
end

return obs
