-- The objects of the reference. A program's table is a proxy, and everything known about it is
-- here. Each access of a script passes through, so nothing has to be detected later.
--
-- A change of one or more keys of one object is one `commit`, the only way to store anything.
return function(M)
  -- proxy → its data. A program's object lives as long as the program has it.
  M.data = setmetatable({}, {__mode = "k"})
  local data = M.data

  -- T5: identity, == for numbers and strings; NaN equals NaN.
  local function same(a, b) return rawequal(a, b) or a ~= a and b ~= b end
  M.same = same

  -- A field of a metatable, which may be an object of the program.
  local function field(meta, name)
    if not meta then return nil end
    if data[meta] then return data[meta].store[name] end
    return rawget(meta, name)
  end

  M.field = field

  -- Reading -------------------------------------------------------------------------------------

  -- Implements `object[key]`.
  function M.read(object, key)
    local d = data[object]
    if not d then return object[key] end
    M.track(object, key)
    if d.lazy[key] then return M.value_of(d.lazy[key]) end
    if d.methods and type(key) == "string" then return M.member_of(object, key) end
    local value = d.store[key]
    if value ~= nil then return value end
    local index = field(d.meta, "__index")
    if type(index) == "function" then return index(object, key) end
    if index ~= nil then return M.read(index, key) end
  end

  -- The value that a key inherits if `__index` is a table (T5).
  local function inherited(object, key)
    local index = field(data[object].meta, "__index")
    if type(index) ~= "table" then return nil end
    local d = data[index]
    if not d then return rawget(index, key) end
    if d.store[key] ~= nil then return d.store[key] end
    return inherited(index, key)
  end

  -- The value that watchers compare: the stored one, or one inherited from a table.
  function M.value_at(object, key)
    local value = data[object].store[key]
    if value == nil then value = inherited(object, key) end
    return value
  end

  -- 1..length of a list; a lazy key ends it.
  function M.length(object)
    local d, n = data[object], 0
    while d.store[n + 1] ~= nil and not d.lazy[n + 1] do n = n + 1 end
    return n
  end

  -- Writing -------------------------------------------------------------------------------------

  local function store(object, key, value)
    local d = data[object]
    if d.store[key] == nil and value ~= nil then d.order[#d.order + 1] = key end
    d.store[key] = value
    -- An object that is no longer a key may be garbage.
    for i = value == nil and data[key] and #d.order or 0, 1, -1 do
      if rawequal(d.order[i], key) then table.remove(d.order, i) end
    end
  end

  -- Stores pairs of key and value as one change. `forced`: a change even if the values are the
  -- same. The third element of a pair is the member of a set, reported in place of its name.
  function M.commit(object, writes, forced)
    local changes = {}
    for i, write in ipairs(writes) do
      local key = write[1]
      changes[i] = {key = key, old = M.value_at(object, key), member = write[3]}
    end
    -- The paths before the change decide which watchers receive it.
    local heard = M.hear(object, changes, function()
      for i, write in ipairs(writes) do
        store(object, write[1], write[2])
        local change = changes[i]
        change.new = M.value_at(object, change.key)
        change.same = not forced and same(change.old, change.new)
      end
    end)
    return heard
  end

  -- Implements `object[key] = value`.
  function M.write(object, key, value)
    local d = data[object]
    if not d then
      object[key] = value
      return
    end
    if key == nil then error("table index is nil", 0) end
    if key ~= key then error("table index is NaN", 0) end
    if d.lazy[key] then return M.override(d.lazy[key], value) end
    if d.assign then return d.assign(object, key, value) end
    local handler = d.store[key] == nil and field(d.meta, "__newindex")
    if not handler then return M.commit(object, {{key, value}}) end
    -- L7: the user's `__newindex` writes; the old value is not known.
    if type(handler) == "function" then
      handler(object, key, value)
    else
      M.write(handler, key, value)
    end
    M.commit(object, {{key, d.store[key]}}, true)
  end

  -- A new object with these fields.
  function M.new(fields)
    local proxy = {}
    -- `order`: keys in the order of their insertion, so that nothing depends on hashes.
    local d = {store = {}, order = {}, lazy = {}, names = {}, watchers = {}}
    data[proxy] = d
    for key, value in next, fields do
      d.store[key] = value
      d.order[#d.order + 1] = key
    end
    return setmetatable(proxy, {
      __index = M.read, __newindex = M.write,
      __len = function(object)
        local length = field(d.meta, "__len")
        if length then return length(object) end
        M.track(object, M.SIZE)
        return d.size and d.size(object) or M.length(object)
      end,
      __gc = nil,
    })
  end

  -- Each stored key once, lists first, in order.
  function M.keys(object)
    local d, keys, seen = data[object], {}, {}
    for i = 1, M.length(object) do
      keys[i], seen[i] = i, true
    end
    for _, key in ipairs(d.order) do
      if d.store[key] ~= nil and not seen[key] and not d.lazy[key] then
        keys[#keys + 1], seen[key] = key, true
      end
    end
    return keys
  end

  -- The functions of Lua that look behind proxies ------------------------------------------------

  local function following(object, key)
    local keys = M.keys(object)
    if data[object].kind == "set" then keys = M.elements(object) end
    for name, property in next, data[object].lazy do
      if M.is_valid(property) and property.value ~= nil then keys[#keys + 1] = name end
    end
    if key == nil then return keys[1] end
    for i, other in ipairs(keys) do if rawequal(other, key) then return keys[i + 1] end end
  end
  local lua = {}
  M.lua = lua
  function lua.next(object, key)
    if not data[object] then return next(object, key) end
    M.track(object, M.EVERY)
    key = following(object, key)
    if key ~= nil then return key, lua.rawget(object, key) end
  end
  function lua.pairs(object)
    if not data[object] then return pairs(object) end
    return lua.next, object, nil
  end
  function lua.rawget(object, key)
    local d = data[object]
    if not d then return rawget(object, key) end
    M.track(object, key)
    if d.kind == "set" then
      for _, member in next, d.store do if M.same(member, key) then return member end end
      return nil
    end
    local property = d.lazy[key]
    if not property then return d.store[key] end
    if M.is_valid(property) then return property.value end
  end
  function lua.rawset(object, key, value)
    local d = data[object]
    if not d then return rawset(object, key, value) end
    if d.lazy[key] then M.override(d.lazy[key], value)
    elseif d.assign then d.assign(object, key, value)
    else M.commit(object, {{key, value}}) end
    return object
  end
  function lua.rawlen(object) return data[object] and M.length(object) or rawlen(object) end
  function lua.getmetatable(object)
    local d = data[object]
    if d then return d.meta end
    return getmetatable(object)
  end
  function lua.setmetatable(object, meta)
    local d = data[object]
    if not d then return setmetatable(object, meta) end
    if d.kind then error("cannot change the metatable", 0) end
    d.meta = meta
    setmetatable(d.store, field(meta, "__mode") and {__mode = field(meta, "__mode")} or nil)
    if field(meta, "__gc") then
      local own = getmetatable(object)
      own.__gc = function()
        local finalize = field(d.meta, "__gc")
        if finalize then finalize(object) end
        M.revive(object)
      end
      setmetatable(object, own)
    end
    return object
  end
end
