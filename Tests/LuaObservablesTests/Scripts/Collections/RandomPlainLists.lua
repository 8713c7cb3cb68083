-- C2–C12: random programs over plain lists in place, against a reference.
local random = dofile(debug.getinfo(1, "S").source:match "^@(.*/)" .. "Support/random.lua")

random.try("plain", 150)
