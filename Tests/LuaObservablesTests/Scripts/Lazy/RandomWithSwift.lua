-- Random graphs of tables and Swift models in alternation, against a reference.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local random = dofile(folder .. "Support/random.lua")

random.try("mixed_declared", 300)
random.try("mixed_tracked", 300)
