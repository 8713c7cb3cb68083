-- T12: a getter cannot cause a trap or unbounded recursion.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/examples.lua")

-- Every misdeed in every kind of getter: read, watched, and watched immediately.
local misdeeds = {
  ["writes what it depends on"] = function(self) self.a = self.a + 1 end,
  ["writes what it depends on, and back"] = function(self)
    self.a = self.a + 1
    self.a = self.a - 1
  end,
  ["overrides itself"] = function(self) self.x = 5 end,
  ["invalidates itself"] = function(self) obs.invalidate(self, "x") end,
  ["invalidates all"] = function(self) obs.invalidate(self) end,
  ["forgets itself"] = function(self) obs.forget(self, "x") end,
  ["declares itself again"] = function(self) obs.lazy(self, "x", function() return 7 end) end,
  ["declares another"] = function(self)
    obs.computed(self, "other", {"a"}, function() return 7 end)
  end,
  ["reads another that is declared there"] = function(self)
    obs.computed(self, "other", {"a"}, function(me) return me.a end)
    return self.other
  end,
  ["flushes"] = function() obs.flush() end,
  ["flushes in pcall"] = function() pcall(obs.flush) end,
  ["observes itself"] = function(self) obs.observe(self, "x", nothing) end,
  ["observes what it depends on"] = function(self) obs.observe(self, "a", nothing):stop() end,
  ["observes all"] = function(self) obs.observe(self, "*", nothing) end,
  ["stops all"] = function(self) obs.stop(self) end,
  ["collects"] = function() collectgarbage() collectgarbage() end,
  ["steps the collector"] = function()
    for i = 1, 1000 do local _ = {i} end
    collectgarbage "step"
  end,
  ["raises"] = function() error "no" end,
  ["raises nil"] = function() error() end,
  ["yields"] = function() coroutine.yield(1) end,
  ["sleeps"] = function() obs.sleep(0) end,
  ["starts a task"] = function(self)
    obs.task(function()
      obs.sleep(0)
      self.a = 1
    end)
  end,
  ["reads in a coroutine"] = function(self)
    return coroutine.wrap(function()
      coroutine.yield(self.a)
      return 1
    end)()
  end,
  ["leaves a coroutine open"] = function(self)
    local co = coroutine.create(function()
      local _ = self.a
      coroutine.yield()
      return self.a
    end)
    coroutine.resume(co)
    self.co = co
  end,
  ["goes on with a coroutine left open"] = function(self)
    if self.co then coroutine.resume(self.co) end
  end,
  ["batches"] = function(self) obs.batch(function() self.b = self.a end) end,
  ["reads itself by obs.get"] = function(self) obs.get(self, "x") end,
  ["reads itself in pcall"] = function(self) return pcall(function() return self.x end) end,
  ["peeks at itself"] = function(self) obs.peek(self, "x") end,
  ["forces itself"] = function(self) obs.force(self) end,
  ["asks if it is valid"] = function(self) obs.is_valid(self, "x") end,
  ["lists names"] = function(self)
    obs.valid_names(self)
    obs.invalid_names(self)
  end,
  ["describes"] = function(self)
    obs.describe(self)
    obs.stats()
    obs.observed_keys(self)
  end,
  ["triggers"] = function(self) obs.trigger(self, "a", nil) end,
  ["goes over itself"] = function(self)
    for key, value in pairs(self) do local _ = key, value end
    return next(self)
  end,
  ["changes its metatable"] = function(self)
    setmetatable(self, {__index = function() return 3 end})
  end,
  ["removes what it depends on"] = function(self) self.a = nil end,
  ["sorts"] = function(self)
    table.sort(self.list, function(p, q) return self.a and p > q end)
    return self.list[1]
  end,
  ["has a metamethod that raises"] = function(self)
    return setmetatable({}, {__add = function() error "add" end}) + 1
  end,
  ["loads a chunk"] = function(self) return load("return ...")(self.a) end,
  ["takes a traceback"] = function() return debug.traceback() end,
  ["clears"] = function(self) for key in pairs(self) do self[key] = nil end end,
  ["makes many objects"] = function(self)
    for i = 1, 100 do
      local t = {a = i}
      obs.computed(t, "x", {"a"}, function(me) return me.a end)
      eq(t.x, i)
    end
  end,
}
local ways = {
  declared = function(t, get) obs.computed(t, "x", {"a", "list.*"}, get) end,
  tracked = function(t, get) obs.computed(t, "x", get) end,
  lazy = function(t, get) obs.lazy(t, "x", get) end,
  loader = function(t, get)
    obs.lazy(t, "x", {deps = {"a"}, loader = function(self) self.x = get(self) end})
  end,
  created = function(t, get) obs.lazy(t, "x", {create = function() return get(t) end}) end,
  ["not kept"] = function(t, get) obs.lazy(t, "x", {get = get, deps = {"a"}, cached = false}) end,
}
local uses = {
  read = nothing,
  watched = function(t) obs.observe(t, "x", nothing) end,
  ["watched immediately"] = function(t) obs.observe(t, "x", nothing, {immediate = true}) end,
  ["watched behind"] = function(t) obs.observe(t, "x.y", nothing) end,
  ["watched with all"] = function(t) obs.observe(t, "*", nothing) end,
  ["by another"] = function(t)
    obs.computed(t, "y", function(self) return self.x end)
    obs.observe(t, "y", nothing)
  end,
}
for way, declare in pairs(ways) do
  for use, prepare in pairs(uses) do
    for misdeed, body in pairs(misdeeds) do
      check(("a getter that %s (%s, %s)"):format(misdeed, way, use), function()
        reporting(function()
          local t = {a = 1, b = 0, list = {2, 1, 3}}
          local depth, runs = 0, 0
          declare(t, function(self)
            depth, runs = depth + 1, runs + 1
            assert(depth < 2000, "without bound")
            assert(runs < 5000, "without end")
            local _ = self.a
            local guard <close> = setmetatable({}, {__close = function() depth = depth - 1 end})
            return body(self)
          end)
          prepare(t)
          for n = 1, 3 do
            pcall(function() return t.x end)
            t.a = n * 10
            if t.list then t.list[1] = n end
            pcall(function() return t.x end)
            obs.flush()
            t.a = n
            obs.flush()
          end
          assert(runs < 5000, runs)
          obs.stop(t)
          obs.flush()
          -- Other properties work afterwards.
          local u = {a = 1}
          obs.computed(u, "x", function(self) return self.a end)
          local n = counter(u, "x")
          u.a = 2
          eq(n(), 1)
          eq(u.x, 2)
        end)
      end)
    end
  end
end

check("T12: a getter that recurses in Lua", function()
  local function f() return 1 + f() end
  for _, declare in pairs(ways) do
    local t = {a = 1, list = {}}
    declare(t, f)
    fails("stack overflow", function() return t.x end)
  end
end)
example("T12: a getter cannot flush or yield", nil, [[
  local t = {}
  obs.lazy(t, "x", function() obs.flush() end)
  = t.x                         --! flush
  obs.computed(t, "y", function() return coroutine.yield(1) end)
  local ok, value = coroutine.resume(coroutine.create(function() return t.y end))
  = ok, tostring(value):match "yield"  --> false yield
]])
example("T12: a getter's own object that is collected while it computes", "holder.t", [[
  local holder = { t = { a = 1 } }
  obs.computed(holder.t, "x", function(self)
    holder.t = nil
    local a = self.a
    self = nil
    collectgarbage()
    collectgarbage()
    return a
  end)
  = holder.t.x                  --> 1
  obs.flush()                   --> nil
]])
example("T12: declarations that watchers remove or make", "n(), t.x", [[
  local t = { a = 1 }
  obs.computed(t, "x", { "a" }, function(self) return self.a end)
  local w = obs.observe(t, "a", function() obs.forget(t, "x") end)
  local n = counter(t, "x")
  t.a = 2                       --> 1 nil
  w:stop()
  obs.observe(t, "x", function(self)
    if self.a < 5 then obs.computed(self, "x", { "a" }, function(me) return me.a end) end
  end)
  t.x = 1
  for i = 1, 6 do
    obs.flush()
    t.a = i
  end
  = t.x                         --> 6
]])
check("T12: watchers that write dependencies of their properties end with an error", function()
  for _, other in ipairs { "a", "b" } do
    reporting(function()
      local t = { a = 1, b = 1 }
      obs.computed(t, "x", { "a" }, function(self) return self.a end)
      obs.computed(t, "y", { "b" }, function(self) return self.b end)
      obs.observe(t, "x", function() t[other] = t[other] + 1 end, { immediate = true })
      obs.observe(t, "y", function() t.a = t.a + 1 end, { immediate = true })
      t.a = 2
      assert(#reports >= 1 and #reports < 5, #reports)
      assert(t.a < 1000, t.a)
      obs.stop(t)
    end)
  end
end)
example("T12: many properties on one object", "#obs.valid_names(t)", [[
  local t = { a = 1 }
  for i = 1, 3000 do obs.computed(t, "c" .. i, { "a" }, function(self) return self.a + i end) end
  obs.force(t)                  --> 3000
  = t.c3000                     --> 3001
  t.a = 2                       --> 0
  = t.c1                        --> 3
  obs.flush()                   --> 1
]])
finish()
