-- Random graphs of tables with declared dependencies, against a reference.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local random = dofile(folder .. "Support/random.lua")

random.try("declared", 500)
random.try("declared_arrays", 200)
