-- The cases of sets, with Swift sets used by scripts.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local running = dofile(folder .. "Support/running.lua")

running.run(running.adapters.bridged_set(), "sets")
finish()
