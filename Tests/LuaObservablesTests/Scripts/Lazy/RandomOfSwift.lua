-- Random graphs of Swift models, against a reference.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local random = dofile(folder .. "Support/random.lua")

random.try("swift_declared", 300)
random.try("swift_tracked", 300)
