-- C2–C12: random programs over `obs.array`, against a reference.
local random = dofile(debug.getinfo(1, "S").source:match "^@(.*/)" .. "Support/random.lua")

random.try("array", 150)
