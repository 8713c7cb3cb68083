-- L7: during a traversal the current key may be observed, stopped, assigned and removed.
local obs = require "obs"
local function nothing() end

local function filled(n)
  local t = {}
  for i = 1, n do t["key" .. i] = i end
  return t
end

-- Whatever `work` does to the current key, the loop must meet the same keys.
local function check(name, work, t, count)
  local seen, n = {}, 0
  for k in pairs(t) do
    assert(not seen[k], name .. ": twice " .. tostring(k))
    seen[k] = true
    n = n + 1
    work(t, k, n)
  end
  assert(n == count, name .. ": " .. n)
end

local works = {
  observe = function(t, k) obs.observe(t, k, nothing) end,
  ["observe every second"] = function(t, k, n)
    if n % 2 == 0 then obs.observe(t, k, nothing) end
  end,
  ["observe and stop"] = function(t, k) obs.observe(t, k, nothing) obs.stop(t, k) end,
  ["observe and remove"] = function(t, k) obs.observe(t, k, nothing) t[k] = nil end,
  ["remove and observe"] = function(t, k) t[k] = nil obs.observe(t, k, nothing) end,
  ["remove, observe, assign"] = function(t, k) t[k] = nil obs.observe(t, k, nothing) t[k] = 1 end,
  ["remove some, observe others"] = function(t, k, n)
    if n % 3 == 0 then t[k] = nil else obs.observe(t, k, nothing) end
  end,
  ["observe some, remove others"] = function(t, k, n)
    if n % 3 == 1 then obs.observe(t, k, nothing) else t[k] = nil end
  end,
  ["is it empty"] = function(t, k)
    obs.observe(t, k, nothing)
    assert(next(t) ~= nil)
  end,
  ["observe and flush"] = function(t, k)
    obs.observe(t, k, nothing)
    obs.flush()
  end,
}
for name, work in pairs(works) do
  for _, n in ipairs {1, 2, 3, 7, 20, 50, 100} do
    check(name, work, filled(n), n)
    local t = filled(n)
    obs.observe(t, "key1", nothing)
    check(name .. ", observed before", work, t, n)
    t = filled(n)
    obs.observe(t, "*", nothing)
    check(name .. ", all observed before", work, t, n)
  end
end

-- Integer keys move the whole table.
for n = 1, 20 do
  local t = filled(n)
  for i = 1, n do t[i * 1000] = i end
  check("integers", function(t, k)
    if math.type(k) == "integer" then obs.observe(t, obs.path(k), nothing) end
  end, t, 2 * n)
end

-- Nested loops, and loops in coroutines.
local t, n = filled(10), 0
for k in pairs(t) do
  local inner = 0
  for _ in pairs(t) do inner = inner + 1 end
  assert(inner == 10)
  obs.observe(t, k, nothing)
  n = n + 1
end
assert(n == 10)
local u = filled(9)
local co = coroutine.wrap(function()
  for k in pairs(u) do
    obs.observe(u, k, nothing)
    coroutine.yield(k)
  end
end)
local met = 0
while co() do
  met = met + 1
  obs.flush()
end
assert(met == 9)

-- Observing everything, or other keys, within a loop: no error, and the loop ends.
for _, path in ipairs {"*", "key3", "absent"} do
  local v, steps = filled(30), 0
  for _ in pairs(v) do
    steps = steps + 1
    assert(steps < 100)
    obs.observe(v, path, nothing)
  end
end

-- Lists stay in order, whatever moved.
local list = {10, 20, 30, 40, 50}
local place = 0
for i, v in pairs(list) do
  place = place + 1
  assert(i == place and v == i * 10)
  obs.observe(list, "#1", nothing)
end
assert(place == 5)
local ok, message = pcall(next, list, "never there")
assert(not ok and message:find("invalid key to 'next'", 1, true))

-- A key that was removed, forgotten by the table and then observed does not cause other keys to be
-- lost.
do
  local t = {a = 1, b = 2}
  local first = next(t)
  local second = next(t, first)
  obs.observe(t, first, nothing)
  t[second] = nil
  for i = 1, 9 do t["x" .. i] = i end
  obs.observe(t, second, nothing)
  t[second] = 3
  check("removed and forgotten", nothing, t, 11)
  obs.observe(t, "*", nothing)
  check("removed, forgotten, all moved", nothing, t, 11)
  for i = 1, 9 do assert(t["x" .. i] == i) end
end

-- The last element of a list is removed and observed, before keys that have moved.
for _ = 1, 20 do
  local t = {1, 2, 3}
  for i = 1, 20 do t[tostring({}) .. i] = i end
  local i = 0
  for k in pairs(t) do
    i = i + 1
    if i > 3 and i % 3 == 0 then obs.observe(t, k, nothing) end
  end
  check("remove and observe the end of a list", function(t, k)
    if k == 3 then
      t[k] = nil
      obs.observe(t, obs.path(k), nothing)
    end
  end, t, 23)
end

-- A loop that stands at a removed key when the whole table moves meets the other keys.
for _, move in ipairs {
  function(t) obs.observe(t, "*", nothing) end,
  function(t)
    local view = {t = t}
    obs.computed(view, "first", function(self) return next(self.t) end)
    return view.first
  end,
} do
  for _, n in ipairs {2, 20, 100} do
    local t, met = filled(n), 0
    for k in pairs(t) do
      met = met + 1
      t[k] = nil
      if met == n // 2 then move(t) end
    end
    assert(met == n and next(t) == nil)
  end
end
