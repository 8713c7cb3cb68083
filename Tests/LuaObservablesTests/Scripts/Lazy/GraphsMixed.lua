-- The cases of graphs, with tables and Swift models in alternation.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local running = dofile(folder .. "Support/running.lua")

running.run(
  running.adapters.mixed_declared(), "shapes", "errors", "overrides", "watchers", "objects")
running.run(
  running.adapters.mixed_tracked(), "shapes", "errors", "overrides", "watchers", "objects")
finish()
