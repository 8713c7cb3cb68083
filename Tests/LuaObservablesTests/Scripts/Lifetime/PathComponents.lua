-- L6: objects that are components of paths are collected with their watchers.
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")
local obs = require "obs"

-- Checks that the object from `make` is collected once nothing outside refers to it.
local function goes(sentence, make)
  check(sentence, function()
    local weak = setmetatable({}, {__mode = "v"})
    weak[1] = make()
    obs.flush()
    for _ = 1, 2 do collectgarbage() end
    eq(weak[1], nil)
  end)
end

goes("a path that leads through the observed object itself", function()
  local t = {}
  obs.observe(t, obs.path("b", t), function() return t end)
  return t
end)

goes("a path that its own component holds", function()
  local k = {}
  k.p = obs.path("b", k)
  return k
end)

goes("a path that the observed object holds, and is watched by", function()
  local k = {}
  k.p = obs.path("b", k)
  obs.observe(k, k.p, nothing)
  obs.observe(k, {obs.path(k), "a", obs.path("c", k, k)}, nothing)
  return k
end)

goes("a function and a coroutine as components", function()
  local t = {}
  obs.observe(t, obs.path(function() return t end), nothing)
  obs.observe(t, obs.path("b", coroutine.create(function() return t end)), nothing)
  return t
end)

goes("components of paths of two objects that lead to each other", function()
  local a, b = {}, {}
  obs.observe(a, obs.path("x", b), nothing)
  obs.observe(b, obs.path("x", a), nothing)
  return a
end)

goes("a path that was added later", function()
  local t = {}
  local w = obs.observe(t, "a", nothing)
  w:observe(obs.path("b", t))
  t.w = w
  return t
end)

goes("a path of a watcher with all options", function()
  local t, observer = {}, {}
  t.observer = observer
  obs.observe(t, obs.path("b", t), nothing, {
    immediate = true, name = "n", equals = rawequal, observer = observer, on_end = nothing,
    initial = true,
  })
  t.b = {[t] = 1}
  return t
end)

goes("a path that was heard", function()
  local t = {b = {}}
  local n = counter(t, obs.path("b", t))
  t.b[t] = 1
  eq(n(), 1)
  t.b = {[t] = {t}}
  eq(n(), 1)
  return t
end)

goes("keys that are observed together", function()
  local t = {}
  obs.observe_keys(t, {t, "a"}, function() return t end)
  t[t] = 1
  return t
end)

goes("dependencies of a computed property", function()
  local t, other = {}, {}
  obs.computed(t, "c", {obs.path("b", t)}, function(self) return self.b and self.b[t] end)
  obs.computed(t, "d", {{other, obs.path("b", t)}, "c"}, function(self) return self.c end)
  obs.observe(t, "d", nothing)
  other.t = t
  local _ = t.d
  t.b = {[t] = 1}
  eq(t.d, 1)
  return t
end)

goes("objects that a tracked getter reads", function()
  local t = {}
  obs.computed(t, "c", function(self) return self[self] end)
  obs.observe(t, "c", nothing)
  t[t] = 1
  eq(t.c, 1)
  return t
end)

goes("a path that is read, assigned and stopped", function()
  local t = {b = {}}
  local path = obs.path("b", t)
  obs.set(t, path, 5)
  eq(obs.get(t, path), 5)
  obs.observe(t, path, nothing)
  eq(obs.stop(t, path), 1)
  t.p = path
  return t
end)

goes("a member of a set that is watched", function()
  local t, set = {}, obs.set_of {}
  set:add(t)
  t.set = set
  obs.observe(set, set:key_of(t), nothing)
  return t
end)

check("C6: a member whose membership is watched is kept by its watcher", function()
  for _, count in ipairs {1, 20} do
    local set, alive = obs.set_of {}, setmetatable({}, {__mode = "k"})
    for _ = 1, count do
      local member = {}
      alive[member] = true
      obs.observe(set, set:key_of(member), nothing)
    end
    collectgarbage()
    collectgarbage()
    local kept = 0
    for _ in next, alive do kept = kept + 1 end
    eq(kept, count)
  end
end)

-- The same if another object stays, and a path with the object leads through it.
local function goes_beside(sentence, other, make)
  local kept = other
  goes(sentence, function() return make(other) end)
  check(sentence .. ", and the other is as before", function()
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

local others = {
  table = function() return {} end,
  ["table with keys"] = function()
    local t = {}
    for i = 1, 20 do t["k" .. i], t[i], t[{}] = i, i, i end
    return t
  end,
  dictionary = function() return obs.dictionary {} end,
}
for name, new in pairs(others) do
  goes_beside("a path through a " .. name .. " that stays", new(), function(other)
    local t = {map = other}
    obs.observe(t, obs.path("map", t), function() return t end)
    return t
  end)
  goes_beside("a value in a " .. name .. " that was taken out", new(), function(other)
    local t = {map = other}
    local n = counter(t, obs.path("map", t))
    other[t] = 1
    eq(n(), 1)
    other[t] = nil
    eq(n(), 1)
    return t
  end)
  goes_beside("one of many paths through a " .. name .. " that stays", new(), function(other)
    local last
    for i = 1, 30 do
      local t = {map = other}
      obs.observe(t, {obs.path("map", t), obs.path("map", "k" .. i)}, nothing, {immediate = i > 9})
      last = t
    end
    return last
  end)
  goes_beside("a getter that reads a " .. name .. " that stays", new(), function(other)
    local t = {}
    obs.computed(t, "c", function(self) return other[self] end)
    obs.observe(t, "c", nothing)
    eq(t.c, nil)
    return t
  end)
end

check("an object that its finalizer brings back is a key as before (L8)", function()
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
  for i, t in ipairs(back) do
    if i % 2 == 0 then eq(obs.stop(t), 1) end
  end
  obs.flush()
  for i, t in ipairs(back) do
    eq(map[t], i)
    map[t] = nil
    eq(map[t], nil)
  end
  eq(seen, 18)
end)

check("a new object at the address of a collected one has its own record", function()
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

-- The engine forgets unobserved objects when the turn ends.
local function goes_in_turn(sentence, make)
  turns(sentence, function()
    local weak, kept = setmetatable({}, {__mode = "v"}), {}
    weak[1], kept[1] = make()
    turn()
    for _ = 1, 3 do collectgarbage() end
    eq(weak[1], nil)
  end)
end

goes_in_turn("a component whose path was removed from a watcher that stays", function()
  local k, t = {}, {b = {}}
  local w = obs.observe(t, {"a", obs.path("b", k)}, nothing)
  eq(obs.stop(t, obs.path("b", k)), 1)
  eq(w.active, true)
  return k, t
end)

goes_in_turn("a component whose watcher was stopped", function()
  local k, t = {}, {b = {}}
  local w = obs.observe(t, obs.path("b", k), nothing)
  obs.observe(t, obs.path("b", {}), nothing)
  w:stop()
  return k, t
end)

check("a watcher keeps the components of its paths", function()
  local t = {b = {}}
  local weak = setmetatable({{}}, {__mode = "v"})
  local n, w = counter(t, {obs.path("b", weak[1]), obs.path("b", {})})
  for _ = 1, 3 do collectgarbage() end
  assert(weak[1])
  t.b[weak[1]] = 1
  eq(n(), 1)
  t.b = {[weak[1]] = 2}
  eq(n(), 1)
  -- One of two equal paths ends, the other stays.
  w:observe(obs.path("b", weak[1]))
  eq(obs.stop(t, obs.path("b", weak[1])), 2)
  w:observe(obs.path("b", weak[1]))
  for _ = 1, 3 do collectgarbage() end
  t.b[weak[1]] = 3
  eq(n(), 1)
end)

check("a path keeps its components", function()
  local weak = setmetatable({{}}, {__mode = "v"})
  local path = obs.path("b", weak[1])
  for _ = 1, 3 do collectgarbage() end
  local t = {b = {}}
  local n = counter(t, path)
  t.b[weak[1]] = 1
  eq(n(), 1)
end)

finish()
