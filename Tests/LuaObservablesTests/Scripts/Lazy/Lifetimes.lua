-- L1–L6 with lazy properties: unreferenced objects are collected, and unneeded links are removed.
-- `Cases/objects.lua` has the collection of graphs.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/collecting.lua")

function tracked(t, name, _, get) return obs.computed(t, name, get) end

for way, computed in pairs {declared = obs.computed, tracked = tracked} do
  local function named(sentence) return ("L6: %s (%s)"):format(sentence, way) end

  goes_in_turn(named "an object with computed properties and watchers that capture it", function()
    local t, unread = {first = 1, inner = {x = 1}}, {first = 1}
    computed(t, "a", {"first", "inner.x"}, function(self)
      return t and self.first + self.inner.x
    end)
    computed(t, "b", {"a"}, function(self) return {self.a, t} end)
    obs.lazy(t, "c", function(self) return self end)
    obs.observe(t, {"a", "b", "c"}, function() return t end)
    obs.observe(t, "b", function() return t end, {immediate = true})
    t.first = 2
    eq(t.a, 3)
    computed(unread, "a", {"first"}, function(self) return unread and self.first end)
    return t, t.inner, unread
  end)
  goes(named "objects whose properties depend on each other", function()
    local a, b = {n = 1}, {n = 2}
    a.other, b.other = b, a
    computed(a, "x", {"other.n"}, function(self) return self.other.n end)
    computed(b, "x", {"other.x"}, function(self) return self.other.x end)
    obs.observe(b, "x", function() return a, b end)
    a.n, b.n = 3, 4
    obs.flush()
    eq(b.x, 4)
    return a, b
  end)
  turns(named "dropping an unobserved property, and forgetting one, removes its links", function()
    local function engine_objects()
      for _ = 1, 2 do
        turn()
        collect()
        turn()
      end
      return obs.stats().observed
    end
    local source, kept = {x = 1}, {}
    local before = engine_objects()
    for _, forgets in ipairs {false, true} do
      local t = forgets and kept or {}
      t.source = source
      computed(t, "y", {"source.x"}, function(self) return self.source.x end)
      eq(t.y, 1)
      assert(obs.stats().observed > before, "nothing is observed")
      if forgets then obs.forget(t, "y") end
      t = nil
      eq(engine_objects(), before)
      source.x = 1
    end
  end)
  turns(named "rounds of declaring, reading, watching and dropping leave nothing behind", function()
    local source = {x = 1}
    local function round(n)
      local t = {source = source}
      computed(t, "y", {"source.x"}, function(self) return self.source.x end)
      computed(t, "z", {"y"}, function(self) return self.y end)
      local w = n % 2 == 0 and obs.observe(t, "z", nothing)
      eq(t.z, source.x)
      source.x = n
      if n % 3 == 0 then obs.flush() end
      if w and n % 4 == 0 then w:stop() end
      if n % 5 == 0 then obs.forget(t, {"y", "z"}) end
      if n % 50 == 0 then
        turn()
        collectgarbage()
      end
    end
    local t = {a = 1, list = {1, 2, 3}}
    computed(t, "y", {"a", "list.*"}, function(self)
      local sum = self.a
      for _, v in ipairs(self.list) do sum = sum + v end
      return sum
    end)
    -- Also rounds of invalidating and computing.
    local function rounds(count)
      for n = 1, count do
        round(n)
        t.a = n
        t.list[n % 3 + 1] = n
        local _ = t.y
      end
      for _ = 1, 2 do
        turn()
        collect()
        turn()
      end
      return collectgarbage "count", obs.stats()
    end
    local before, first = rounds(500)
    local after, last = rounds(os.getenv "OBS_LIGHT" and 500 or 5000)
    assert(after - before < 100, after - before)
    eq(last.observed, first.observed)
    eq(last.watchers, first.watchers)
  end)
end
goes("L6: a value that refers to its object", function()
  local t = {}
  obs.lazy(t, "view", {create = function(argument) return {owner = argument} end, with = t,
    configure = function(self, view) view.again = self end})
  eq(t.view.owner, t)
  obs.lazy(t, "x", {loader = function(self) self.x = {self, t} end})
  eq(t.x[1], t)
  return t
end)
goes_in_turn("L6: the root object of a dependency, after its dependent is forgotten", function(kept)
  local settings, t = {zoom = 2}, kept
  local weak = setmetatable({settings}, {__mode = "v"})
  obs.computed(t, "x", {{settings, "zoom"}}, function() return weak[1] and weak[1].zoom end)
  eq(t.x, 2)
  obs.forget(t, "x")
  return settings
end)
goes("L6: objects that depend on each other from elsewhere", function()
  local a, b = {n = 1}, {n = 2}
  obs.computed(a, "x", {{b, "n"}}, function() return b.n end)
  obs.computed(b, "x", {{a, "n"}}, function() return a.n end)
  eq(a.x + b.x, 3)
  obs.observe(a, "x", function() return b end)
  return a, b
end)
goes_in_turn("Z2: an outdated value that nothing is compared with", function(kept)
  kept.n = 1
  obs.computed(kept, "x", {"n"}, function() return {} end)
  local value = kept.x
  kept.n = 2
  return value
end)
turns("L6: the old value is released after watchers received the next", function()
  local t, weak = {n = 1}, setmetatable({}, {__mode = "v"})
  obs.computed(t, "x", {"n"}, function(self)
    weak[self.n] = {self.n}
    return weak[self.n]
  end)
  obs.observe(t, "x.1", nothing)
  for n = 2, 4 do
    t.n = n
    obs.flush()
  end
  turn()
  collect()
  for n = 1, 3 do eq(weak[n], nil) end
  eq(weak[4], t.x)
end)
turns("L7: weak tables stay weak, and finalizers may read lazy properties", function()
  local t, got = setmetatable({}, {__mode = "v"}), nil
  obs.lazy(t, "x", function() return {} end)
  local _ = t.x
  t.other = {}
  do
    local u = setmetatable({a = 2}, {__gc = function(self) got = self.x end})
    obs.computed(u, "x", {"a"}, function(self) return self.a * 2 end)
    eq(u.x, 4)
    u.a = 5
  end
  for _ = 1, 2 do
    turn()
    collect()
  end
  eq(t.other, nil)
  eq(type(t.x), "table")
  eq(got, 10)
end)
turns("L8: finalizers may read invalid properties of a chain under computation", function()
  local finalized, weak = 0, setmetatable({}, {__mode = "v"})
  local function made(t)
    weak[#weak + 1], t.itself = t, t
    return t
  end
  local function leave_garbage()
    setmetatable({}, {
      __gc = function()
        local t = made {n = finalized}
        obs.computed(t, "x", {"n"}, function(self) return self.n + 1 end)
        finalized = t.x
      end,
    })
  end
  local pause, speed = collectgarbage("setpause", 1), collectgarbage("setstepmul", 10000)
  -- Each table is reached through an upvalue only, so that it is opened when its getter begins.
  local nodes = {[0] = {value = 1}}
  for i = 1, 150 do
    nodes[i] = made {}
    obs.computed(nodes[i], "value", function()
      for _ = 1, 5 do leave_garbage() end
      return nodes[i - 1].value + 1
    end)
  end
  eq(nodes[150].value, 151)
  collectgarbage("setpause", pause)
  collectgarbage("setstepmul", speed)
  turn()
  collect()
  eq(finalized, 150 * 5)
  nodes = nil
  -- No table that a getter has read is kept alive, and neither is the next one.
  local last = made {}
  obs.computed(last, "value", function(self) return self.itself == self end)
  eq(last.value, true)
  last = nil
  for _ = 1, 3 do
    turn()
    collect()
  end
  eq(next(weak), nil)
end)
finish()
