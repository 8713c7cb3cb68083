-- The cases of graphs, over Swift models that Swift code changes and observes.
local running = dofile(debug.getinfo(1, "S").source:match "^@(.*/)" .. "Support/running.lua")

running.run(
  running.adapters.swift_declared(), "shapes", "errors", "overrides", "watchers", "objects")
running.run(
  running.adapters.swift_tracked(), "shapes", "errors", "overrides", "watchers", "objects")
running.checking.finish()
