local obs = require "obs"
local function make() for _ = 1, 100 do obs.observe({ a = 1 }, "a", function() end) end end
local function deep() if not pcall(deep) then for i = 1, 3000 do local t = { i } end end end
while true do
  make()
  deep()
  obs.flush()
end
