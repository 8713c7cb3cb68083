-- Rules Z2, Z7 and Z10: dependents of equal values, `peek`, and reads by tracked getters of models.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

check("an unobserved property gets its value back if its dependencies are equal", function()
  local t = { a = 1, b = 3 }
  obs.computed(t, "sum", { "a", "b" }, function(self) return self.a + self.b end)
  obs.computed(t, "text", { "sum" }, function(self) return "sum " .. self.sum end)
  eq(t.text, "sum 4")
  t.a, t.b = 2, 2
  eq(t.text, "sum 4")
  eq(obs.peek(t, "text"), "sum 4")
end)

check("… also if the dependency is an operator, or was read by a tracked getter", function()
  local t = { lines = { { price = 1 }, { price = 2 } } }
  obs.computed(t, "sum", { "lines.@sum.price" }, function(self)
    return obs.get(self, "lines.@sum.price")
  end)
  obs.computed(t, "text", function(self) return "sum " .. self.sum end)
  eq(t.text, "sum 3")
  t.lines[1].price, t.lines[2].price = 2, 1
  eq(t.sum, 3)
  t.lines[1].price, t.lines[2].price = 0, 3
  eq(t.text, "sum 3")
end)

check("Z10: a tracked getter depends on the elements that obs.get combines", function()
  local lists = {
    plain = function(...) return { ... } end, array = function(...) return obs.array { ... } end,
    set = function(...) return obs.set_of { ... } end,
  }
  for name, list in next, lists do
    local t, e = { items = list({ a = 1 }) }, { a = 2 }
    for _, operator in ipairs { "sum.a", "max.a", "count", "avg.a", "any.a" } do
      obs.computed(t, operator, function(self) return obs.get(self, "items.@" .. operator) end)
    end
    obs.computed(t, "first", function(self) return #obs.get(self, "items.@unionOfObjects.a") end)
    local function values()
      return table.concat({
        t["sum.a"], t["max.a"], t.count, t["avg.a"], tostring(t["any.a"]), t.first,
      }, " ")
    end
    eq(values(), "1 1 1 1.0 true 1")
    if name == "set" then t.items:add(e) else table.insert(t.items, e) end
    eq(values(), "3 2 2 1.5 true 2")
    e.a = 4
    eq(values(), "5 4 2 2.5 true 2")
    if name == "set" then t.items:remove(e) else table.remove(t.items) end
    eq(values(), "1 1 1 1.0 true 1")
    e.a = 5
    eq(obs.is_valid(t, "sum.a"), true)
    -- Also while the operator is observed, whose value is then kept.
    obs.observe(t, obs.path("items") , function() end)
    local watcher = obs.observe(t, "items.@sum.a", function() end)
    t.items = list({ a = 7 }, { a = 8 })
    eq(values(), "15 8 2 7.5 true 2")
    obs.stop(t)
    eq(watcher.active, false)
    t.items = list()
    eq(t["sum.a"], 0)
  end
end)

check("Z10: … and on the last one only for the properties it reads", function()
  local t, runs = { items = { { a = 1, b = 1 }, { a = 2 } } }, 0
  obs.computed(t, "last", function(self) runs = runs + 1 return obs.get(self, "items.@last.a") end)
  eq(t.last, 2)
  t.items[1].a, t.items[2].b = 3, 4
  eq(t.last, 2)
  eq(runs, 1)
  t.items[3] = { a = 9 }
  eq(t.last, 9)
  t.items[3] = nil
  eq(t.last, 2)
end)

check("peek gives one value, nil if the property is invalid", function()
  local t = {}
  obs.lazy(t, "x", function() return 1 end)
  eq(select("#", obs.peek(t, "x")), 1)
  eq(obs.peek(t, "x"), nil)
end)

check("Z4: a property declared again is a change for watchers without its value", function()
  local t, calls = { n = 5, k = 0 }, ""
  local function declare() obs.computed(t, "q", { "n" }, function(self) return self.n end) end
  for i = 1, 2 do
    local is_first = true
    obs.observe(t, { "k", "q" }, function()
      calls = calls .. i
      if is_first then declare() end
      is_first = false
    end)
  end
  t.k = 1
  for _ = 1, 3 do obs.flush() end
  eq(calls, "121")
end)
check("Z4: a failed property has delivered nothing, and may have its old value again", function()
  for _, immediate in ipairs { false, true } do
    local t, calls = { v = 1 }, 0
    obs.on_error(function() end)
    obs.computed(t, "n", { "v" }, function()
      if t.v == 3 then error "fails" end
      return t.v
    end)
    if immediate then obs.observe(t, "n", function() end, { immediate = true }) end
    obs.observe(t, "n", function() calls = calls + 1 end)
    t.v = 2
    t.v = 3
    obs.flush()
    eq(calls, 0)
    obs.flush()
    t.v = 1
    obs.flush()
    eq(calls, 0)
    t.v = 2
    obs.flush()
    eq(calls, 1)
  end
end)
check("Z3, Z5: '*' hears an assignment to a property that was never computed", function()
  for _, immediate in ipairs { false, true } do
    local t, calls = {}, 0
    obs.computed(t, "q", { "a" }, function(self) return self.a end)
    obs.observe(t, "*", function() calls = calls + 1 end, { immediate = immediate })
    obs.invalidate(t, "q")
    t.q = 103
    obs.flush()
    eq(calls, 1)
  end
end)
check("T9, Z3: an immediate watcher of '*' receives each value, also an earlier one", function()
  local source, t, log = { v = 2 }, {}, ""
  obs.computed(t, "q", { { source, "v" } }, function() return source.v end)
  obs.observe(t, "q", function() end)
  obs.observe(t, "*", function(_, _, change)
    log = log .. change.old .. ">" .. change.new .. " "
  end, { immediate = true })
  source.v = 0
  source.v = 2
  obs.batch(function() source.v = 1 source.v = 2 end)
  eq(log, "2>0 0>2 ")
end)
check("Z2, Z3: a dependent of '*' is computed again if a value returns", function()
  for _, immediate in ipairs { false, true } do
    local source, t, u, log = { v = 2 }, {}, {}, ""
    obs.computed(t, "q", { { source, "v" } }, function() return source.v end)
    obs.observe(t, "q", function() end)
    obs.computed(u, "copy", { { t, "*" } }, function() return t.q end)
    obs.observe(u, "copy", function() log = log .. u.copy end, { immediate = immediate })
    eq(u.copy, 2)
    source.v = 0
    eq(u.copy, 0)
    source.v = 2
    eq(u.copy, 2)
    obs.flush()
    eq(log, immediate and "02" or "")
  end
end)
check("Z4, Z5: a path follows a value that returns, also if `equals` ignored a change", function()
  for _, immediate in ipairs { false, true } do
    local first, second, source = { x = 1 }, { x = 2 }, { second = false }
    local t = {}
    obs.computed(t, "item", { { source, "second" } }, function()
      return source.second and second or first
    end)
    local calls = 0
    obs.observe(t, "item.x", function() calls = calls + 1 end, {
      immediate = immediate,
      equals = function(a, b) return type(a) == "table" or a == b end,
    })
    local function after(change)
      calls = 0
      change()
      obs.flush()
      return calls
    end
    eq(after(function() source.second = true end), 0)
    eq(after(function() second.x = 3 end), 1)
    eq(after(function() source.second = false end), 0)
    eq(after(function() first.x = 4 end), 1)
    eq(after(function() second.x = 5 end), 0)
  end
end)
check("Z3: '*' does not hear a property without a cache, whoever watches it", function()
  for _, immediate in ipairs { false, true } do
    local source, t, calls = { v = 1 }, {}, ""
    obs.lazy(t, "q", {
      cached = false, deps = { { source, "v" } }, get = function() return source.v end,
    })
    obs.observe(t, "*", function() calls = calls .. "*" end, { immediate = immediate })
    obs.observe(t, "q", function() calls = calls .. "q" end)
    source.v = 2
    obs.flush()
    eq(calls, "q")
    obs.trigger(t, "q")
    obs.flush()
    eq(#calls, 3)
  end
end)
check("Z3: earlier changes do not call a watcher of a property without a value", function()
  local list, calls = obs.array { { a = 1 } }, ""
  local t = { items = list }
  obs.lazy(t, "q", {
    cached = false, deps = { "items.@sum.a" },
    get = function(self) return obs.get(self, "items.@sum.a") end,
  })
  obs.observe(t, "q", function() calls = calls .. "first " end)
  list:remove(1)
  obs.observe(t, "q", function() calls = calls .. "second " end)
  list[1] = { a = 0 }
  obs.flush()
  eq(calls, "first ")
  list[1].a = 3
  obs.flush()
  eq(calls, "first first second ")
end)
check("Z3, Z4: '*' is silent for a property that was invalid before and is the same", function()
  local source, t, calls = { v = 0 }, {}, 0
  obs.computed(t, "q", { { source, "v" } }, function() return math.min(source.v, 1) end)
  eq(t.q, 0)
  source.v = 1
  obs.observe(t, "*", function() calls = calls + 1 end)
  eq(t.q, 1)
  source.v = 2
  obs.flush()
  eq(calls, 0)
  source.v = 0
  obs.flush()
  eq(calls, 1)
end)
check("Z4: under `*` a property has the value of its first read, until assigned", function()
  local t = { a = 1 }
  obs.computed(t, "q", { "a" }, function(self) return self.a > 0 end)
  local n, w = counter(t, "*")
  eq(t.q, true)
  eq(n(), 0)
  obs.invalidate(t, "q")
  eq(n(), 0)
  eq(t.q, true)
  eq(n(), 0)
  w:stop()
  n = counter(t, "*")
  obs.computed(t, "r", { "a" }, function(self) return self.a > 1 end)
  n()
  eq(t.r, false)
  t.r = true
  eq(n(), 1)
  obs.lazy(t, "s", function() return 1 end)
  n()
  t.s = 1
  eq(n(), 1)
end)

check("Z5: a comparison receives the last delivered value, however often it runs", function()
  local t, log = { a = 0 }, {}
  obs.computed(t, "q", { "a" }, function(self) return self.a end)
  local function by(least)
    return function(old, new)
      if type(old) ~= "number" then error("no number: " .. tostring(old)) end
      return math.abs(new - old) < least
    end
  end
  for _, least in ipairs { 3, 5 } do
    obs.observe(t, "q", function() log[#log + 1] = least .. ":" .. t.q end, { equals = by(least) })
  end
  local all = counter(t, "*")
  for i = 1, 11 do
    t.a = i
    obs.flush()
  end
  eq(table.concat(log, " "), "3:3 5:5 3:6 3:9 5:10")
  -- Back to the value last delivered to one watcher, which is a change for the others.
  t.a = 12
  eq(all(), 1)
  t.a = 10
  eq(all(), 1)
  eq(table.concat(log, " ", 6), "3:12")
  t.a = 9
  eq(all(), 1)
  eq(table.concat(log, " ", 7), "3:9")
end)

check("a tracked getter of a model reads properties that the model declares", function()
  local Item = obs.model("Item", {
    n = 1,
    net = obs.computed({ "n" }, function(self) return self.n end),
    total = obs.computed(function(self) return self.net * 10 end),
  })
  local item = Item {}
  eq(item.total, 10)
  item.n = 2
  eq(item.total, 20)
  local box = { item = Item {} }
  obs.computed(box, "total", function(self) return self.item.total + self.item.net end)
  eq(box.total, 11)
  box.item.n = 2
  eq(box.total, 22)
end)
check("Z4: watched properties of elements are computed in the order of the elements", function()
  local order = {}
  local function item(name)
    local t = {}
    obs.lazy(t, "n", function() order[#order + 1] = name return 1 end)
    return t
  end
  for _, path in ipairs { "*.n", "@sum.n" } do
    for _, list in ipairs {
      { item "a", item "b", item "c" }, obs.array { item "a", item "b", item "c" },
    } do
      order = {}
      obs.observe(list, path, function() end)
      eq(table.concat(order), "abc")
    end
  end
end)

finish()
