-- Reads and writes of observed tables, compared with plain tables and with scripts without a host.
package.path = arg[0]:gsub("[^/]*$", "") .. "lib/?.lua;" .. package.path
local bench = require "bench"

local N = 2000000

-- Before the first observation: the replaced base functions. The stock functions are not accessible
-- here, so rawequal, which is not replaced, is the floor of a call into C.
local before = { 1, 2, 3 }
bench.row("base functions: a call into C (rawequal)", N, nil, function(n)
  local t, rawequal = before, rawequal
  for _ = 1, n do rawequal(t, t) end
end)
bench.row("base functions: rawget before the first observation", N, nil, function(n)
  local t, rawget = before, rawget
  for _ = 1, n do rawget(t, 1) end
end)
bench.row("base functions: next before the first observation", N, nil, function(n)
  local t, next = before, next
  for _ = 1, n do next(t, 1) end
end)
bench.row("base functions: insert and remove before the first observation", N // 4, nil, function(n)
  local t, insert, remove = before, table.insert, table.remove
  for i = 1, n do
    insert(t, i)
    remove(t)
  end
end)
bench.run()

local obs = require "obs"
local calls = 0
local function count() calls = calls + 1 end

local observed = { x = 1, y = 2 }
obs.observe(observed, "x", count)

bench.row("base functions: rawget of a plain table afterwards", N,
  "1.3 * base functions: rawget before the first observation", function(n)
    local t, rawget = before, rawget
    for _ = 1, n do rawget(t, 1) end
  end)
bench.row("base functions: next of a plain table afterwards", N,
  "1.3 * base functions: next before the first observation", function(n)
    local t, next = before, next
    for _ = 1, n do next(t, 1) end
  end)
bench.row("base functions: insert and remove of a plain table afterwards", N // 4,
  "1.3 * base functions: insert and remove before the first observation", function(n)
    local t, insert, remove = before, table.insert, table.remove
    for i = 1, n do
      insert(t, i)
      remove(t)
    end
  end)
bench.run()

local plain = { x = 1, y = 2 }
local class = { greet = true }
class.__index = class
local plain_instance = setmetatable({ x = 1 }, class)
local observed_instance = setmetatable({ x = 1 }, class)
obs.observe(observed_instance, "x", count)

-- The means of scripts without a host: a pair of closures, and a proxy with functions as
-- metamethods.
local function cell(value)
  return function() return value end, function(new) value = new end
end
local get, set = cell(1)
local values = { x = 1 }
local proxy = setmetatable({}, {
  __index = function(_, key) return values[key] end,
  __newindex = function(_, key, value) values[key] = value end,
})

bench.row("access: plain read", N, nil, function(n)
  local t, s = plain, nil
  for _ = 1, n do s = t.x end
end)
bench.row("access: plain write", N, nil, function(n)
  local t = plain
  for i = 1, n do t.x = i end
end)
bench.row("access: read of another key of an observed table", N, "1.05 * access: plain read",
  function(n)
    local t, s = observed, nil
    for _ = 1, n do s = t.y end
  end)
bench.row("access: write of another key of an observed table", N, "1.05 * access: plain write",
  function(n)
    local t = observed
    for i = 1, n do t.y = i end
  end)
bench.row("access: read through a closure (peer)", N, nil, function(n)
  local get, s = get, nil
  for _ = 1, n do s = get() end
end)
bench.row("access: write through a closure (peer)", N, nil, function(n)
  local set = set
  for i = 1, n do set(i) end
end)
bench.row("access: read through a Lua metamethod (peer)", N, nil, function(n)
  local t, s = proxy, nil
  for _ = 1, n do s = t.x end
end)
bench.row("access: write through a Lua metamethod (peer)", N, nil, function(n)
  local t = proxy
  for i = 1, n do t.x = i end
end)
bench.row("access: observed read", N, "3 * access: plain read", function(n)
  local t, s = observed, nil
  for _ = 1, n do s = t.x end
end)
bench.row("access: observed read, beside the closure", N,
  "1 * access: read through a closure (peer)",
  function(n)
    local t, s = observed, nil
    for _ = 1, n do s = t.x end
  end)
bench.row("access: observed write, pending", N, "12 * access: plain write", function(n)
  local t = observed
  for i = 1, n do t.x = i end
end)
bench.row("access: plain inherited field", N, nil, function(n)
  local t, s = plain_instance, nil
  for _ = 1, n do s = t.greet end
end)
bench.row("access: inherited field of an observed table", N, "1.5 * access: plain inherited field",
  function(n)
    local t, s = observed_instance, nil
    for _ = 1, n do s = t.greet end
  end)
bench.row("access: a new key, plain", N, nil, function(n)
  local t = plain
  for i = 1, n do
    t.fresh = i
    t.fresh = nil
  end
end)
bench.row("access: a new key of an observed table", N, "10 * access: a new key, plain", function(n)
  local t = observed
  for i = 1, n do
    t.fresh = i
    t.fresh = nil
  end
end)
bench.run()
obs.flush()
assert(calls == 1, "the pending watcher was called once")
