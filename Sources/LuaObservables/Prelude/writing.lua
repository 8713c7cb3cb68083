-- What is stored in objects, and writes to it that can be taken back: a slice of the module `obs`.
--
-- Metamethods of scripts have no say in it. Several writes are made as one batch; where one of them
-- fails, those before it are taken back.
local core, obs = ...

local getmetatable, ipairs, next, pcall, rawget, rawset, type =
  getmetatable, ipairs, next, pcall, rawget, rawset, type
local insert, remove = table.insert, table.remove
local kind_of, trees = core.kind, core.trees
local are_lists, contents, differing_keys, host_value, list_length, number_type, plain, same =
  trees.are_lists, trees.contents, trees.differing_keys, trees.host_value, trees.list_length,
  trees.number_type, trees.plain, trees.same

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

-- Makes a write, and returns the function that takes it back; where the write is several
-- assignments, also how many failed, and the error of one.
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

local function add_member(set, member) set:add(member) end
local function remove_member(set, member) set:remove(member) end

-- Turns the contents `from` of an object into `to`, by assigning what differs. `has_elements`: the
-- elements of a list are as they should be already. Returns how many assignments failed, and the
-- last error.
local function assign_contents(object, from, to, has_elements)
  local failures, failure = 0, nil
  local function try(write, ...)
    local ok, message = pcall(write, object, ...)
    if not ok then failures, failure = failures + 1, message end
  end
  if from.kind == "set" then
    for member in next, from.map do
      if not to.map[member] then try(remove_member, member) end
    end
    for member in next, to.map do
      if not from.map[member] then try(add_member, member) end
    end
    return failures, failure
  end
  local length = nil
  if are_lists(from, to) then
    length = from.n > to.n and from.n or to.n
    if not has_elements then
      local shorter = from.n < to.n and from.n or to.n
      for i = 1, shorter do
        if not same(from.map[i], to.map[i]) then try(put, i, plain(to.map[i])) end
      end
      for i = from.n, shorter + 1, -1 do try(put, i, nil) end
      for i = shorter + 1, to.n do try(put, i, plain(to.map[i])) end
    end
  end
  for _, key in ipairs(differing_keys(from.map, to.map, length)) do
    try(put, key, plain(to.map[key]))
  end
  return failures, failure
end

function perform.contents(object, has_elements, to, from)
  local failures, failure = assign_contents(object, from, to, has_elements)
  local function back() assign_contents(object, to, from, has_elements) end
  return back, failures, failure
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
    local ok, back, failed, failure =
      pcall(perform[write.kind], write.object, write.key, write.value, write.from)
    if not ok then back, failed, failure = nil, 1, back end
    if force then
      failures = failures + (failed or 0)
    else
      undo[#undo + 1] = back
      if failure ~= nil then
        -- What a script is stopped for must not end this.
        core.begin_exempt()
        for k = #undo, 1, -1 do pcall(undo[k]) end
        core.end_exempt()
        return write.number, failure
      end
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
