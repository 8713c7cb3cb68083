-- The cases of lists, over Swift arrays as scripts have them.
local running = dofile(debug.getinfo(1, "S").source:match "^@(.*/)" .. "Support/running.lua")

running.run(
  running.adapters.bridged(),
  "slots", "elements", "wholes", "members", "turns", "operators", "edits")
running.checking.finish()
