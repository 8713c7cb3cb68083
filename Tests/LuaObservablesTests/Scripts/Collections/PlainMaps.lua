-- The cases of dictionaries, with plain maps in place.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local running = dofile(folder .. "Support/running.lua")

running.run(running.adapters.map(), "dictionaries")
finish()
