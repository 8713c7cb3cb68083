-- The cases of dictionaries, with `obs.dictionary`.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local running = dofile(folder .. "Support/running.lua")

running.run(running.adapters.dictionary(), "dictionaries")
finish()
