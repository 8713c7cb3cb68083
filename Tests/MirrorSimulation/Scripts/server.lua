-- A server in memory, which answers the commands of mirrors as Redis does. `SimulatedServer` calls
-- the global functions.

local now, failure = 0, nil

-- Stores ----------------------------------------------------------------------------------------

-- The state of a server: keys, times of expiry, known scripts, and the append-only file, a list of
-- writing commands for each command of a client. `history` has all batches, also trimmed ones.
local function new_store()
  return { keys = {}, expiry = {}, scripts = {}, log = {}, history = {} }
end

local store = new_store()

local function version_of(id) return math.tointeger(tonumber(id:match "^%d+")) end

local reads = {
  GET = function(keys, key) return keys[key] or false end,
  STRLEN = function(keys, key) return #(keys[key] or "") end,
  GETRANGE = function(keys, key, from) return (keys[key] or ""):sub(from + 1) end,
  EXISTS = function(keys, ...)
    local count = 0
    for _, key in ipairs { ... } do count = count + (keys[key] and 1 or 0) end
    return count
  end,
  HGET = function(keys, key, field) return keys[key] and keys[key][field] or false end,
  HMGET = function(keys, key, ...)
    local values = { ... }
    for i = 1, #values do values[i] = keys[key] and keys[key][values[i]] or false end
    return values
  end,
  XRANGE = function(keys, key, id)
    local entry = keys[key] and keys[key].entries[version_of(id)]
    return { entry }
  end,
  ZCARD = function(keys, key)
    local count = 0
    for _ in pairs(keys[key] or {}) do count = count + 1 end
    return count
  end,
  TIME = function() return { tostring(now // 1 | 0), "0" } end,
}

local writes = {
  SET = function(keys, key, value) keys[key] = value return { ok = "OK" } end,
  APPEND = function(keys, key, value)
    keys[key] = (keys[key] or "") .. value
    return #keys[key]
  end,
  DEL = function(keys, ...)
    for _, key in ipairs { ... } do keys[key] = nil end
    return 1
  end,
  HSET = function(keys, key, ...)
    local pairs = { ... }
    keys[key] = keys[key] or {}
    for i = 1, #pairs, 2 do keys[key][pairs[i]] = pairs[i + 1] end
    return 1
  end,
  XADD = function(keys, key, id, ...)
    local stream = keys[key] or { first = 1, last = 0, entries = {} }
    local version = version_of(id)
    if version <= stream.last then error { err = "ERR The ID specified in XADD is too small" } end
    keys[key], stream.last, stream.entries[version] = stream, version, { id, { ... } }
    return id
  end,
  XTRIM = function(keys, key, _, _, id)
    local stream = keys[key]
    -- Redis trims whole blocks, here of four entries.
    while stream and stream.first + 4 <= version_of(id) do
      for version = stream.first, stream.first + 3 do stream.entries[version] = nil end
      stream.first = stream.first + 4
    end
    return 0
  end,
  ZADD = function(keys, key, score, member)
    keys[key] = keys[key] or {}
    keys[key][member] = score
    return 1
  end,
  ZREMRANGEBYSCORE = function(keys, key, _, most)
    for member, score in pairs(keys[key] or {}) do
      if tonumber(score) <= tonumber(most) then keys[key][member] = nil end
    end
    return 0
  end,
}

local need_memory = { SET = true, APPEND = true, HSET = true, XADD = true, ZADD = true }

-- Makes a writing command in a store: when it is sent, and again from the append-only file.
local function write(store, name, key, ...)
  local result = writes[name](store.keys, key, ...)
  if name == "XADD" then store.history[version_of((...))] = { select(2, ...) } end
  if name == "HSET" and ... == "epoch" then store.history = {} end
  return result
end

-- Commands ----------------------------------------------------------------------------------------

-- Runs one command of a script or a client. Commands that write are added to `group`.
local function run(store, group, name, ...)
  local args = { ... }
  for i = 1, #args do args[i] = tostring(args[i]) end
  if reads[name] then return reads[name](store.keys, table.unpack(args)) end
  if name == "EXPIRE" then
    store.expiry[args[1]] = now + tonumber(args[2])
    return 1
  end
  if not writes[name] then error { err = "ERR unknown command '" .. name .. "'" } end
  if failure == "disk" then error { err = "MISCONF Errors writing to the AOF file" } end
  if failure == "memory" and need_memory[name] then
    error { err = "OOM command not allowed when used memory > 'maxmemory'." }
  end
  group[#group + 1] = table.pack(name, table.unpack(args))
  return write(store, name, table.unpack(args))
end

-- The names of all scripts that any server was given: a hash in Redis.
local script_names, script_count = {}, 0

local function load_script(store, text)
  if not script_names[text] then
    script_count = script_count + 1
    script_names[text] = ("%040x"):format(script_count)
  end
  local env = { tonumber = tonumber, tostring = tostring, string = string }
  store.scripts[script_names[text]] = { env = env, body = assert(load(text, "=script", "t", env)) }
  return script_names[text]
end

local function run_script(store, group, name, key_count, ...)
  local script = store.scripts[name]
  if not script then error { err = "NOSCRIPT No matching script. Please use EVAL." } end
  local function call(...) return run(store, group, ...) end
  script.env.KEYS = { table.unpack({ ... }, 1, key_count) }
  script.env.ARGV = { select(key_count + 1, ...) }
  script.env.redis = {
    call = call,
    pcall = function(...)
      local ok, result = pcall(call, ...)
      return result
    end,
  }
  return script.body()
end

local function entries_after(store, key, version, count)
  local stream, found = store.keys[key], {}
  for v = version + 1, stream and stream.last or 0 do
    if #found == count then break end
    found[#found + 1] = stream.entries[v]
  end
  return #found > 0 and { { key, found } }
end

-- Replies -----------------------------------------------------------------------------------------

local function encode(value)
  if not value then return "$-1\r\n" end
  if type(value) == "number" then return (":%d\r\n"):format(value) end
  if type(value) == "string" then return ("$%d\r\n%s\r\n"):format(#value, value) end
  if value.ok then return "+" .. value.ok .. "\r\n" end
  if value.err then return "-" .. value.err .. "\r\n" end
  local parts = { ("*%d\r\n"):format(#value) }
  for i = 1, #value do parts[i + 1] = encode(value[i]) end
  return table.concat(parts)
end

-- Clients -----------------------------------------------------------------------------------------

-- Clients by number: the store, the bytes that are not a whole command yet, and the blocked read.
local clients, last_client = {}, 0

local info = "redis_version:7.0.15\r\nloading:0\r\naof_enabled:1\r\nmaxmemory:0\r\n"

local function execute(client, args)
  local name, store = args[1], client.store
  if name == "AUTH" or name == "SELECT" then return "+OK\r\n" end
  if name == "INFO" then return encode(info) end
  if name == "SCRIPT" then return encode(load_script(store, args[3])) end
  if name == "XREAD" then
    local block = args[4] == "BLOCK" and tonumber(args[5]) / 1000
    local read = { key = args[#args - 1], after = version_of(args[#args]),
      count = tonumber(args[3]), till = now + (block or 0) }
    local found = entries_after(store, read.key, read.after, read.count)
    if found or not block then return found and encode(found) or "*-1\r\n" end
    client.blocked = read
    return ""
  end
  local group = {}
  local ok, result = pcall(function()
    if name == "EVALSHA" then
      return run_script(store, group, args[2], math.tointeger(args[3]), table.unpack(args, 4))
    end
    return run(store, group, table.unpack(args))
  end)
  if #group > 0 then store.log[#store.log + 1] = group end
  if not ok and type(result) ~= "table" then error(result, 0) end
  return encode(result)
end

-- The next whole command in the bytes of a client.
local function next_command(client)
  local bytes = client.bytes
  local count, place = bytes:match "^%*(%d+)\r\n()"
  if not count then return end
  local args = {}
  for i = 1, tonumber(count) do
    local length, start = bytes:match("^%$(%d+)\r\n()", place)
    if not length or #bytes < start + length + 1 then return end
    args[i] = bytes:sub(start, start + length - 1)
    place = math.tointeger(start + length + 2)
  end
  client.bytes = bytes:sub(place)
  return args
end

-- Runs all commands that can run. Returns the numbers of clients, each with the bytes that it gets.
local function proceed()
  local out, is_done = {}, false
  while not is_done do
    is_done = true
    for number = 1, last_client do
      local client = clients[number]
      local read, reply = client and client.blocked, nil
      if read then
        local found = entries_after(client.store, read.key, read.after, read.count)
        reply = found and encode(found) or now >= read.till and "*-1\r\n"
        if reply then client.blocked = nil end
      elseif client then
        local args = next_command(client)
        reply = args and execute(client, args)
      end
      if reply then
        is_done = false
        out[#out + 1], out[#out + 2] = number, reply
      end
    end
  end
  return table.unpack(out)
end

--- Takes bytes of a client.
function feed(number, bytes)
  clients[number] = clients[number] or { store = store, bytes = "" }
  clients[number].bytes = clients[number].bytes .. bytes
  last_client = math.max(last_client, number)
  return proceed()
end

function drop(number) clients[number] = nil end

--- Lets time pass.
function pass(seconds)
  now = now + seconds
  for key, till in pairs(store.expiry) do
    if till <= now then store.keys[key], store.expiry[key] = nil, nil end
  end
  return proceed()
end

--- Makes a server with the data of a replica or of the append-only file: without the last `missing`
--- commands, but with all up to the one that published the tree.
function replace(missing)
  local former, published = store, 0
  for i, group in ipairs(store.log) do
    for _, command in ipairs(group) do
      if command[1] == "HSET" and command[3] == "epoch" then published = i end
    end
  end
  store = new_store()
  for i = 1, math.max(published, #former.log - missing) do
    store.log[i] = former.log[i]
    for _, command in ipairs(former.log[i]) do
      write(store, table.unpack(command, 1, command.n))
    end
  end
end

--- Removes the keys of a kind to get memory. Replicas and the append-only file learn of it.
function evict(kind)
  for key in pairs(store.keys) do
    if key:find("obs:{tree}:" .. kind, 1, true) == 1 then
      write(store, "DEL", key)
      store.log[#store.log + 1] = { table.pack("DEL", key) }
    end
  end
end

--- Sets what the server lacks: "memory", "disk", or nothing.
function fail(what) failure = what ~= "" and what or nil end

--- Adds a batch that nobody has sent.
function add_batch(prefix, version, bytes)
  local text = tostring(version)
  write(store, "XADD", prefix .. "s", text .. "-1", "w", "someone", "n", text, "m", "", "b", bytes)
  write(store, "HSET", prefix .. "m", "v", text)
end

--- The number of batches that the server knows of, and the batches of all processes as their texts.
--- The number is -1 if the server does not have the tree, or lacks a part of it.
function version()
  local v = math.tointeger(reads.HGET(store.keys, "obs:{tree}:m", "v") or -1)
  local parts = v == 0 and { "d" } or { "d", "s", "w" }
  for _, kind in ipairs(parts) do v = store.keys["obs:{tree}:" .. kind] and v or -1 end
  return v
end
function batches()
  local found = {}
  for v = 1, version() do
    local entry = store.history[v]
    found[v] = entry and entry[8] or ""
  end
  return table.unpack(found)
end

--- Returns the size of all keys in bytes. First drops the log and the history, which only the
--- simulation keeps.
function size()
  store.log, store.history = {}, {}
  collectgarbage()
  local count = 0
  local function add(value)
    if type(value) == "table" then
      for key, inner in pairs(value) do
        add(key)
        add(inner)
      end
    else
      count = count + #tostring(value)
    end
  end
  add(store.keys)
  return count
end

function snapshot_version() return reads.HGET(store.keys, "obs:{tree}:m", "at") or "0" end
