-- C2–C12: random programs with Swift arrays that Swift code changes and observes, against a
-- reference.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local random = dofile(folder .. "Support/random.lua")

random.try("swift", 40)
