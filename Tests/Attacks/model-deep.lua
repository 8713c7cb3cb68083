local obs = require "obs"

local d = {}
for _ = 1, 50000 do d = { d } end
while true do pcall(obs.model, "M", { a = d }) end
