-- Figures of mirrors, with a server of its own:
--   obs-lua mirror.lua PORT          all parts
--   obs-lua mirror.lua PORT PART …   one part, as the program starts itself
local obs = require "obs"

local port, part = arg[1], arg[2]
local url = "redis://127.0.0.1:" .. port
local program = ("'%s' '%s' %s "):format(arg[-1], arg[0], port)

local function clock() return obs.now() end

local function many(count)
  local objects = {}
  for i = 1, count do objects[i] = { id = i, name = "object " .. i, value = 0 } end
  return { objects = objects }
end

local parts = {}

-- The processor time of a turn with one written leaf, without and with a mirror.
function parts.writer(count)
  local root = many(10000)
  obs.observe(root, "objects.*.value", function() end)
  local mirror = count ~= "0" and obs.mirror(root, "writer", { url = url })
  obs.task(function()
    if mirror then mirror:synced() end
    local began = os.clock()
    for i = 1, 20000 do
      local object = root.objects[i % 10000 + 1]
      object.value = object.value + 1
      if mirror and i % 100 == 0 then mirror:synced() else obs.sleep(0) end
    end
    print((os.clock() - began) / 20000 * 1e6)
    if mirror then
      mirror:synced()
      mirror:stop()
    end
  end)
end

-- The processor time that a follower spends on those turns.
function parts.follower()
  local root = {}
  local mirror = obs.mirror(root, "writer", { url = url, write = false })
  obs.task(function()
    mirror:synced()
    local before, began = mirror.version, os.clock()
    while mirror.version - before < 15000 do obs.next_change(mirror, "version") end
    print((os.clock() - began) / 15000 * 1e6)
    mirror:stop()
  end)
end

-- Turns per second with a wait for each acknowledgement, and without.
function parts.turns(count)
  local root = { n = 0 }
  local mirror = obs.mirror(root, "turns", { url = url })
  obs.task(function()
    mirror:synced()
    local began, waits = clock(), count == "1"
    for i = 1, 20000 do
      root.n = i
      if waits then mirror:synced() else obs.sleep(0) end
      if waits and i == 5000 then break end
    end
    mirror:synced()
    print((waits and 5000 or 20000) / (clock() - began))
    mirror:stop()
  end)
end

-- The time from a write to a watcher in another process and back, halved.
function parts.echo()
  local root = {}
  local mirror = obs.mirror(root, "latency", { url = url })
  obs.observe(root, "ping", function() root.pong = root.ping end)
  obs.observe(root, "done", function() mirror:stop() end)
end

function parts.latency()
  local root = { ping = 0, pong = 0 }
  local mirror = obs.mirror(root, "latency", { url = url })
  obs.task(function()
    mirror:synced()
    local echo = io.popen(program .. "echo", "w")
    local times = {}
    obs.sleep(1)
    for i = 1, 1000 do
      local began = clock()
      root.ping = i
      obs.next_change(root, "pong")
      times[i] = (clock() - began) / 2
    end
    table.sort(times)
    print(times[500] * 1e3)
    root.done = true
    mirror:synced()
    mirror:stop()
    echo:close()
  end)
end

-- Joining a tree of 100,000 objects.
function parts.publish()
  local mirror = obs.mirror(many(100000), "large", { url = url })
  obs.task(function()
    mirror:synced()
    mirror:stop()
  end)
end

function parts.join()
  local mirror = obs.mirror({}, "large", { url = url, write = false })
  local began = clock()
  obs.task(function()
    mirror:synced()
    print(clock() - began)
    mirror:stop()
  end)
end

if part then return parts[part](table.unpack(arg, 3)) end

local function run(name, ...)
  local pipe = io.popen(program .. name .. " " .. table.concat({ ... }, " "))
  local value = tonumber(pipe:read "l")
  pipe:close()
  return value
end

local plain = run("writer", 0)
local writer = io.popen(program .. "writer 1")
local follower = run "follower"
print(("engine time per turn, writer: %.0f µs more than without a mirror"):format(
  tonumber(writer:read "l") - plain))
print(("engine time per turn, follower: %.0f µs"):format(follower))
print(("turns per second, waiting for each acknowledgement: %.0f"):format(run("turns", 1)))
print(("turns per second, not waiting: %.0f"):format(run("turns", 0)))
print(("write to remote watcher, p50: %.2f ms"):format(run "latency"))
os.execute(program .. "publish")
print(("joining 100,000 objects: %.2f s"):format(run "join"))
