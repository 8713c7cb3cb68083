-- The cases of lists, over Swift arrays as scripts have them.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local running = dofile(folder .. "Support/running.lua")

running.run(
  running.adapters.bridged(),
  "slots", "elements", "wholes", "members", "turns", "operators", "edits")
finish()
