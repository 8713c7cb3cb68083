-- C2–C12: random programs with `obs.array`, against a reference.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local random = dofile(folder .. "Support/random.lua")

random.try("array", 150)
