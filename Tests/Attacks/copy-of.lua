local obs = require "obs"
local t = { l = {} }
for i = 1, 200000 do t.l[i] = i end
obs.copy_of(t, "c", "l")
while true do
  t.l[1] = t.l[1] + 1
  local _ = t.c[1]
end
