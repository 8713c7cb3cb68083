-- cellx: layers of four computed properties, each with an effect. A row is one pass: four writes
-- that are delivered together, and four reads of the last layer before and after.
package.path = arg[0]:gsub("[^/]*$", "") .. "lib/?.lua;" .. package.path
local bench = require "bench"
local shape = require "shape"
local expect = shape.expect

local inputs = { { 1, 2, 3, 4 }, { 4, 3, 2, 1 } }
local published = {
  [1000] = { { -3, -6, -2, 2 }, { -2, -4, 2, 3 } },
  [2500] = { { -3, -6, -2, 2 }, { -2, -4, 2, 3 } },
  [5000] = { { 2, 4, -1, -6 }, { -2, 1, -4, -4 } },
}

--- The values of the last layer, computed without a graph.
local function answer(layers, input)
  local a, b, c, d = table.unpack(input)
  for _ = 1, layers do a, b, c, d = b, a - c, b + d, c end
  return { a, b, c, d }
end

local function build(graph, layers)
  local sources = {}
  for i, value in ipairs(inputs[1]) do sources[i] = graph.source(value) end
  local calls = 0
  local function count() calls = calls + 1 end
  local layer = sources
  for _ = 1, layers do
    local m = layer
    layer = {
      graph.same(m[2]), graph.subtract(m[1], m[3]), graph.add(m[2], m[4]), graph.same(m[3]),
    }
    for i = 1, 4 do graph.effect(layer[i], count) end
  end
  local answers = { answer(layers, inputs[1]), answer(layers, inputs[2]) }
  for i, values in ipairs(published[layers] or {}) do
    for k, value in ipairs(values) do expect(answers[i][k], value) end
  end
  local read, write_all = graph.read, graph.write_all
  local now = 1
  return function()
    for i = 1, 4 do expect(read(layer[i]), answers[now][i]) end
    now = 3 - now
    calls = 0
    write_all(sources, inputs[now])
    for i = 1, 4 do expect(read(layer[i]), answers[now][i]) end
    assert(calls > layers)
  end
end

for _, layers in ipairs { 10, 100, 1000, 2500, 5000 } do
  shape.row(("cellx, %d layers"):format(layers), math.max(1, 1000 // layers), function(graph)
    return build(graph, layers)
  end)
  bench.run()
end
