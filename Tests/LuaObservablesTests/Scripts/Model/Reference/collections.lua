-- Collections of the reference: each operation is one change of all keys that it writes.
local Array, Set = {}, {}

return function(M)
  local data, same = M.data, M.same

  -- Replaces the elements 1… of a list by the given ones.
  local function become(list, elements)
    local writes, store = {}, data[list].store
    for i = 1, math.max(#elements, M.length(list)) do
      local old, new = store[i], elements[i]
      if not rawequal(old, new) or math.type(old) ~= math.type(new) then
        writes[#writes + 1] = {i, new}
      end
    end
    if #writes > 0 then M.commit(list, writes) end
  end

  -- An operation of the library `table` on a list: one change (C2).
  function M.list_operation(operation, list, ...)
    if not data[list] or data[list].kind == "set" then return operation(list, ...) end
    local copy = M.elements(list)
    local results = table.pack(operation(copy, ...))
    become(list, copy)
    if rawequal(results[1], copy) then results[1] = list end
    return table.unpack(results, 1, results.n)
  end

  -- The writes that make a table or dictionary equal to another one, except lazy keys (C13).
  function M.assign(object, other)
    local d, writes, wanted = data[object], {}, {}
    if d.kind == "array" then return become(object, M.list_of(other)) end
    if d.kind == "set" then
      return M.batch(function() M.set_members(object, M.list_of(other)) end)
    end
    for key, value in M.lua.next, other do if not d.lazy[key] then wanted[key] = value end end
    -- Lists are shortened from the end and written from the beginning.
    local length, listed = #wanted, {}
    local function write(key)
      if not listed[key] and not same(d.store[key], wanted[key]) then
        writes[#writes + 1] = {key, wanted[key]}
      end
      listed[key] = true
    end
    for i = M.length(object), length + 1, -1 do write(i) end
    for i = 1, length do write(i) end
    for _, key in ipairs(M.keys(object)) do if wanted[key] == nil then write(key) end end
    for key in next, wanted do write(key) end
    if #writes > 0 then
      M.batch(function() for _, write in ipairs(writes) do M.commit(object, {write}) end end)
    end
  end
  function M.clear(object) M.assign(object, {}) end

  -- A collection of the same kind with the same elements; any other value unchanged.
  function M.copy(value)
    local d = data[value]
    if not d then
      if type(value) ~= "table" or getmetatable(value) then return value end
      local copy = {}
      for key, field in next, value do copy[key] = M.copy(field) end
      return M.new(copy)
    end
    if d.kind == "array" then return M.array(value) end
    if d.kind == "set" then return M.set_of(value) end
    local fields = {}
    for _, key in ipairs(M.keys(value)) do fields[key] = d.store[key] end
    return d.kind == "dictionary" and M.dictionary(fields) or M.new(fields)
  end

  -- The elements or members of a collection or list, in a new list.
  function M.list_of(other)
    if data[other] then return (M.elements(other)) end
    return table.move(other, 1, #other, 1, {})
  end

  -- The same for an argument: a table that has keys but no elements is no list.
  local function list_argument(other)
    local list, d = M.list_of(other), data[other]
    if #list == 0 and d and not d.kind and #M.keys(other) > 0 then
      error("list expected", 0)
    end
    return list
  end

  -- The common part of collections: methods by name, and the size.
  local function collection(kind, methods, fields)
    local object = M.new(fields)
    local d = data[object]
    d.kind, d.methods = kind, methods
    return object, d
  end
  function M.member_of(object, name)
    local method = data[object].methods[name]
    if name == "count" then
      M.track(object, M.SIZE)
      return select(2, M.elements(object))
    end
    return method and function(self, ...)
      if not data[self] or data[self].methods ~= data[object].methods then error("no object", 0) end
      return method(self, ...)
    end
  end

  -- Arrays ----------------------------------------------------------------------------------------

  local function check(array, i, more)
    i = math.tointeger(i)
    if not i or i < 1 or i > M.length(array) + (more or 0) then error("out of range", 0) end
    return i
  end
  local function change(array, operation)
    local copy = M.elements(array)
    local result = operation(copy)
    become(array, copy)
    return result
  end
  local function present(value) if value == nil then error("no place for nil", 0) end end

  function Array.append(array, ...)
    local values = {...}
    for i = 1, select("#", ...) do present(values[i]) end
    change(array, function(copy) table.move(values, 1, #values, #copy + 1, copy) end)
  end
  function Array.insert(array, i, value)
    present(value)
    i = check(array, i, 1)
    change(array, function(copy) table.insert(copy, i, value) end)
  end
  function Array.remove(array, i)
    if i == nil and M.length(array) == 0 then return nil end
    i = check(array, i or M.length(array))
    return change(array, function(copy) return table.remove(copy, i) end)
  end
  function Array.index_of(array, value)
    M.track(array, M.EVERY)
    for i, other in ipairs((M.elements(array))) do if same(other, value) then return i end end
  end
  function Array.remove_value(array, value)
    local i = Array.index_of(array, value)
    if i then Array.remove(array, i) end
    return i ~= nil
  end
  function Array.replace(array, i, value)
    present(value)
    i = check(array, i)
    change(array, function(copy) copy[i] = value end)
  end
  function Array.move(array, from, to)
    from, to = check(array, from), check(array, to)
    change(array, function(copy) table.insert(copy, to, table.remove(copy, from)) end)
  end
  function Array.swap(array, i, j)
    i, j = check(array, i), check(array, j)
    change(array, function(copy) copy[i], copy[j] = copy[j], copy[i] end)
  end
  function Array.sort(array, less) change(array, function(copy) table.sort(copy, less) end) end
  function Array.reverse(array)
    change(array, function(copy)
      for i = 1, #copy // 2 do copy[i], copy[#copy + 1 - i] = copy[#copy + 1 - i], copy[i] end
    end)
  end
  function Array.clear(array) become(array, {}) end
  function Array.set(array, list) become(array, list_argument(list)) end

  function M.array(list)
    local array, d = collection("array", Array, list_argument(list or {}))
    function d.assign(_, key, value)
      local n = M.length(array)
      if value == nil then
        key = check(array, key, 1)
        if key < n then error("nil would leave a hole", 0) end
        return key == n and Array.remove(array) or nil
      end
      M.commit(array, {{check(array, key, 1), value}})
    end
    return array
  end

  -- Dictionaries ----------------------------------------------------------------------------------

  function M.dictionary(entries)
    local fields = {}
    for key, value in M.lua.next, entries or {} do fields[key] = value end
    return (collection("dictionary", nil, fields))
  end

  -- Sets store members under their names ----------------------------------------------------------

  local numbers, last_number = setmetatable({}, {__mode = "k"}), 0
  function Set.key_of(_, value)
    if type(value) == "string" then return ("&'%s"):format(value:gsub("[.\\]", "\\%0")) end
    if type(value) ~= "table" then return "&" .. tostring(math.tointeger(value) or value) end
    if not numbers[value] then last_number, numbers[value] = last_number + 1, last_number + 1 end
    return "&table:" .. numbers[value]
  end
  -- The object behind such a key. Whoever watches the key keeps it alive.
  function M.object_of_key(key)
    for value, number in next, numbers do if key == "&table:" .. number then return value end end
  end
  local function update(set, wanted)
    local has_changed = false
    for _, entry in ipairs(wanted) do
      local key = Set.key_of(set, entry[1])
      local value = entry[2] and entry[1] or nil
      if (data[set].store[key] ~= nil) ~= (value ~= nil) then
        M.commit(set, {{key, value, entry[1]}})
        has_changed = true
      end
    end
    return has_changed
  end
  local function each(list, is_member)
    local wanted = {}
    for i, value in ipairs(list) do wanted[i] = {value, is_member} end
    return wanted
  end
  function Set.add(set, value)
    if value == nil or value ~= value then error("no place for it", 0) end
    return update(set, {{value, true}})
  end
  function Set.remove(set, value) return update(set, {{value, false}}) end
  function Set.contains(set, value)
    M.track(set, Set.key_of(set, value))
    return data[set].store[Set.key_of(set, value)] ~= nil
  end
  local function update_all(set, wanted) M.batch(function() update(set, wanted) end) end
  function Set.union(set, other) update_all(set, each(list_argument(other), true)) end
  function Set.subtract(set, other) update_all(set, each(list_argument(other), false)) end
  function M.set_members(set, list)
    local kept, wanted = {}, each(list, true)
    for _, value in ipairs(list) do kept[Set.key_of(set, value)] = true end
    for _, value in ipairs((M.elements(set))) do
      if not kept[Set.key_of(set, value)] then wanted[#wanted + 1] = {value, false} end
    end
    update_all(set, wanted)
  end
  function Set.intersect(set, other)
    local both = {}
    for _, value in ipairs(list_argument(other)) do
      if data[set].store[Set.key_of(set, value)] ~= nil then both[#both + 1] = value end
    end
    M.set_members(set, both)
  end
  function Set.clear(set) M.set_members(set, {}) end

  function M.set_of(list)
    local set, d = collection("set", Set, {})
    for _, value in ipairs(list_argument(list or {})) do
      local key = Set.key_of(set, value)
      if d.store[key] == nil then d.order[#d.order + 1] = key end
      d.store[key] = value
    end
    function d.assign() error("a set has no fields", 0) end
    function d.size() return (select(2, M.elements(set))) end
    return set
  end

  -- Edits and keys (C10, C5) ----------------------------------------------------------------------

  function M.observe_edits(object, callback, options)
    local path = {text = "edits", {kind = "edits", text = "*"}}
    local handle, w = M.observe(object, {path}, nil, options)
    w.callback = function(observed, observer)
      local content = M.content(observed)
      -- Whatever the cause of the call, this is the content delivered last.
      for _, entry in ipairs(w.base) do
        if entry.path[1].kind == "edits" then entry.value = content end
      end
      callback(observed, content, observer)
    end
    return handle
  end
  function M.observe_keys(object, keys, callback, options)
    if #keys == 0 then error("no keys", 0) end
    local last, paths, is_set = {}, {}, data[object].kind == "set"
    local function read(key)
      if not is_set then return M.value_at(object, key) end
      return data[object].store[Set.key_of(object, key)]
    end
    for i, key in ipairs(keys) do
      paths[i] = is_set and Set.key_of(object, key) or M.exact_path(key)
      if not (options and options.initial) then last[i] = read(key) end
    end
    local handle, w = M.observe(object, paths, nil, options)
    w.callback = function(observed, observer)
      w.is_idle = true
      for i, key in ipairs(keys) do
        local old, new = last[i], read(key)
        if not same(old, new) then
          last[i], w.is_idle = new, false
          callback(key, old, new, observed, observer)
          if not handle.active then return end
        end
      end
    end
    return handle
  end
end
