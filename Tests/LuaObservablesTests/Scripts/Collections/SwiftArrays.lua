-- The cases of lists, over Swift arrays that Swift code changes and observes.
local running = dofile(debug.getinfo(1, "S").source:match "^@(.*/)" .. "Support/running.lua")

running.run(
  running.adapters.swift(), "slots", "elements", "wholes", "members", "turns", "operators", "edits")
running.checking.finish()
