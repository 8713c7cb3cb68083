-- The graph shapes of the published signal benchmarks: the kairo set. A row is one iteration: up to
-- a thousand writes, each delivered to its effects before the next.
package.path = arg[0]:gsub("[^/]*$", "") .. "lib/?.lua;" .. package.path
local bench = require "bench"
local shape = require "shape"
local obs = require "obs"
local expect = shape.expect

-- One iteration: writes 1, then 0, 1 … `writes` - 1. Checks the value of `last` after each write,
-- and that `counter` has counted `calls` calls.
local function writing(graph, head, last, writes, expected, counter, calls)
  local read, write = graph.read, graph.write
  return function()
    write(head, 1)
    counter.calls = 0
    for i = 0, writes - 1 do
      write(head, i)
      expect(read(last), expected(i))
    end
    expect(counter.calls, calls)
  end
end

-- The counter keeps the nodes alive; a watcher does not keep its observed table alive.
local function counting(graph, nodes)
  local counter = { calls = 0, nodes = nodes }
  for _, node in ipairs(nodes) do
    graph.effect(node, function() counter.calls = counter.calls + 1 end)
  end
  return counter
end

local function deep(graph, last, head)
  return writing(
    graph, head, last, 50, function(i) return 50 + i end, counting(graph, { last }), 50)
end

shape.row("deep, 50", 20, function(graph)
  local head = graph.source(0)
  local last = head
  for _ = 1, 50 do last = graph.plus(last, 1) end
  return deep(graph, last, head)
end)

-- The same chain as 50 properties of one table.
for _, is_tracked in ipairs { false, true } do
  local object = { c0 = 0 }
  for i = 1, 50 do
    local name, previous = "c" .. i, "c" .. i - 1
    local function get(self) return self[previous] + 1 end
    if is_tracked then obs.computed(object, name, get)
    else obs.computed(object, name, { previous }, get) end
  end
  local graph = {
    read = function(name) return object[name] end,
    write = function(name, value)
      object[name] = value
      obs.flush()
    end,
    effect = function(name, body) obs.observe(object, name, body) end,
  }
  local iterate = deep(graph, "c50", "c0")
  shape.add("deep, 50", is_tracked and "tracked" or "declared", ", keys of one table", 20, iterate)
end
bench.run()

shape.row("broad, 50", 20, function(graph)
  local head, lasts = graph.source(0), {}
  for i = 1, 50 do lasts[i] = graph.plus(graph.plus(head, i - 1), 1) end
  return writing(
    graph, head, lasts[50], 50, function(i) return i + 50 end, counting(graph, lasts), 2500)
end)
bench.run()

shape.row("diamond, 5", 20, function(graph)
  local head, middle = graph.source(0), {}
  for i = 1, 5 do middle[i] = graph.plus(head, 1) end
  local last = graph.sum(middle)
  return writing(
    graph, head, last, 500, function(i) return (i + 1) * 5 end, counting(graph, { last }), 500)
end)
bench.run()

shape.row("triangle, 10", 50, function(graph)
  local head = graph.source(0)
  local terms = { head }
  for i = 2, 10 do terms[i] = graph.plus(terms[i - 1], 1) end
  local last = graph.sum(terms)
  return writing(
    graph, head, last, 100, function(i) return 45 + 10 * i end, counting(graph, { last }), 100)
end)
bench.run()

shape.row("mux, 100", 20, function(graph)
  local read, write = graph.read, graph.write
  local heads, lasts = {}, {}
  for i = 1, 100 do heads[i] = graph.source(0) end
  local list = graph.pack(heads)
  for i = 1, 100 do lasts[i] = graph.plus(graph.pick(list, i), 1) end
  local counter = counting(graph, lasts)
  return function()
    counter.calls = 0
    for factor = 1, 2 do
      for i = 0, 9 do
        write(heads[i + 1], factor * i)
        expect(read(lasts[i + 1]), factor * i + 1)
      end
    end
    -- The first write writes 0, which changes nothing.
    expect(counter.calls, 18)
  end
end)
bench.run()

shape.row("repeated, 30", 50, function(graph)
  local head = graph.source(0)
  local last = graph.repeated(head, 30)
  return writing(
    graph, head, last, 100, function(i) return 30 * i end, counting(graph, { last }), 100)
end)
bench.run()

shape.row("unstable, 20", 20, function(graph)
  local head = graph.source(0)
  local last = graph.switching(head, graph.times(head, 2), graph.times(head, -1), 20)
  return writing(
    graph, head, last, 100, function(i) return i % 2 == 1 and 40 * i or -20 * i end,
    counting(graph, { last }), 100)
end)
bench.run()

shape.row("avoidable", 10, function(graph)
  local read, write = graph.read, graph.write
  local busy_calls = 0
  local function busy()
    busy_calls = busy_calls + 1
    local sum = 0
    for _ = 1, 100 do sum = sum + 1 end
    return sum
  end
  local head = graph.source(0)
  local third = graph.plus_after(graph.ignore(graph.plus(head, 0)), 1, busy)
  local last = graph.plus(graph.plus(third, 2), 3)
  graph.effect(last, busy)
  expect(read(last), 6)
  local calls = busy_calls
  return function()
    write(head, 1)
    for i = 0, 999 do
      write(head, i)
      expect(read(last), 6)
    end
    expect(busy_calls, calls)
  end
end)
bench.run()
