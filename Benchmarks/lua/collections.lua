-- Lists: operations on 10,000 elements with no watcher, one and a hundred, compared with a plain
-- list; and one change under an operator, compared with recomputing the result.
package.path = arg[0]:gsub("[^/]*$", "") .. "lib/?.lua;" .. package.path
local bench = require "bench"
local obs = require "obs"

local size = 10000
local insert, remove, sort = table.insert, table.remove, table.sort

local calls = 0
local function count() calls = calls + 1 end

local function numbers(n)
  local list = {}
  for i = 1, n do list[i] = i end
  return list
end

-- Adds watchers to a list: half of them on the whole list, the others on one slot each.
local function watched(list, watchers)
  for i = 1, watchers do obs.observe(list, i % 2 == 1 and "*" or "#" .. i * 37, count) end
  return list
end

local kinds = {
  { "plain list", function() return numbers(size) end },
  { "list, 1 watcher", function() return watched(numbers(size), 1) end },
  { "list, 100 watchers", function() return watched(numbers(size), 100) end },
  { "obs.array", function() return obs.array(numbers(size)) end },
  { "obs.array, 1 watcher", function() return watched(obs.array(numbers(size)), 1) end },
  { "obs.array, 100 watchers", function() return watched(obs.array(numbers(size)), 100) end },
}

-- The row with which an observed kind is compared.
local function reference(operation, kind)
  if kind:find "watcher" then
    return ("%s: %s"):format(operation, kind:find "array" and "obs.array" or "plain list")
  end
end

local function rows(operation, n, factor, body)
  for _, kind in ipairs(kinds) do
    local name, list = kind[1], kind[2]()
    local held = factor and reference(operation, name)
    bench.row(operation .. ": " .. name, n, held and factor .. " * " .. held, function(n)
      body(list, n)
    end)
  end
  bench.run()
end

-- Pairs of operations that keep the length of the list, with a flush after every ten.
rows("insert at the front of 10,000, and remove it", 200, 1.5, function(list, n)
  for i = 1, n do
    insert(list, 1, i)
    remove(list, 1)
    if i % 10 == 0 then obs.flush() end
  end
end)

rows("append, and remove the last", 20000, nil, function(list, n)
  for i = 1, n do
    insert(list, i)
    remove(list)
    if i % 10 == 0 then obs.flush() end
  end
end)

rows("sort 10,000", 4, nil, function(list, n)
  for i = 1, n do
    -- Nearly sorted; the order is reversed each time.
    if i % 2 == 0 then
      sort(list)
    else
      sort(list, function(a, b) return a > b end)
    end
    obs.flush()
  end
end)

local heard = calls
assert(heard > 0, "the watchers were called")

-- Operators ------------------------------------------------------------------------------------

local function naive(list)
  local sum = 0
  for i = 1, #list do sum = sum + list[i].x end
  return sum
end

for _, length in ipairs { 100, 10000, 1000000 } do
  local concept = ("one change under an operator, n = %d"):format(length)
  local model = { items = {} }
  for i = 1, length do model.items[i] = { x = i } end
  bench.row(concept .. ": added up again in Lua", math.max(1, 1000000 // length), nil, function(n)
    for i = 1, n do
      local item = model.items[i % length + 1]
      item.x = item.x + 1
      assert(naive(model.items) > 0)
    end
  end)
  bench.run()
  for _, operator in ipairs { "@sum", "@max" } do
    local path = ("items.%s.x"):format(operator)
    local watcher = obs.observe(model, path, count)
    bench.row(concept .. ": " .. operator, 20000, nil, function(n)
      -- An element becomes the largest, and then gets its former value again.
      for i = 1, n do
        local place = i // 2 * 7919 % length + 1
        model.items[place].x = i % 2 == 0 and length + i or place
        obs.flush()
      end
    end)
    bench.run()
    if operator == "@sum" then
      assert(obs.get(model, path) == naive(model.items), "the kept sum is the sum")
    end
    watcher:stop()
  end
  model = nil
  collectgarbage()
end
