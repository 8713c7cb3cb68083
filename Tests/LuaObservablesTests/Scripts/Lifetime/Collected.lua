-- L6: whatever callbacks capture and paths contain, objects without outside references are
-- collected.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/collecting.lua")

-- Callbacks ---------------------------------------------------------------------------------------

for _, is_written in ipairs {false, true} do
  local calls = 0
  goes("L6: a ring of callbacks that capture the next and the last object", function()
    local ring = {}
    for i = 1, 500 do ring[i] = {x = i} end
    for i, object in ipairs(ring) do
      local following, last = ring[i % 500 + 1], ring[(i - 2) % 500 + 1]
      obs.observe(object, "x", function(observed)
        calls = calls + 1
        return following.x + last.x + observed.x
      end, {equals = function() return following == last end})
    end
    if is_written then
      for _, object in ipairs(ring) do object.x = -1 end
    end
    return table.unpack(ring)
  end)
  check("L2: … each called for its write", function() eq(calls, is_written and 500 or 0) end)
end
goes("L6: a chain of tables, each observed with the next", function()
  local chain = {{value = 0}}
  for i = 2, 20000 do
    chain[i] = {value = i}
    chain[i - 1].next = chain[i]
    local object = chain[i]
    obs.observe(chain[i - 1], "next.value", function() return object end)
  end
  return chain[1], chain[10000], chain[20000]
end)
goes("L6: callbacks that capture the observed object, and functions the observer", function()
  local t, observer = {x = 1}, {}
  t.observer, observer.t = observer, t
  local function capture() return t, observer end
  obs.observe(t, {"x", "observer.t.y", "*"}, function() return t end, {
    observer = observer, equals = capture, on_end = capture, name = "n",
  })
  obs.observe(t, "x", nothing, {observer = t})
  t.handle = obs.observe(observer, "t", capture, {immediate = true})
  obs.on_observed(t, capture)
  t.scope = obs.scope(function() obs.observe(t, {"*", "x.y"}, capture) end)
  t.x = 2
  obs.flush()
  return t, observer
end)
goes("L6: paths that lead to each other and back", function()
  local a, b = {}, {}
  a.other, b.other = b, a
  obs.observe(a, "other.other.other.x", function() return b end)
  obs.observe(b, "other.*.x", function() return a end)
  a.other.other.x = 1
  return a, b
end)
goes("L6: a metatable that is observed, too", function()
  local class = {}
  class.__index = class
  local object = setmetatable({x = 1}, class)
  obs.observe(class, "x", function() return object end)
  obs.observe(object, "x", function() return class end)
  object.x, class.x = 2, 3
  return class, object
end)
turns("L6: an on_end that holds the observed object, until it was called", function()
  local ends = 0
  local weak = weakly(function()
    local object = {x = 1}
    obs.observe(object, "x", nothing, {on_end = function() ends = ends + (object and 1) end})
    return object
  end)
  collect()
  for _ = 1, 2 do turn() end
  collect()
  eq(ends, 1)
  eq(weak[1], nil)
end)
check("L6: a paused watcher whose missed change refers to its object is freed with it", function()
  local options = { {}, { immediate = true } }
  local changes = {
    function(t) t.a = t end, function(t) t.a = { t } end,
    function(t) t.a = { t } t.a = nil end,
  }
  local ways = {
    function(t, o) return obs.observe(t, "a", nothing, o) end,
    function(t, o) return obs.observe(t, { "*", "a.a" }, nothing, o) end,
    function(t, o)
      obs.computed(t, "c", { "a" }, function(t) return { t } end)
      return obs.observe(t, "c", nothing, o)
    end,
    function(t, o) t.a = {} return obs.observe(t, { "a.@count", "b" }, nothing, o) end,
    function(t, o) return obs.observe_edits(t, nothing, o) end,
  }
  local weak = setmetatable({}, { __mode = "k" })
  local function try(title, way, o, change, is_first)
    local t = {}
    weak[t] = title
    local w = way(t, o)
    obs.batch(function()
      if is_first then w:pause() end
      change(t)
      w:pause()
    end)
  end
  for i, way in ipairs(ways) do
    for k, o in ipairs(options) do
      for n, change in ipairs(changes) do
        for _, is_first in ipairs { true, false } do
          try(shown(i, k, n, is_first), way, o, change, is_first)
        end
      end
    end
  end
  -- The handles of the last change are recycled when the next one is saved.
  local other = {}
  local w = obs.observe(other, "a", nothing, { immediate = true })
  w:pause()
  other.a = {}
  for _ = 1, 2 do
    obs.flush()
    collect()
  end
  local left = {}
  for _, text in pairs(weak) do left[#left + 1] = text end
  eq(table.concat(left, ", "), "")
end)
for _, other in ipairs { "a", "*" } do
  goes_in_turn("L6: a key that is no longer watched, while others are", function(kept)
    local t, key = { a = 1 }, {}
    kept[1] = t
    obs.observe(t, other, nothing)
    obs.observe(t, obs.path(key), nothing):stop()
    return key
  end)
end
check("L6: 10,000 dropped objects leave no watchers", function()
  collect()
  local before = obs.stats().watchers
  for i = 1, 10000 do
    local t = { u = {} }
    obs.observe(t, { "a", "u.x" }, function() return t end)
  end
  collect()
  eq(obs.stats().watchers, before)
end)

-- Components of paths -----------------------------------------------------------------------------

-- Each function makes an object that is a component of a path.
for sentence, make in pairs {
  ["a path that leads through the observed object itself"] = function(t)
    obs.observe(t, obs.path("b", t), function() return t end)
  end,
  ["a path that its own component holds"] = function(k) k.p = obs.path("b", k) end,
  ["a path that the observed object holds, and is watched by"] = function(k)
    k.p = obs.path("b", k)
    obs.observe(k, k.p, nothing)
    obs.observe(k, {obs.path(k), "a", obs.path("c", k, k)}, nothing)
  end,
  ["a function and a coroutine as components"] = function(t)
    obs.observe(t, obs.path(function() return t end), nothing)
    obs.observe(t, obs.path("b", coroutine.create(function() return t end)), nothing)
  end,
  ["components of paths of two objects that lead to each other"] = function(a)
    local b = {}
    obs.observe(a, obs.path("x", b), nothing)
    obs.observe(b, obs.path("x", a), nothing)
  end,
  ["a path that was added later"] = function(t)
    t.w = obs.observe(t, "a", nothing)
    t.w:observe(obs.path("b", t))
  end,
  ["a path of a watcher with all options"] = function(t)
    t.observer = {}
    obs.observe(t, obs.path("b", t), nothing, {
      immediate = true, name = "n", equals = rawequal, observer = t.observer, on_end = nothing,
      initial = true,
    })
    t.b = {[t] = 1}
  end,
  ["a path that was heard"] = function(t)
    t.b = {}
    local n = counter(t, obs.path("b", t))
    t.b[t] = 1
    eq(n(), 1)
    t.b = {[t] = {t}}
    eq(n(), 1)
  end,
  ["keys that are observed together"] = function(t)
    obs.observe_keys(t, {t, "a"}, function() return t end)
    t[t] = 1
  end,
  ["dependencies of a computed property"] = function(t)
    local other = {t = t}
    obs.computed(t, "c", {obs.path("b", t)}, function(self) return self.b and self.b[t] end)
    obs.computed(t, "d", {{other, obs.path("b", t)}, "c"}, function(self) return self.c end)
    obs.observe(t, "d", nothing)
    local _ = t.d
    t.b = {[t] = 1}
    eq(t.d, 1)
  end,
  ["objects that a tracked getter reads"] = function(t)
    obs.computed(t, "c", function(self) return self[self] end)
    obs.observe(t, "c", nothing)
    t[t] = 1
    eq(t.c, 1)
  end,
  ["a path that is read, assigned and stopped"] = function(t)
    t.b, t.p = {}, obs.path("b", t)
    obs.set(t, t.p, 5)
    eq(obs.get(t, t.p), 5)
    obs.observe(t, t.p, nothing)
    eq(obs.stop(t, t.p), 1)
  end,
  ["a member of a set that is watched"] = function(t)
    t.set = obs.set_of {}
    t.set:add(t)
    obs.observe(t.set, t.set:key_of(t), nothing)
  end,
} do
  goes("L6: " .. sentence, function()
    local t = {}
    make(t)
    return t
  end)
end

-- The same if another object stays, and a path with the object leads through it.
local through = {
  ["a path through it"] = function(t)
    obs.observe(t, obs.path("map", t), function() return t end)
  end,
  ["a value that was taken out"] = function(t, other)
    local n = counter(t, obs.path("map", t))
    other[t] = 1
    eq(n(), 1)
    other[t] = nil
    eq(n(), 1)
  end,
  ["one of many paths"] = function(t, other)
    for i = 1, 30 do
      local t = i == 30 and t or {map = other}
      obs.observe(t, {obs.path("map", t), obs.path("map", "k" .. i)}, nothing, {immediate = i > 9})
    end
  end,
  ["a getter that reads it"] = function(t, other)
    obs.computed(t, "c", function(self) return other[self] end)
    obs.observe(t, "c", nothing)
    eq(t.c, nil)
  end,
}
for name, new in pairs {
  table = function() return {} end, dictionary = function() return obs.dictionary {} end,
  ["table with keys"] = function()
    local t = {}
    for i = 1, 20 do t["k" .. i], t[i], t[{}] = i, i, i end
    return t
  end,
} do
  for sentence, make in pairs(through) do
    local kept = new()
    goes(("L6: beside a %s that stays, %s"):format(name, sentence), function()
      local t = {map = kept}
      make(t, kept)
      return t
    end)
    check(("L6: … and the %s is as before (%s)"):format(name, sentence), function()
      obs.flush()
      eq(#obs.observed_keys(kept), 0)
      local k = {}
      local n, w = counter(kept, obs.path(k))
      kept[k] = 1
      eq(n(), 1)
      w:stop()
      obs.flush()
      kept[k] = 2
      eq(n(), 0)
      kept[k] = nil
    end)
  end
end
goes_in_turn("L6: a component whose path was removed from a watcher that stays", function(kept)
  local k, t = {}, {b = {}}
  kept[1] = t
  local w = obs.observe(t, {"a", obs.path("b", k)}, nothing)
  eq(obs.stop(t, obs.path("b", k)), 1)
  eq(w.active, true)
  return k
end)
goes_in_turn("L6: a component whose watcher was stopped", function(kept)
  local k, t = {}, {b = {}}
  kept[1] = t
  obs.observe(t, obs.path("b", {}), nothing)
  obs.observe(t, obs.path("b", k), nothing):stop()
  return k
end)

-- Objects that are kept ---------------------------------------------------------------------------

example("L6: a watcher keeps the components of its paths, and a path keeps its own", "n()", [[
  local t, weak = { b = {} }, setmetatable({ {}, {} }, { __mode = "v" })
  local n, w = counter(t, { obs.path("b", weak[1]), obs.path("b", {}) })
  local path = obs.path("b", weak[2])
  for _ = 1, 3 do collectgarbage() end
  t.b[weak[1] ] = 1                 --> 1
  t.b = { [weak[1] ] = 2 }          --> 1
  -- One of two equal paths ends, the other stays.
  w:observe(obs.path("b", weak[1]))
  = obs.stop(t, obs.path("b", weak[1]))  --> 2
  w:observe(obs.path("b", weak[1]))
  for _ = 1, 3 do collectgarbage() end
  t.b[weak[1] ] = 3                 --> 1
  n = counter(t, path)
  t.b[weak[2] ] = 1                 --> 1
]])
check("C6: a member whose membership is watched is kept by its watcher", function()
  for _, count in ipairs {1, 20} do
    local set, alive = obs.set_of {}, setmetatable({}, {__mode = "k"})
    for _ = 1, count do
      local member = {}
      alive[member] = true
      obs.observe(set, set:key_of(member), nothing)
    end
    collect()
    local kept = 0
    for _ in next, alive do kept = kept + 1 end
    eq(kept, count)
  end
end)
check("L8: an object that its finalizer brings back is a key as before", function()
  local map, back = {}, {}
  local seen = 0
  for i = 1, 12 do
    local t = setmetatable({map = map}, {__gc = function(self) back[#back + 1] = self end})
    obs.observe(t, obs.path("map", t), function() seen = seen + 1 end, {immediate = true})
  end
  for _ = 1, 3 do collectgarbage() end
  eq(#back, 12)
  for i, t in ipairs(back) do map[t] = i end
  eq(seen, 12)
  for i = 2, 12, 2 do eq(obs.stop(back[i]), 1) end
  obs.flush()
  for i, t in ipairs(back) do
    eq(map[t], i)
    map[t] = nil
    eq(map[t], nil)
  end
  eq(seen, 18)
end)
check("L6: a new object at the address of a collected one has its own record", function()
  local map, seen = {}, 0
  for round = 1, 300 do
    local t = {map = map}
    obs.observe(t, obs.path("map", t), function() seen = seen + 1 end, {immediate = true})
    map[t] = round
    map[t] = nil
    eq(seen, 2 * round)
    t = nil
    if round % 7 == 0 then collectgarbage() end
    if round % 13 == 0 then obs.flush() end
  end
end)

finish()
