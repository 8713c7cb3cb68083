-- Random graphs of tables and Swift models in turn, against a reference.
local random = dofile(debug.getinfo(1, "S").source:match "^@(.*/)" .. "Support/random.lua")

random.try("mixed_declared", 300)
random.try("mixed_tracked", 300)
