-- C2–C12: random programs with plain lists in place, against a reference.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local random = dofile(folder .. "Support/random.lua")

random.try("plain", 150)
