-- The rows of one graph shape: signals in plain Lua, then computed properties with declared
-- dependencies, which have to be twice as fast, then tracked ones.
local bench = require "bench"

local shape = { graphs = {} }
for i, name in ipairs { "plain", "declared", "tracked" } do
  shape.graphs[i] = require("graphs." .. name)
end

--- build(graph) makes the shape and returns a function that runs one iteration and checks the
--- result. A row is the time of one of `n` iterations, in µs.
function shape.row(name, n, build)
  for _, graph in ipairs(shape.graphs) do shape.add(name, graph.name, "", n, build(graph)) end
end

--- Adds a row for a variant of a graph.
function shape.add(name, graph, variant, n, iterate)
  local peer = shape.graphs[1].name
  local limit = graph == "declared" and ("0.5 * %s: %s"):format(name, peer)
  bench.row(("%s: %s%s"):format(name, graph, variant), n, limit, function(n)
    for _ = 1, n do iterate() end
  end, "µs")
end

--- Stops the script unless a value is as expected.
function shape.expect(value, expected)
  if value ~= expected then
    error(("the answer is %s, not %s"):format(value, expected), 2)
  end
end

return shape
