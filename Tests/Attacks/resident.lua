-- Each attack runs out of 32 MB, and the process uses little more, because intermediate results are
-- counted. An undo makes a copy that is not counted, because it must be possible without free
-- memory.
local obs = require "obs"
local function nop() end
local most = 80 -- MB of the process

local function fill(object, write)
  local _, message = obs.transaction({ object }, function()
    for i = 1, math.huge do write(object, i) end
  end)
  error(message, 0)
end

local function long_names()
  local t, name = {}, ("x"):rep(1 << 14)
  for i = 1, 2000 do obs.observe(t, "k" .. i, nop, { name = name }) end
  return t
end

--- paths
local t = {}
for i = 1, math.huge do t[i] = obs.path("a", "b", i) end
--- watchers
for i = 1, math.huge do
  obs.observe({ x = 1 }, "x", nop, { on_end = nop, name = ("n"):rep(100) .. i })
end
--- graph
obs.graph(long_names())
error "the text had room"
--- describe
obs.describe(long_names())
error "the text had room"
--- undo-set
most = 100
fill(obs.set_of {}, function(set, i) set:add(i) end)
--- undo-dictionary
most = 100
fill(obs.dictionary {}, function(dictionary, i) dictionary["k" .. i] = i end)
--- undo-table
most = 100
fill({}, function(t, i) t["k" .. i] = i end)
--- undo-list
most = 100
fill({}, function(t, i) t[i] = i end)
--- undo-array
most = 100
fill(obs.array {}, function(array, i) array:append(i) end)
