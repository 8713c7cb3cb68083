local obs = require "obs"

while true do
  local M = obs.model("M", { a = 1, b = obs.computed({ "a" }, function(s) return s.a end) })
  for _ = 1, 100 do M {} end
end
