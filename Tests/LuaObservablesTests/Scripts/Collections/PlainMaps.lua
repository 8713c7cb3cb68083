-- The cases of dictionaries, over plain maps in place.
local running = dofile(debug.getinfo(1, "S").source:match "^@(.*/)" .. "Support/running.lua")

running.run(running.adapters.map(), "dictionaries")
running.checking.finish()
