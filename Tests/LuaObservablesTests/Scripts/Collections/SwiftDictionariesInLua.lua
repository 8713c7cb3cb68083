-- The cases of dictionaries, over Swift dictionaries as scripts have them.
local running = dofile(debug.getinfo(1, "S").source:match "^@(.*/)" .. "Support/running.lua")

running.run(running.adapters.bridged_dictionary(), "dictionaries")
running.checking.finish()
