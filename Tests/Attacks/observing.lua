-- Watchers, turns, timers, and what describes them. Each is stopped by the limit of time.
local obs = require "obs"
local function nop() end
local function self(i) return i end
local function big(n, f)
  local list = {}
  for i = 1, n do list[i] = f(i) end
  return list
end

--- describe
local t = {}
for i = 1, 9000 do obs.observe(t, "v" .. i, nop) end
while true do obs.describe(t) end
--- flush-wide
local t = { v = 0 }
for _ = 1, 9000 do obs.observe(t, "v", nop) end
while true do
  t.v = t.v + 1
  obs.flush()
end
--- graph
local t = {}
for i = 1, 9000 do obs.observe(t, "v" .. i, nop) end
while true do obs.graph(t) end
--- hooks
local t = {}
obs.on_observed(t, nop)
while true do obs.observe(t, "v", nop):stop() end
--- immediate-wide
local t = { v = 0 }
for _ = 1, 9000 do obs.observe(t, "v", nop, { immediate = true }) end
while true do t.v = t.v + 1 end
--- links-flush
local t = {}
for _ = 1, 2000 do obs.observe(t, "list.*.x", function() end) end
local big = {}
for i = 1, 20000 do big[i] = {} end
t.list = big
obs.flush()
while true do obs.flush() end
--- log
obs.log(nop)
local t = { v = 1 }
obs.observe(t, "v", nop)
while true do
  t.v = t.v + 1
  obs.flush()
end
--- observed-garbage
while true do for _ = 1, 1000 do obs.observe({ v = 1 }, "v", nop) end end
--- observed-keys
local t = {}
for i = 1, 9000 do obs.observe(t, "v" .. i, nop) end
while true do obs.observed_keys(t) end
--- path-deep
local t = {}
local d = t
for _ = 1, 90 do
  d.a = {}
  d = d.a
end
local path = ("a."):rep(89) .. "a"
while true do obs.observe(t, path, nop):stop() end
--- raw
local t = { l = big(300000, self) }
while true do obs.raw(t) end
--- raw-cycle
local t = {}
t.t = t
while true do obs.raw(t) end
--- raw-deep
local t = {}
for _ = 1, 100000 do t = { t } end
while true do obs.raw(t) end
--- retrigger
local t = { v = 0 }
obs.observe(t, "v", function(t)
  for _ = 1, 1000 do t.v = t.v + 1 end
end)
obs.observe(t, "v", function(t) t.v = t.v + 1 end)
t.v = 1
while true do obs.flush() end
--- scope
while true do
  obs.scope(function() for _ = 1, 100 do obs.observe({ v = 1 }, "v", nop) end end):stop()
end
--- skipped-finalizers
local function make() for _ = 1, 100 do obs.observe({ a = 1 }, "a", function() end) end end
local function deep() if not pcall(deep) then for i = 1, 3000 do local t = { i } end end end
while true do
  make()
  deep()
  obs.flush()
end
--- stats
while true do obs.stats() end
--- tasks
while true do obs.task(nop) end
--- timers
for _ = 1, 900 do obs.after(1000, nop) end
while true do obs.after(1, nop):stop() end
--- trigger
local t = { v = 1 }
obs.observe(t, "v", nop)
while true do obs.trigger(t, "v") end
--- why
obs.record(true)
local t = { v = 1 }
local w = obs.observe(t, "v", nop)
while true do
  t.v = t.v + 1
  obs.flush()
  obs.why(w)
end
--- whynot
obs.record(true)
local w = obs.observe({ v = 1 }, "v", nop)
while true do obs.whynot(w) end
