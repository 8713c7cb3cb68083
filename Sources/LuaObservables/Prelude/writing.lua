-- What is stored in objects, and writes to it that can be taken back: a slice of the module `obs`.
--
-- Metamethods of scripts have no say in it. Several writes are made as one batch; where one of them
-- fails, those before it are taken back.
local core, obs = ...

local error, getmetatable, next, pcall, rawget, rawset, type =
  error, getmetatable, next, pcall, rawget, rawset, type
local insert, remove = table.insert, table.remove
local kind_of, trees = core.kind, core.trees
local contents, host_value, list_length, number_type, plain, same =
  trees.contents, trees.host_value, trees.list_length, trees.number_type, trees.plain,
  trees.same

-- What is stored in an object itself.
local function stored(object, key)
  local kind = kind_of(object)
  if kind == "set" then return nil end
  if type(object) == "userdata" then
    if kind == "array" then
      if number_type(key) ~= "integer" then return nil end
    elseif not kind and not core.has_stored(object, key) then
      return nil
    end
    return host_value(object, key)
  end
  if key ~= key then return nil end
  if not kind and core.derived_keys(object)[key] then return nil end
  return rawget(object, key)
end

local function is_plainly_stored(object)
  return type(object) == "table" and kind_of(object) == nil and not core.model_of(object)
    and getmetatable(object) ~= nil
end

--- Stores a value under a key of an object, or removes the key.
local function put(object, key, value)
  -- Metamethods of scripts have no say in what is stored.
  if is_plainly_stored(object) then rawset(object, key, value) else object[key] = value end
end

-- Whether the functions of `table` move what is behind a position, and nothing else: the list has
-- no hole there, and no metamethod a say in its length and in what is stored. It costs what moving
-- does.
local function is_list_from(list, position)
  if getmetatable(list) ~= nil or next(core.derived_keys(list)) ~= nil then return false end
  for i = position, #list do
    if rawget(list, i) == nil then return false end
  end
  return true
end

local function put_in(list, position, value)
  if kind_of(list) == "array" then return list:insert(position, value) end
  if is_list_from(list, position) then return insert(list, position, value) end
  local n = list_length(contents(list).map)
  for i = n, position, -1 do put(list, i + 1, rawget(list, i)) end
  put(list, position, value)
end

local function take_out(list, position)
  if kind_of(list) == "array" then return list:remove(position) end
  if is_list_from(list, position) then return remove(list, position) end
  local value, i = rawget(list, position), position
  while rawget(list, i) ~= nil do
    put(list, i, rawget(list, i + 1))
    i = i + 1
  end
  return value
end

local function bring(list, from, to)
  if kind_of(list) == "array" then return list:move(from, to) end
  put_in(list, to, take_out(list, from))
end

-- Makes a write, and returns the function that takes it back.
local perform = {}

function perform.set(object, key, value)
  local old = plain(stored(object, key))
  put(object, key, value)
  return function() put(object, key, old) end
end

function perform.insert(list, position, value)
  put_in(list, position, value)
  return function() take_out(list, position) end
end

function perform.remove(list, position)
  local value = take_out(list, position)
  return function() put_in(list, position, value) end
end

function perform.move(list, position, _, from)
  bring(list, from, position)
  return function() bring(list, position, from) end
end

-- Makes a list what contents say, by assigning each element that is another one.
local function assign_list(list, from, to)
  local last = from.n < to.n and from.n or to.n
  local failures, failure = 0, nil
  local function assign(position, value)
    local ok, message = pcall(put, list, position, value)
    if not ok then failures, failure = failures + 1, message end
  end
  for i = 1, last do
    if not same(from.map[i], to.map[i]) then assign(i, plain(to.map[i])) end
  end
  for i = from.n, last + 1, -1 do assign(i, nil) end
  for i = last + 1, to.n do assign(i, plain(to.map[i])) end
  if failures > 0 then error(failure, 0) end
end

function perform.list(list, _, to, from)
  assign_list(list, from, to)
  return function() assign_list(list, to, from) end
end

function perform.add(set, _, member)
  set:add(member)
  return function() set:remove(member) end
end

function perform.drop(set, _, member)
  set:remove(member)
  return function() set:add(member) end
end

-- Makes the writes; where one fails, those before it are taken back, unless `force` is set.
-- Returns the number of a change that failed and the error, or how many did.
local function written(writes, force)
  local undo, failures = {}, 0
  for i = 1, #writes do
    local write = writes[i]
    local ok, back =
      pcall(perform[write.kind], write.object, write.key, write.value, write.from)
    if ok then
      undo[#undo + 1] = back
    elseif force then
      failures = failures + 1
    else
      for k = #undo, 1, -1 do pcall(undo[k]) end
      return write.number, back
    end
  end
  return nil, failures
end

--- Runs a function as one batch, and gives what it returns.
local function in_batch(body, ...)
  core.begin_batch()
  local ok, first, second = pcall(core.call_plainly, body, ...)
  core.end_batch()
  core.written(ok, first)
  return first, second
end

trees.stored, trees.put, trees.put_in, trees.take_out, trees.bring =
  stored, put, put_in, take_out, bring
trees.written, trees.in_batch = written, in_batch

return obs
