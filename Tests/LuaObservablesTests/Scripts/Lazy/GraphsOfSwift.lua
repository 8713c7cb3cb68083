-- The cases of graphs, with Swift models that Swift code changes and observes.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local running = dofile(folder .. "Support/running.lua")

running.run(
  running.adapters.swift_declared(), "shapes", "errors", "overrides", "watchers", "objects")
running.run(
  running.adapters.swift_tracked(), "shapes", "errors", "overrides", "watchers", "objects")
finish()
