-- L6: whatever callbacks capture, objects without outside references are collected.
local obs = require "obs"
local gone = setmetatable({}, {__mode = "k"})

-- Each check is a separate function: the frame of a chunk keeps values that its blocks left there.
local function check(name, work)
  work()
  obs.flush()
  collectgarbage()
  collectgarbage()
  assert(next(gone) == nil, name .. ": something was kept")
end

for _, written in ipairs {false, true} do
  local calls = 0
  check("a ring of callbacks that capture the next and the last object", function()
    local ring = {}
    for i = 1, 500 do ring[i] = {x = i} end
    for i, object in ipairs(ring) do
      local following, last = ring[i % 500 + 1], ring[(i - 2) % 500 + 1]
      gone[object] = true
      obs.observe(object, "x", function(observed)
        calls = calls + 1
        return following.x + last.x + observed.x
      end, {equals = function() return following == last end})
    end
    if written then
      for _, object in ipairs(ring) do object.x = -1 end
    end
  end)
  assert(calls == (written and 500 or 0))
end

check("a chain of tables, each observed with the next", function()
  local first = {value = 0}
  local last = first
  gone[first] = true
  for i = 1, 20000 do
    local object = {value = i}
    gone[object] = true
    last.next = object
    obs.observe(last, "next.value", function() return object end)
    last = object
  end
  collectgarbage()
  local n = 0
  for _ in pairs(gone) do n = n + 1 end
  assert(n == 20001)
end)

check("an observer that holds the observed, and is held by it", function()
  local object = {x = 1}
  object.observer = {object}
  gone[object], gone[object.observer] = true, true
  obs.observe(object, "x", function(observed, observer) return observed, observer end,
    {observer = object.observer})
end)

check("immediate watchers, hooks, scopes and handles", function()
  local object = {x = 1}
  gone[object] = true
  object.handle = obs.observe(object, "x", function() return object end, {immediate = true})
  obs.on_observed(object, function() return object end)
  object.scope = obs.scope(function()
    obs.observe(object, {"*", "x.y"}, function() return object end)
  end)
  object.x = 2
end)

check("paths that lead to each other and back", function()
  local a, b = {}, {}
  a.other, b.other = b, a
  gone[a], gone[b] = true, true
  obs.observe(a, "other.other.other.x", function() return b end)
  obs.observe(b, "other.*.x", function() return a end)
  a.other.other.x = 1
end)

check("a metatable that is observed, too", function()
  local class = {}
  class.__index = class
  local object = setmetatable({x = 1}, class)
  gone[class], gone[object] = true, true
  obs.observe(class, "x", function() return object end)
  obs.observe(object, "x", function() return class end)
  object.x, class.x = 2, 3
end)

-- An `on_end` callback can hold the observed until it was called, in a separate turn.
local ends = 0
;(function()
  local object = {x = 1}
  gone[object] = true
  obs.observe(object, "x", function() end, {on_end = function() ends = ends + (object and 1) end})
end)()
collectgarbage()
obs.next_turn(function()
  obs.next_turn(function() check("on_end", function() assert(ends == 1) end) end)
end)
