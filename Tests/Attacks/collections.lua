-- Collections and operators. Each is stopped by the limit of time.
local obs = require "obs"
local function nop() end
local function self(i) return i end
local function big(n, f)
  local list = {}
  for i = 1, n do list[i] = f(i) end
  return list
end

--- array
while true do obs.array(big(100000, self)) end
--- array-insert
local a = obs.array(big(300000, self))
while true do a:insert(1, 1) end
--- array-reverse
local a = obs.array(big(300000, self))
while true do a:reverse() end
--- array-sort
local a = obs.array(big(300000, function(i) return i ~ 0x5555 end))
while true do a:sort(function(x, y) return x < y end) end
--- array-sort-plain
local a = obs.array(big(200000, function(i) return i ~ 0x5555 end))
while true do a:sort() end
--- assign
local a, b = big(200000, self), {}
obs.observe(b, "*", nop)
while true do
  obs.assign(b, a)
  obs.clear(b)
end
--- clear
while true do
  local t = big(300000, self)
  obs.observe(t, "*", nop)
  obs.clear(t)
end
--- edits
local t = big(100000, self)
obs.observe_edits(t, nop)
while true do
  t[#t + 1] = 1
  table.sort(t)
  obs.flush()
end
--- every-get
local t = { l = big(100000, function(i) return { x = i } end) }
while true do obs.get(t, "l.@sum.x") end
--- every-observe
local t = { l = big(60000, function(i) return { x = i } end) }
while true do obs.observe(t, "l.*.x", nop) end
--- index-of
local a = obs.array(big(1000000, self))
while true do a:index_of(-1) end
--- list-insert
local t = big(500000, self)
obs.observe(t, "*", nop)
while true do table.insert(t, 1, 1) end
--- set
while true do obs.set_of(big(100000, self)) end
--- sum-observe
local t = { l = big(60000, function(i) return { x = i } end) }
while true do obs.observe(t, "l.@sum.x", nop) end
--- union-get
local t = { l = big(50000, function(i) return { x = i } end) }
while true do obs.get(t, "l.@distinctUnionOfObjects.x") end
