-- C2–C12: random programs with Swift arrays used by scripts, against a reference.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local random = dofile(folder .. "Support/random.lua")

random.try("bridged", 40)
