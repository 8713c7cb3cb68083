-- The cases of lists, over `obs.array`.
local running = dofile(debug.getinfo(1, "S").source:match "^@(.*/)" .. "Support/running.lua")

running.run(
  running.adapters.array(), "slots", "elements", "wholes", "members", "turns", "operators", "edits")
running.checking.finish()
