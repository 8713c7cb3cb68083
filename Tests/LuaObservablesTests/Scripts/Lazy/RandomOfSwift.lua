-- Random graphs of Swift models, against a reference.
local random = dofile(debug.getinfo(1, "S").source:match "^@(.*/)" .. "Support/random.lua")

random.try("swift_declared", 300)
random.try("swift_tracked", 300)
