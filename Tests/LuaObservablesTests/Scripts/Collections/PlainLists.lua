-- The cases of lists, over plain lists in place.
local running = dofile(debug.getinfo(1, "S").source:match "^@(.*/)" .. "Support/running.lua")

running.run(
  running.adapters.plain, "slots", "elements", "wholes", "members", "turns", "operators", "edits")
running.checking.finish()
