-- Writes and deliveries. The limits in ns apply to a machine that writes to a plain table in 4 ns,
-- so here they are multiples of such a write.
package.path = arg[0]:gsub("[^/]*$", "") .. "lib/?.lua;" .. package.path
local bench = require "bench"
local obs = require "obs"

local calls = 0
local function count() calls = calls + 1 end
local flush, observe = obs.flush, obs.observe

-- A peer in plain Lua: a signal with a list of listeners and a queue, coalesced by a flag.
local function signal(value)
  local self = { value = value, listeners = {} }
  return self
end
local queue, queued = {}, 0
local function set(self, value)
  if self.value == value then return end
  self.value = value
  for i = 1, #self.listeners do
    local listener = self.listeners[i]
    if not listener.pending then
      listener.pending = true
      queued = queued + 1
      queue[queued] = listener
    end
  end
end
local function run_queue()
  for i = 1, queued do
    local listener = queue[i]
    queue[i] = nil
    listener.pending = false
    listener.call(listener)
  end
  queued = 0
end

local plain = { x = 0 }
local one = { x = 0 }
observe(one, "x", count)
local peer = signal(0)
peer.listeners[1] = { call = count }

bench.row("delivery: plain write", 2000000, nil, function(n)
  local t = plain
  for i = 1, n do t.x = i end
end)
bench.row("delivery: a Lua signal, set and delivered (peer)", 500000, nil, function(n)
  for i = 1, n do
    set(peer, i)
    run_queue()
  end
end)
bench.row("delivery: write and call of an empty callback", 200000, "50 * delivery: plain write",
  function(n)
    local t, before = one, calls
    for i = 1, n do
      t.x = i + before
      flush()
    end
  end)

local root = { address = { city = { zip = 0 } } }
observe(root, "address.city.zip", count)
local a, b = { zip = 1 }, { zip = 2 }
bench.row("delivery: leaf of a path of 3, written and delivered", 200000,
  "50 * delivery: plain write",
  function(n)
    local leaf, before = root.address.city, calls
    for i = 1, n do
      leaf.zip = i + before
      flush()
    end
  end)
bench.row("delivery: middle of a path of 3, replaced and delivered", 100000,
  "125 * delivery: plain write",
  function(n)
    local address = root.address
    for i = 1, n do
      address.city = i % 2 == 0 and a or b
      flush()
    end
  end)

local tables = {}
for i = 1, 10000 do
  tables[i] = { v = 0 }
  observe(tables[i], "v", count)
end
local round = 0
bench.row("delivery: each of 10,000 tables written, one flush", 10000 * 5,
  "50 * delivery: plain write",
  function(n)
    for _ = 1, math.max(1, n // 10000) do
      round = round + 1
      local before = calls
      for i = 1, 10000 do tables[i].v = round end
      flush()
      assert(calls == before + 10000)
    end
  end)
bench.run()

local empty = function() end
local target = { x = 0, y = 0 }
observe(target, "x", empty)
bench.row("registering: plain write", 2000000, nil, function(n)
  local t = plain
  for i = 1, n do t.x = i end
end)
bench.row("registering: observe and stop, one key", 50000, "125 * registering: plain write",
  function(n)
    for _ = 1, n do observe(target, "y", empty):stop() end
  end)
bench.row("registering: observe and stop, a path of 3", 50000, "375 * registering: plain write",
  function(n)
    for _ = 1, n do observe(root, "address.city.zip", empty):stop() end
  end)
bench.run()
