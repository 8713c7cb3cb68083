-- The cases of graphs, with tables that declare their dependencies.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local running = dofile(folder .. "Support/running.lua")

running.run(running.adapters.declared(), "shapes", "errors", "overrides", "watchers", "objects")
running.run(
  running.adapters.declared_arrays(), "shapes", "errors", "overrides", "watchers", "objects")
finish()
