-- The cases of lists, with Swift arrays that Swift code changes and observes.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local running = dofile(folder .. "Support/running.lua")

running.run(
  running.adapters.swift(), "slots", "elements", "wholes", "members", "turns", "operators", "edits")
finish()
