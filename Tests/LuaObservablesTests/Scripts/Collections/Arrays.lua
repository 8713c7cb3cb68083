-- The cases of lists, with `obs.array`.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local running = dofile(folder .. "Support/running.lua")

running.run(
  running.adapters.array(), "slots", "elements", "wholes", "members", "turns", "operators", "edits")
finish()
