-- Creation: 100,000 sources without a computed property, with one that is never read, and with one
-- that is read once. A row is the time per source, including the collection of earlier ones.
package.path = arg[0]:gsub("[^/]*$", "") .. "lib/?.lua;" .. package.path
local bench = require "bench"
local shape = require "shape"

local size = 100000

for _, graph in ipairs(shape.graphs) do
  bench.row("creation of 100,000: sources, " .. graph.name, size, nil, function(n)
    local sources = {}
    for i = 1, n do sources[i] = graph.source(i) end
  end)
end
bench.run()

for _, is_read in ipairs { false, true } do
  local what = is_read and "sources with a property that is read" or "sources with a property"
  for _, graph in ipairs(shape.graphs) do
    bench.row(("creation of 100,000: %s, %s"):format(what, graph.name), size, nil, function(n)
      local nodes = {}
      for i = 1, n do
        local node = graph.plus(graph.source(i), 1)
        nodes[i] = node
        if is_read then shape.expect(graph.read(node), i + 1) end
      end
    end)
  end
  bench.run(3)
end
