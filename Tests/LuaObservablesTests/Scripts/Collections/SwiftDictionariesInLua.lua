-- The cases of dictionaries, over Swift dictionaries as scripts have them.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local running = dofile(folder .. "Support/running.lua")

running.run(running.adapters.bridged_dictionary(), "dictionaries")
finish()
