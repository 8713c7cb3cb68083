-- The cases of dictionaries, over `obs.dictionary`.
local running = dofile(debug.getinfo(1, "S").source:match "^@(.*/)" .. "Support/running.lua")

running.run(running.adapters.dictionary(), "dictionaries")
running.checking.finish()
