-- Never returns once it is hot, and catches the errors that stop it.
local obs = require "obs"
obs.observe(greenhouse, "temperature", function(greenhouse)
  if greenhouse.temperature < 30 then return end
  while true do pcall(function() while true do end end) end
end)
