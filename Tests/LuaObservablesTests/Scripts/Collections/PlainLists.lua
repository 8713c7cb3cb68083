-- The cases of lists, with plain lists in place.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local running = dofile(folder .. "Support/running.lua")

running.run(
  running.adapters.plain, "slots", "elements", "wholes", "members", "turns", "operators", "edits")
finish()
