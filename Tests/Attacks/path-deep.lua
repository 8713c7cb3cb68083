local obs = require "obs"
local function nop() end

local t = {}
local d = t
for _ = 1, 90 do
  d.a = {}
  d = d.a
end
local path = ("a."):rep(89) .. "a"
while true do obs.observe(t, path, nop):stop() end
