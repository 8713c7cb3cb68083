-- Random graphs of tables with declared dependencies, against a reference.
local random = dofile(debug.getinfo(1, "S").source:match "^@(.*/)" .. "Support/random.lua")

random.try("declared", 500)
random.try("declared_arrays", 200)
