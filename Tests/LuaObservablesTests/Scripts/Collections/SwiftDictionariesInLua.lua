-- The cases of dictionaries, with Swift dictionaries used by scripts.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local running = dofile(folder .. "Support/running.lua")

running.run(running.adapters.bridged_dictionary(), "dictionaries")
finish()
