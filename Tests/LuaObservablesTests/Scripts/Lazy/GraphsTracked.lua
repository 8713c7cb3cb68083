-- The cases of graphs, with tables whose dependencies are tracked.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local running = dofile(folder .. "Support/running.lua")

running.run(running.adapters.tracked(), "shapes", "errors", "overrides", "watchers", "objects")
running.run(
  running.adapters.tracked_arrays(), "shapes", "errors", "overrides", "watchers", "objects")
finish()
