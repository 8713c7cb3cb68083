-- Random graphs of tables whose dependencies are tracked, against a reference.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local random = dofile(folder .. "Support/random.lua")

random.try("tracked", 500)
random.try("tracked_arrays", 200)
