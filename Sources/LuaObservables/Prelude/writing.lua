-- Stored values of objects, and writes that can be taken back: a slice of the module `obs`.
--
-- Metamethods of scripts do not interfere. Several writes are made as one batch; if one fails, the
-- previous ones are taken back.
local core, obs = ...

local error, getmetatable, ipairs, next, pcall, rawget, rawset, type =
  error, getmetatable, ipairs, next, pcall, rawget, rawset, type
local insert, remove = table.insert, table.remove
local begin_batch, begin_exempt, call_plainly, end_batch, end_exempt =
  core.begin_batch, core.begin_exempt, core.call_plainly, core.end_batch, core.end_exempt
local has_stored, identical, kind_of, model_of, poll, trees, check_written =
  core.has_stored, core.identical, core.kind, core.model_of, core.poll, core.trees, core.written
local are_lists, contents, differing_keys, host_value, list_length, number_type, plain, same =
  trees.are_lists, trees.contents, trees.differing_keys, trees.host_value, trees.list_length,
  trees.number_type, trees.plain, trees.same

-- The value stored in the object itself.
local function stored(object, key)
  local kind = kind_of(object)
  if kind == "set" then return nil end
  if type(object) == "userdata" then
    if kind == "array" then
      if number_type(key) ~= "integer" then return nil end
    elseif not kind and not has_stored(object, key) then
      return nil
    end
    return host_value(object, key)
  end
  if key ~= key then return nil end
  if not kind and core.derived_keys(object)[key] then return nil end
  return rawget(object, key)
end

local function is_plainly_stored(object)
  return type(object) == "table" and kind_of(object) == nil and not model_of(object)
    and getmetatable(object) ~= nil
end

--- Stores a value under a key of an object, or removes the key.
local function put(object, key, value)
  -- Metamethods of scripts must not change the stored value.
  if is_plainly_stored(object) then rawset(object, key, value) else object[key] = value end
end

-- Whether the functions of `table` just move the elements behind a position: the list has no hole
-- there, and no metamethod affects its length or its values. Costs as much as the move.
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

local function add_member(set, member) set:add(member) end
local function remove_member(set, member) set:remove(member) end

-- Changes the contents of an object from `from` to `to` by assigning the differences. With
-- `has_elements`, the elements of a list are already as in `to`. Each assignment is made by
-- `try(function, …)`.
local function assign_contents(try, object, from, to, has_elements)
  if from.kind == "set" then
    for member in next, from.map do
      if not to.map[member] then try(remove_member, object, member) end
    end
    for member in next, to.map do
      if not from.map[member] then try(add_member, object, member) end
    end
    return
  end
  local length = nil
  if are_lists(from, to) then
    length = from.n > to.n and from.n or to.n
    if not has_elements then
      local shorter = from.n < to.n and from.n or to.n
      for i = 1, shorter do
        if not same(from.map[i], to.map[i]) then try(put, object, i, plain(to.map[i])) end
      end
      for i = from.n, shorter + 1, -1 do try(put, object, i, nil) end
      for i = shorter + 1, to.n do try(put, object, i, plain(to.map[i])) end
    end
  end
  for _, key in ipairs(differing_keys(from.map, to.map, length)) do
    try(put, object, key, plain(to.map[key]))
  end
end

-- The kinds of writes. Each first adds a function to `undo`, if given, that takes the write back,
-- as a limit may stop the write at any step. That function does nothing if nothing was written.
local perform = {}

function perform.set(write, undo)
  local object, key = write.object, write.key
  if undo then
    local old = plain(stored(object, key))
    undo[#undo + 1] = function()
      if not identical(plain(stored(object, key)), old) then put(object, key, old) end
    end
  end
  put(object, key, write.value)
end

-- Edits a list without limits: a stop halfway would leave some elements moved and others not.
local function edit(undo, make, back)
  local is_made = false
  if undo then
    undo[#undo + 1] = function()
      if is_made then back() end
    end
  end
  begin_exempt()
  local message
  is_made, message = pcall(make)
  end_exempt()
  if not is_made then error(message, 0) end
end

function perform.insert(write, undo)
  local list, position = write.object, write.key
  edit(undo, function() put_in(list, position, write.value) end,
    function() take_out(list, position) end)
end

function perform.remove(write, undo)
  local list, position, value = write.object, write.key, nil
  edit(undo, function() value = take_out(list, position) end,
    function() put_in(list, position, value) end)
end

function perform.move(write, undo)
  local list, from, to = write.object, write.from, write.key
  edit(undo, function() bring(list, from, to) end, function() bring(list, to, from) end)
end

function perform.contents(write, undo, try)
  local object, has_elements, from, to = write.object, write.key, write.from, write.value
  if undo then
    undo[#undo + 1] = function() assign_contents(pcall, object, to, from, has_elements) end
  end
  assign_contents(try, object, from, to, has_elements)
end

function perform.add(write, undo)
  local set, member = write.object, write.value
  if undo and not set:contains(member) then
    undo[#undo + 1] = function() set:remove(member) end
  end
  set:add(member)
end

function perform.drop(write, undo)
  local set, member = write.object, write.value
  if undo and set:contains(member) then undo[#undo + 1] = function() set:add(member) end end
  set:remove(member)
end

-- Whether an error says that time or memory ran out.
local function is_of_limit(failure)
  return type(failure) == "userdata" or failure == "not enough memory"
end

local function call(body, ...) body(...) end

-- Makes writes, each by `try(function, …)`. `undo` also gets the number of the current change.
local function make(writes, try, undo)
  for i = 1, #writes do
    -- A stop for time is raised here, outside `try`, so it does not count as a failed write.
    poll()
    local write = writes[i]
    if undo then undo.number, undo.write = write.number, write end
    try(perform[write.kind], write, undo, try)
  end
  poll()
end

-- Returns two functions. The first calls a function and counts failures; with `undo`, it raises the
-- error of a limit. The second returns the count, the first failure, and the write of `undo` that
-- failed first.
local function counting(undo)
  local failures, first, write = 0, nil, nil
  local function try(...)
    local ok, failure = pcall(...)
    if ok then return end
    if undo and is_of_limit(failure) then error(failure, 0) end
    if undo and failures == 0 then first, write = failure, undo.write end
    failures = failures + 1
  end
  return try, function() return failures, first, write end
end

-- Makes the writes, and then calls `finish`, if given. If one fails, the previous ones are taken
-- back, and the number of the change and the error are returned; the error of a limit is raised.
-- With `force`, failing writes are left out. Then nil, their count, the first failure, and its
-- write are returned.
local function written(writes, force, finish)
  local undo, try, failures = { number = 0 }, call, nil
  if force then try, failures = counting(undo) end
  local ok, failure = pcall(make, writes, try, undo)
  if ok and finish then ok, failure = pcall(finish) end
  if ok then
    if failures then return nil, failures() end
    return nil, 0
  end
  begin_exempt()
  for i = #undo, 1, -1 do pcall(undo[i]) end
  end_exempt()
  if is_of_limit(failure) then error(failure, 0) end
  return undo.number, failure
end

-- Makes writes that are not taken back, and returns the number of failures.
local function restore(writes)
  local try, failures = counting()
  make(writes, try)
  return failures()
end

--- Runs a function as one batch, and returns its results.
local function in_batch(body, ...)
  begin_batch()
  local ok, first, second, third, fourth = pcall(call_plainly, body, ...)
  end_batch()
  check_written(ok, first)
  return first, second, third, fourth
end

trees.stored, trees.put = stored, put
trees.written, trees.restore, trees.in_batch = written, restore, in_batch

return obs
