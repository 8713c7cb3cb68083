-- Nodes that Lua frees without room for a nested call, so that it skips finalizers.
--
--     driver skipped.lua [first seed [last seed]]
local obs = require "obs"
local core = obs.core
local first, last = tonumber(arg[1] or 1), tonumber(arg[2] or 200)

-- Runs `body` where Lua skips finalizers.
local function at_the_limit(body)
  collectgarbage "stop"
  local function deep() if not pcall(deep) then body() end end
  deep()
  collectgarbage "restart"
end

local function nothing() end
local classes = {}

local function make(kept)
  local t = {}
  if math.random(3) == 1 then
    local class = classes[math.random(4)] or { __index = {} }
    classes[math.random(4)] = class
    setmetatable(t, class)
  end
  local function come_back() kept[#kept % 50 + 1] = t end
  if math.random(8) == 1 then setmetatable(t, { __gc = come_back }) end
  for _ = 1, math.random(20) do
    local keys = { math.random(30), "k" .. math.random(30), "*", -math.random(30) + 0.5 }
    local key = keys[math.random(4)]
    obs.observe(t, type(key) == "string" and key or obs.path(key), nothing)
    if math.random(4) == 1 then obs.stop(t) end
  end
  if math.random(4) == 1 then kept[math.random(50)] = t end
end

-- Freed memory may look like claims on nodes: these strings end with the bytes of a claim.
local function forge()
  local strings = {}
  for place = 0, 400 do
    local text = ("x"):rep(math.random(60)) .. math.random(1 << 30)
    strings[#strings + 1] = text .. ("<I8I8"):pack(math.random(1 << 40), place)
  end
end

local steps = {
  function() collectgarbage() end,
  function() at_the_limit(function() collectgarbage() end) end,
  function()
    at_the_limit(function() for _ = 1, math.random(40) do collectgarbage "step" end end)
  end,
  function() core.recover() end,
  function() obs.flush() end,
  function() classes[math.random(4)] = nil end,
  function() for _, class in pairs(classes) do class.__len = function() return 7 end end end,
  forge,
}
local live = core.stats()
for seed = first, last do
  math.randomseed(seed)
  local kept = {}
  for _ = 1, 60 do
    for _ = 1, math.random(5) do make(kept) end
    for _, t in pairs(kept) do t["k" .. math.random(30)] = math.random(100) end
    steps[math.random(#steps)]()
  end
  kept, classes = {}, {}
  -- A table may be resurrected once.
  for _ = 1, 4 do
    collectgarbage()
    kept = {}
    core.recover()
    obs.flush()
  end
  local now = core.stats()
  assert(now == live, ("seed %d: %d owners are left, not %d"):format(seed, now, live))
end
