-- The cases of sets, over `obs.set_of`.
local running = dofile(debug.getinfo(1, "S").source:match "^@(.*/)" .. "Support/running.lua")

running.run(running.adapters.set(), "sets")
running.checking.finish()
