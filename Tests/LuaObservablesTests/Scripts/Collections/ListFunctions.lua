-- C2 and L7: list functions treat observed tables like plain ones, and watchers are called.
local obs = require "obs"

local function same(a, b)
  assert(#a == #b, #a .. " elements, not " .. #b)
  for i = 1, #b do assert(a[i] == b[i], "element " .. i) end
end

local plain, list, calls = {}, {}, 0
obs.observe(list, "*", function() calls = calls + 1 end)
local function both(heard, work)
  local before = calls
  local a, b = table.pack(pcall(work, plain)), table.pack(pcall(work, list))
  assert(a.n == b.n)
  for i = 1, a.n do assert(a[i] == b[i] or (a[i] == plain and b[i] == list)) end
  same(list, plain)
  obs.flush()
  assert((calls > before) == heard, "heard: " .. calls - before)
end

both(true, function(t) t[1] = "a" end)
both(false, function(t) t[1] = "a" end)
both(true, function(t) t[#t + 1] = "b" end)
both(true, function(t) table.insert(t, "c") end)
both(true, function(t) table.insert(t, 1, "d") end)
both(false, function(t) table.insert(t, 9, "d") end)
both(true, function(t) table.sort(t) end)
both(false, function(t) table.sort(t) end)
both(true, function(t) table.sort(t, function(a, b) return a > b end) end)
both(true, function(t) return table.remove(t) end)
both(true, function(t) return table.remove(t, 1) end)
both(true, function(t) return table.move(t, 1, #t, 2) end)
both(false, function(t) return table.move(t, 1, #t, 1) end)
both(true, function(t) return table.move({1, 2, 3}, 1, 3, 1, t) end)
both(false, function(t) return table.concat(t, ",") end)
both(false, function(t) return table.unpack(t) end)
both(true, function(t) for i = #t, 1, -1 do t[i] = nil end end)
both(false, function(t) return table.remove(t) end)

-- Equal neighbours: a change all the same.
both(true, function(t) for i = 1, 4 do t[i] = 7 end end)
both(true, function(t) table.insert(t, 1, 7) end)
both(true, function(t) return table.remove(t, 1) end)

-- If a comparison raises an error, the list stays whole and its changes are delivered.
both(true, function(t) for i = 1, 9 do t[i] = 10 - i end end)
both(true, function(t)
  local n = 0
  table.sort(t, function(a, b)
    n = n + 1
    if n == 9 then error("enough", 0) end
    return a < b
  end)
end)
both(true, function(t) table.sort(t, function() return true end) end)

-- `rawset` is delivered like an assignment.
both(true, function(t) rawset(t, 1, "raw") end)
both(false, function(t) rawset(t, 1, "raw") end)
