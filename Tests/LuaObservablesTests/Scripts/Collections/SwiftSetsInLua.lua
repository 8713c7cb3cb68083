-- The cases of sets, over Swift sets as scripts have them.
local running = dofile(debug.getinfo(1, "S").source:match "^@(.*/)" .. "Support/running.lua")

running.run(running.adapters.bridged_set(), "sets")
running.checking.finish()
