-- The nodes of the graph shapes as signals in plain Lua. `declared.lua` and `tracked.lua` define
-- the same functions.
local signals = require "signals"
local computed, get, set = signals.computed, signals.get, signals.set

local graph = { name = "signals in plain Lua (peer)", source = signals.source, read = get }

--- Writes, and runs the effects.
graph.write = set

--- Writes to several sources, then runs the effects.
function graph.write_all(sources, values)
  signals.batch(function()
    for i = 1, #sources do set(sources[i], values[i]) end
  end)
end

--- Calls `body` with the value of a node each time it changes.
function graph.effect(node, body)
  signals.effect(function() body(get(node)) end)
end

function graph.same(node)
  return computed(function() return get(node) end)
end

function graph.plus(node, number)
  return computed(function() return get(node) + number end)
end

function graph.times(node, number)
  return computed(function() return get(node) * number end)
end

function graph.add(a, b)
  return computed(function() return get(a) + get(b) end)
end

function graph.subtract(a, b)
  return computed(function() return get(a) - get(b) end)
end

function graph.sum(nodes)
  return computed(function()
    local sum = 0
    for i = 1, #nodes do sum = sum + get(nodes[i]) end
    return sum
  end)
end

--- A new list of all values, each time.
function graph.pack(nodes)
  return computed(function()
    local list = {}
    for i = 1, #nodes do list[i] = get(nodes[i]) end
    return list
  end)
end

function graph.pick(list, index)
  return computed(function() return get(list)[index] end)
end

--- Reads the node, but does not use its value.
function graph.ignore(node)
  return computed(function()
    local _ = get(node)
    return 0
  end)
end

--- Like `plus`, but calls `work` first.
function graph.plus_after(node, number, work)
  return computed(function()
    work()
    return get(node) + number
  end)
end

--- Reads the same node `times` times and adds the values.
function graph.repeated(node, times)
  return computed(function()
    local sum = 0
    for _ = 1, times do sum = sum + get(node) end
    return sum
  end)
end

--- Adds `odd` or `even` `times` times, depending on `node`.
function graph.switching(node, odd, even, times)
  return computed(function()
    local sum = 0
    for _ = 1, times do sum = sum + get(get(node) % 2 == 1 and odd or even) end
    return sum
  end)
end

return graph
