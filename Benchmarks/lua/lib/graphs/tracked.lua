-- The nodes of the graph shapes as computed properties with tracked dependencies: the keys that
-- they read through themselves.
local obs = require "obs"
local declared = require "graphs.declared"
local computed = obs.computed

local graph = {
  name = "tracked", source = declared.source, read = declared.read, write = declared.write,
  write_all = declared.write_all, effect = declared.effect,
}

local function node(self, get)
  computed(self, "value", get)
  return self
end

function graph.same(source)
  return node({ source = source }, function(self) return self.source.value end)
end

function graph.plus(source, number)
  return node({ source = source }, function(self) return self.source.value + number end)
end

function graph.times(source, number)
  return node({ source = source }, function(self) return self.source.value * number end)
end

function graph.add(a, b)
  return node({ a = a, b = b }, function(self) return self.a.value + self.b.value end)
end

function graph.subtract(a, b)
  return node({ a = a, b = b }, function(self) return self.a.value - self.b.value end)
end

function graph.sum(sources)
  return node({ sources = sources }, function(self)
    local sources, sum = self.sources, 0
    for i = 1, #sources do sum = sum + sources[i].value end
    return sum
  end)
end

function graph.pack(sources)
  return node({ sources = sources }, function(self)
    local sources, list = self.sources, {}
    for i = 1, #sources do list[i] = sources[i].value end
    return list
  end)
end

function graph.pick(list, index)
  return node({ list = list }, function(self) return self.list.value[index] end)
end

function graph.ignore(source)
  return node({ source = source }, function(self)
    local _ = self.source.value
    return 0
  end)
end

function graph.plus_after(source, number, work)
  return node({ source = source }, function(self)
    work()
    return self.source.value + number
  end)
end

function graph.repeated(source, times)
  return node({ source = source }, function(self)
    local sum = 0
    for _ = 1, times do sum = sum + self.source.value end
    return sum
  end)
end

function graph.switching(source, odd, even, times)
  return node({ source = source, odd = odd, even = even }, function(self)
    local sum = 0
    for _ = 1, times do
      local chosen = self.source.value % 2 == 1 and self.odd or self.even
      sum = sum + chosen.value
    end
    return sum
  end)
end

return graph
