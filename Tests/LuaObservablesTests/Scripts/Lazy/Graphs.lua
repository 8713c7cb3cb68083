-- The cases of graphs, with each kind of object.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local running = dofile(folder .. "Support/running.lua")

for kind, make in pairs(running.adapters) do
  -- A program without the host's Swift models skips these kinds.
  if swift_graph or not kind:find "swift" and not kind:find "mixed" then
    running.run(make(), "shapes", "errors", "overrides", "watchers", "objects")
  end
end
finish()
