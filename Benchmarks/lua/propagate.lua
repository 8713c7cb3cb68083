-- Propagation: one source, `width` chains of `height` computed properties, an effect at the end of
-- each. Rows are per computed property. The limit in ns applies to a machine that writes to a plain
-- table in 4 ns, so here it is a multiple of such a write.
package.path = arg[0]:gsub("[^/]*$", "") .. "lib/?.lua;" .. package.path
local bench = require "bench"
local shape = require "shape"
local expect = shape.expect

local function build(graph, width, height)
  local source = graph.source(0)
  local calls = 0
  local function count() calls = calls + 1 end
  -- The ends keep their chains alive; a watcher does not keep its observed table alive.
  local ends = {}
  for i = 1, width do
    ends[i] = source
    for _ = 1, height do ends[i] = graph.plus(ends[i], 1) end
    graph.effect(ends[i], count)
  end
  local read, write = graph.read, graph.write
  return function(n)
    calls = 0
    local start = read(source)
    for _ = 1, n do write(source, read(source) + 1) end
    for i = 1, width do expect(read(ends[i]), start + n + height) end
    expect(calls, n * width)
  end
end

local plain = { x = 0 }
for _, width in ipairs { 1, 10, 100 } do
  for _, height in ipairs { 1, 10, 100 } do
    local nodes = width * height
    local concept = ("propagate, %dx%d"):format(width, height)
    bench.row(concept .. ": plain write", 1000000, nil, function(n)
      local t = plain
      for i = 1, n do t.x = i end
    end)
    for _, graph in ipairs(shape.graphs) do
      local update = build(graph, width, height)
      local limit = graph.name == "declared"
        and ("0.5 * %s: %s"):format(concept, shape.graphs[1].name)
      bench.row(("%s: %s"):format(concept, graph.name), 100000, limit, function(n)
        update(math.max(1, n // nodes))
      end)
    end
    local values = bench.run()
    -- In a short chain, most of the time is the delivery, which has another limit.
    if height == 100 then
      for _, hold in ipairs { { "declared", 25 }, { "tracked", 75 } } do
        local row = ("%s: %s"):format(concept, hold[1])
        bench.print(
          row .. ", beside a plain write", values[row], "ns",
          ("%d * %s: plain write"):format(hold[2], concept))
      end
    end
  end
end
