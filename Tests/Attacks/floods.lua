-- Each attack needs more memory than the limit, in Lua or in Swift, also in `pcall`. The system
-- gives the process little more.
local obs = require "obs"
local t = { v = 1 }
local function nop() end

--- text
local s = "x"
while true do s = s .. s end
--- rep
local s = ("x"):rep(1 << 30)
--- tables
local l = {}
for i = 1, math.huge do l[i] = {} end
--- coroutines
local l = {}
for i = 1, math.huge do l[i] = coroutine.create(nop) end
--- watchers
local l = {}
for i = 1, math.huge do l[i] = obs.observe(t, "v", nop) end
--- observed-tables
local l = {}
for i = 1, math.huge do
  l[i] = { v = 1 }
  obs.observe(l[i], "v", nop)
end
--- computed
local l = {}
for i = 1, math.huge do
  l[i] = { v = 1 }
  obs.computed(l[i], "w", nop)
end
--- timers
for i = 1, math.huge do obs.after(i, nop) end
--- tasks
for _ = 1, math.huge do obs.task(function() obs.sleep(1000) end) end
--- next-turns
for _ = 1, math.huge do obs.next_turn(nop) end
--- long-path
obs.get(t, ("a."):rep(5000000) .. "b")
--- observed-paths
for i = 1, math.huge do obs.observe(t, "a.b.c.d.e.f.g" .. i, nop) end
--- read-paths
for i = 1, math.huge do obs.get(t, "v" .. i .. (".a"):rep(100)) end
--- edits
local a = obs.array {}
obs.observe_edits(a, nop)
for i = 1, math.huge do a:append(i) end
--- paths
local l = {}
for i = 1, math.huge do l[i] = obs.path("a", i) end
