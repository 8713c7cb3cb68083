local obs = require "obs"

local t = { k0 = 0 }
for i = 1, 5000 do
  local p = "k" .. i - 1
  obs.computed(t, "k" .. i, { p }, function(s) return s[p] + 1 end)
end
while true do
  t.k0 = t.k0 + 1
  local _ = t.k5000
end
