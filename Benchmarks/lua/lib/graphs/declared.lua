-- The nodes of the graph shapes as computed properties with declared dependencies.
local obs = require "obs"
local computed, flush, observe = obs.computed, obs.flush, obs.observe

local graph = { name = "declared" }

function graph.source(value) return { value = value } end

function graph.read(node) return node.value end

function graph.write(source, value)
  source.value = value
  flush()
end

function graph.write_all(sources, values)
  for i = 1, #sources do sources[i].value = values[i] end
  flush()
end

function graph.effect(node, body)
  observe(node, "value", function(self) body(self.value) end)
end

local function node(dependencies, get)
  local paths = {}
  for i, dependency in ipairs(dependencies) do paths[i] = { dependency, "value" } end
  local self = {}
  computed(self, "value", paths, get)
  return self
end

function graph.same(source)
  return node({ source }, function() return source.value end)
end

function graph.plus(source, number)
  return node({ source }, function() return source.value + number end)
end

function graph.times(source, number)
  return node({ source }, function() return source.value * number end)
end

function graph.add(a, b)
  return node({ a, b }, function() return a.value + b.value end)
end

function graph.subtract(a, b)
  return node({ a, b }, function() return a.value - b.value end)
end

function graph.sum(sources)
  return node(sources, function()
    local sum = 0
    for i = 1, #sources do sum = sum + sources[i].value end
    return sum
  end)
end

function graph.pack(sources)
  return node(sources, function()
    local list = {}
    for i = 1, #sources do list[i] = sources[i].value end
    return list
  end)
end

function graph.pick(list, index)
  return node({ list }, function() return list.value[index] end)
end

function graph.ignore(source)
  return node({ source }, function()
    local _ = source.value
    return 0
  end)
end

function graph.plus_after(source, number, work)
  return node({ source }, function()
    work()
    return source.value + number
  end)
end

function graph.repeated(source, times)
  return node({ source }, function()
    local sum = 0
    for _ = 1, times do sum = sum + source.value end
    return sum
  end)
end

function graph.switching(source, odd, even, times)
  return node({ source, odd, even }, function()
    local sum = 0
    for _ = 1, times do sum = sum + (source.value % 2 == 1 and odd or even).value end
    return sum
  end)
end

return graph
