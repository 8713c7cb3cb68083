-- The cases of sets, with `obs.set_of`.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local running = dofile(folder .. "Support/running.lua")

running.run(running.adapters.set(), "sets")
finish()
