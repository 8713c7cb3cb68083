-- C2–C12: random programs over Swift arrays as scripts have them, against a reference.
local random = dofile(debug.getinfo(1, "S").source:match "^@(.*/)" .. "Support/random.lua")

random.try("bridged", 40)
