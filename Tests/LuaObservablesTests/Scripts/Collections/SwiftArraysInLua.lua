-- The cases of lists, with Swift arrays used by scripts.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local running = dofile(folder .. "Support/running.lua")

running.run(
  running.adapters.bridged(),
  "slots", "elements", "wholes", "members", "turns", "operators", "edits")
finish()
