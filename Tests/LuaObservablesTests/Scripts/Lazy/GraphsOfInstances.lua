-- The cases of graphs, with instances of models.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local running = dofile(folder .. "Support/running.lua")

running.run(
  running.adapters.declared_model(), "shapes", "errors", "overrides", "watchers", "objects")
running.run(
  running.adapters.tracked_model(), "shapes", "errors", "overrides", "watchers", "objects")
finish()
