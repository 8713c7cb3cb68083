-- L1–L6 with lazy properties: unreferenced objects are collected, and unneeded links are removed.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

local function collect()
  turn()
  collectgarbage()
  collectgarbage()
  turn()
end
local function computed(way, t, name, deps, get)
  if way == "tracked" then return obs.computed(t, name, get) end
  return obs.computed(t, name, deps, get)
end

for _, way in ipairs {"declared", "tracked"} do
  local function check(sentence, body) turns(sentence .. " (" .. way .. ")", body) end

  check("an object with computed properties and watchers that capture it is collected", function()
    local weak, handle = setmetatable({}, {__mode = "v"}), nil
    do
      local t = {first = 1, inner = {x = 1}}
      weak[1], weak[2] = t, t.inner
      computed(way, t, "a", {"first", "inner.x"}, function(self)
        return t and self.first + self.inner.x
      end)
      computed(way, t, "b", {"a"}, function(self) return {self.a, t} end)
      obs.lazy(t, "c", function(self) return self end)
      handle = obs.observe(t, {"a", "b", "c"}, function() return t end)
      obs.observe(t, "b", function() return t end, {immediate = true})
      t.first = 2
      eq(t.a, 3)
    end
    turn()
    collectgarbage()
    collectgarbage()
    eq(weak[1], nil)
    eq(weak[2], nil)
    turn()
    eq(handle.active, false)
  end)
  check("also unwatched, and never computed", function()
    local weak = setmetatable({}, {__mode = "v"})
    do
      local t, u = {first = 1}, {first = 1}
      weak[1], weak[2] = t, u
      computed(way, t, "a", {"first"}, function(self) return t and self.first end)
      computed(way, u, "a", {"first"}, function(self) return u and self.first end)
      eq(t.a, 1)
    end
    collectgarbage()
    collectgarbage()
    eq(weak[1], nil)
    eq(weak[2], nil)
  end)
  check("objects whose properties depend on each other are collected", function()
    local weak = setmetatable({}, {__mode = "v"})
    do
      local a, b = {n = 1}, {n = 2}
      a.other, b.other = b, a
      weak[1], weak[2] = a, b
      computed(way, a, "x", {"other.n"}, function(self) return self.other.n end)
      computed(way, b, "x", {"other.x"}, function(self) return self.other.x end)
      obs.observe(b, "x", function() return a, b end)
      a.n, b.n = 3, 4
      obs.flush()
      eq(b.x, 4)
    end
    collect()
    eq(weak[1], nil)
    eq(weak[2], nil)
  end)
  check("a dependent of a source that stays is collected", function()
    local source, weak = {x = 1}, setmetatable({}, {__mode = "v"})
    do
      local t = {source = source}
      weak[1] = t
      computed(way, t, "y", {"source.x"}, function(self) return self.source.x end)
      obs.observe(t, "y", function() return t end)
      source.x = 2
      obs.flush()
      eq(t.y, 2)
    end
    collect()
    eq(weak[1], nil)
    source.x = 3
    obs.flush()
  end)
  check("a pending watcher is called once more", function()
    local source, calls = {x = 1}, 0
    do
      local t = {source = source}
      computed(way, t, "y", {"source.x"}, function(self) return self.source.x end)
      obs.observe(t, "y", function() calls = calls + 1 end)
    end
    source.x = 2
    collectgarbage()
    collectgarbage()
    obs.flush()
    eq(calls, 1)
    collect()
    source.x = 3
    obs.flush()
    eq(calls, 1)
  end)
  check("a dependency that was replaced is collected", function()
    local weak = setmetatable({}, {__mode = "v"})
    local t = {inner = {x = 1}}
    weak[1] = t.inner
    computed(way, t, "y", {"inner.x"}, function(self) return self.inner.x end)
    eq(t.y, 1)
    t.inner = {x = 2}
    collect()
    eq(weak[1], nil)
    eq(t.y, 2)
  end)
  check("dropping an unobserved computed unlinks it", function()
    local source = {x = 1}
    collect()
    local before = obs.stats().observed
    do
      local t = {source = source}
      computed(way, t, "y", {"source.x"}, function(self) return self.source.x end)
      eq(t.y, 1)
      assert(obs.stats().observed > before, "nothing is observed")
    end
    collect()
    collect()
    eq(obs.stats().observed, before)
    source.x = 2
  end)
  check("forgetting it unlinks it", function()
    local source, t = {x = 1}, {}
    collect()
    local before = obs.stats().observed
    t.source = source
    computed(way, t, "y", {"source.x"}, function(self) return self.source.x end)
    eq(t.y, 1)
    obs.forget(t, "y")
    collect()
    collect()
    assert(obs.stats().observed <= before, obs.stats().observed - before)
  end)
  check("rounds of declaring, reading, watching and dropping leave nothing behind", function()
    local source = {x = 1}
    local function round(n)
      local t = {source = source}
      computed(way, t, "y", {"source.x"}, function(self) return self.source.x end)
      computed(way, t, "z", {"y"}, function(self) return self.y end)
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
    for n = 1, 500 do round(n) end
    collect()
    collect()
    local before, stats = collectgarbage "count", obs.stats()
    for n = 1, os.getenv "OBS_LIGHT" and 500 or 5000 do round(n) end
    collect()
    collect()
    local grown = collectgarbage "count" - before
    assert(grown < 100, grown)
    eq(obs.stats().observed, stats.observed)
    eq(obs.stats().watchers, stats.watchers)
  end)
  check("rounds of invalidating and computing leave nothing behind", function()
    local t = {a = 1, list = {1, 2, 3}}
    computed(way, t, "y", {"a", "list.*"}, function(self)
      local sum = self.a
      for _, v in ipairs(self.list) do sum = sum + v end
      return sum
    end)
    local function rounds(count)
      for n = 1, count do
        t.a = n
        t.list[n % 3 + 1] = n
        local _ = t.y
        if n % 100 == 0 then turn() end
      end
    end
    rounds(500)
    collect()
    local before = collectgarbage "count"
    rounds(os.getenv "OBS_LIGHT" and 500 or 10000)
    collect()
    assert(collectgarbage "count" - before < 50, collectgarbage "count" - before)
  end)
end
turns("a value that refers to its object does not leak", function()
  local weak = setmetatable({}, {__mode = "v"})
  do
    local t = {}
    weak[1] = t
    obs.lazy(t, "view", {create = function(argument) return {owner = argument} end, with = t,
      configure = function(self, view) view.again = self end})
    eq(t.view.owner, t)
    obs.lazy(t, "x", {loader = function(self) self.x = {self, t} end})
    eq(t.x[1], t)
  end
  collect()
  eq(weak[1], nil)
end)
turns("the root object of a dependency is held only as long as its dependent lives", function()
  local weak = setmetatable({}, {__mode = "v"})
  local t = {}
  do
    local settings = {zoom = 2}
    weak[1] = settings
    obs.computed(t, "x", {{settings, "zoom"}}, function() return weak[1] and weak[1].zoom end)
    eq(t.x, 2)
  end
  obs.forget(t, "x")
  collect()
  eq(weak[1], nil)
end)
turns("the dependent of an object elsewhere does not keep it both ways", function()
  local weak = setmetatable({}, {__mode = "v"})
  do
    local a, b = {n = 1}, {n = 2}
    weak[1], weak[2] = a, b
    obs.computed(a, "x", {{b, "n"}}, function() return b.n end)
    obs.computed(b, "x", {{a, "n"}}, function() return a.n end)
    eq(a.x + b.x, 3)
    obs.observe(a, "x", function() return b end)
  end
  collect()
  eq(weak[1], nil)
  eq(weak[2], nil)
end)
turns("the old value is released after watchers received the next", function()
  local t, weak = {n = 1}, setmetatable({}, {__mode = "v"})
  obs.computed(t, "x", {"n"}, function(self)
    weak[self.n] = {self.n}
    return weak[self.n]
  end)
  obs.observe(t, "x.1", function() end)
  for n = 2, 4 do
    t.n = n
    obs.flush()
  end
  collect()
  for n = 1, 3 do eq(weak[n], nil) end
  eq(weak[4], t.x)
end)
turns("weak tables stay weak", function()
  local t = setmetatable({}, {__mode = "v"})
  obs.lazy(t, "x", function() return {} end)
  local _ = t.x
  t.other = {}
  collect()
  eq(t.other, nil)
  eq(type(t.x), "table")
end)
turns("__gc of an object with lazy properties runs, and may read them", function()
  local got
  do
    local t = setmetatable({a = 2}, {__gc = function(self) got = self.x end})
    obs.computed(t, "x", {"a"}, function(self) return self.a * 2 end)
    eq(t.x, 4)
    t.a = 5
  end
  collect()
  collect()
  eq(got, 10)
end)
turns("finalizers may read invalid properties of a chain under computation", function()
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
  collect()
  eq(finalized, 150 * 5)
  nodes = nil
  -- No table that a getter has read is kept alive, and neither is the next one.
  local last = made {}
  obs.computed(last, "value", function(self) return self.itself == self end)
  eq(last.value, true)
  last = nil
  for _ = 1, 3 do collect() end
  eq(next(weak), nil)
end)
finish()
