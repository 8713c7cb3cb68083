-- Rules Z2, Z4, Z5, C9, P6 and S8: watchers of paths that lead through several lazy properties.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "Support/kinds.lua")

each("Z4: a path through two lazy properties notices each change of either", "n()", [[
  local child = object { f = 0, value = computed({ "f" }, function(self) return self.f end) }
  local parent = object {
    x = false, child = computed({ "x" }, function(self) return self.x and child end),
  }
  local n = counter(parent, "child.value")
  parent.x = 1                  --> 1
  parent.x = 2
  child.f = 1                   --> 1
  child.f = 2                   --> 1
  child.f, parent.x = 3, 3      --> 1
  child.f = 4                   --> 1
]])
check("Z4: a path through four lazy properties follows each of them in one flush", function()
  local one, two = {}, {}
  for depth, start in ipairs { one, two } do
    local object = start
    for i = 1, 3 do
      local next = { n = depth }
      object.next, object.on = next, true
      obs.computed(object, "link", function(self) return self.on and self.next or nil end)
      object = next
    end
    obs.computed(object, "value", function(self) return self.n end)
    start.last = object
  end
  local root = { first = true }
  obs.computed(root, "start", function(self) return self.first and one or two end)
  local calls = counter(root, "start.link.link.link.value")
  for i = 1, 3 do
    root.first = not root.first
    two.last.n, one.last.n = 10 + i, 20 + i
    two.link.on, one.link.on = false, false
    two.link.on, one.link.on = true, true
    eq(calls(), 1)
    local current = root.first and one or two
    current.last.n = 30 + i
    eq(calls(), 1)
  end
end)
each("P6: an object that was taken off the path and put back, with another lazy value", "n()", [[
  local a, b = { v = 0 }, { v = 0 }
  local current = object { use_b = false, one = computed({ "use_b" }, function(self)
    return self.use_b and b or a
  end) }
  local root = { current = current }
  local n = counter(root, "current.one.v")
  root.current = {}
  root.current = current
  current.use_b = true          --> 1
  b.v = 3                       --> 1
  a.v = 4                       --> 0
  b.v = 4                       --> 1
]])
example("Z4: one write that changes two lazy properties on a path calls immediately once",
  "told()", [[
  local note, told = recorder()
  local child, parent = {}, { x = 0 }
  obs.computed(parent, "child", { "x" }, function() return child end)
  obs.computed(child, "value", { { parent, "x" } }, function() return parent.x end)
  obs.observe(parent, "child.value", function() note(child.value) end, { immediate = true })
  for i = 1, 3 do parent.x = i end  --> 1 2 3
]])
check("Z5: a write counts if the path leads back to its object before the flush", function()
  local function node(n, list)
    local made = { n = n, l = list }
    obs.computed(made, "top", { "l.*.n" }, function(self)
      local best
      for _, x in ipairs(self.l) do if not best or x.n > best.n then best = x end end
      return best
    end)
    return made
  end
  local a, b = node(0, {}), node(2, {})
  local first = node(0, { b })
  local root = node(0, { node(0, { b }), first })
  local path = "l.@first.top.n"
  local calls = counter(root, path)
  table.insert(root.l, 1, root)
  obs.get(root, path)
  root.l[1], root.l[3] = root.l[3], root.l[1]
  eq(calls(), 1)
  eq(obs.get(root, path), 2)
  first.l = { a }
  obs.transaction({ root }, function()
    root.l[2] = root.l[2]
    b.n = 1
  end)
  first.l[1] = b
  eq(calls(), 1)
  eq(obs.get(root, path), 1)
end)
example("S8: after a failed transaction operators follow their path, and announcements stay",
  "root.total", [[
  local path, g = "list.@sum.best.v", {}
  obs.computed(g, "best", { "a" }, function(self) return self.a end)
  local root = { list = { g } }
  obs.computed(root, "total", { path }, function(self) return obs.get(self, path) end)
  obs.observe(root, path, nothing)      --> 0
  obs.transaction({ root }, function()
    root.list[1] = g
    = root.total                        --> 0
    obs.abort "no"
  end)
  for _, v in ipairs { 1, false, 2 } do
    g.a = v and { v = v } or nil
    obs.flush()
    = root.total == (v or 0)            --> true
  end
  local t = { z = 0 }
  obs.computed(t, "positive", { "z" }, function(self) return self.z > 0 end)
  obs.lazy(t, "view", {
    deps = { "positive" }, cached = false, get = function(self) return self.positive end,
  })
  obs.computed(t, "text", { "view" }, function(self) return tostring(self.view) end)
  obs.observe(t, "text", nothing, { immediate = true })
  local n = counter(t, "view")
  t.z = 1
  for expected = 1, 0, -1 do
    obs.transaction({ t }, function() t.z = 2 obs.abort "no" end)
    = n() == expected                   --> true
  end
]])
check("Z2: a property that keeps no value follows replaced objects for its dependents", function()
  for variant = 1, 8 do
    local t = { inner = { a = 1 } }
    obs.lazy(t, "plain", {
      deps = { "inner.a" }, cached = false, get = function(self) return self.inner.a end,
    })
    obs.lazy(t, "next", {
      deps = { "plain" }, cached = false, get = function(self) return self.plain end,
    })
    local source = variant % 2 == 0 and "plain" or "next"
    obs.computed(t, "kept", { source }, function(self) return self[source] end)
    if variant > 4 then obs.observe(t, "kept", nothing) end
    eq(t.kept, 1)
    for value = 2, 7, 2 do
      t.inner = { a = value }
      if variant % 4 < 2 then obs.flush() end
      eq(t.kept, value)
      t.inner.a = value + 1
      eq(obs.is_valid(t, "kept"), false)
      eq(t.kept, value + 1)
    end
  end
end)
example("Z2: an operator over the first elements of lists has the present value",
  "t.total, n(), obs.get(t, path)", [[
  for _, last in ipairs { "@first.v", "#1.v" } do
    local path = "g.@sum.items." .. last
    local t = { g = { { items = { { v = 1 } } } } }
    obs.computed(t, "total", { path }, function(self) return obs.get(self, path) end)
    local n = counter(t, path)                  --> 1 0 1
    table.insert(t.g[1].items, 1, { v = 10 })   --> 10 1 10
    t.g[1].items[1].v = 5                       --> 5 1 5
  end
]])
check("C9: an operator over one that cannot take a value has no value, and reports it", function()
  for outer, inner in pairs { ["@sum"] = "@max", ["@all"] = "@sum", ["@any"] = "@sum",
    ["@max"] = "@min" } do
    local path = "g." .. outer .. ".items." .. inner
    local t = { g = { { items = { 2, "b", 1 } }, { items = { 5 } } } }
    reporting(function()
      local calls = counter(t, path)
      obs.flush()
      eq(#reports, 1)
      has(reports[1].error, "element 1 gives no value (its operator cannot take the string 'b')")
      fails("element 2 of 'items': the string 'b' under '" .. inner, obs.get, t, path)
      t.g[1].items[2] = 3
      eq(calls(), 1)
      eq(#reports, 1)
    end)
    assert(obs.get(t, path))
  end
end)
check("Z2: a property of the first element follows it after others were in front of it", function()
  local function try(deps, displace)
    local a, b = { v = 2 }, { v = 3 }
    local s = { list = { a }, other = { { v = 1 } } }
    obs.computed(s, "count", { "list.*.v" }, function(s) return #s.list end)
    obs.computed(s, "first", deps, function(s) return s.list[1].v end)
    eq(s.first, 2)
    eq(s.count, 1)
    displace(s, b, function() table.sort(s.list, function(x, y) return x == a and y ~= a end) end)
    eq(s.list[1], a)
    a.v = 9
    eq(s.first, 9)
  end
  local function displace(s, b, sort)
    table.insert(s.list, 1, b)
    sort()
  end
  try({ "list.@first.v" }, displace)
  try({ "list.@first.v" }, function(s, b, sort)
    obs.transaction({ s }, function() displace(s, b, sort) end)
  end)
  -- Also if another operator on its paths was read in between.
  try({ "list.@first.v", "other.@sum.v" }, function(s, b)
    table.insert(s.list, 1, b)
    eq(obs.get(s, "other.@sum.v"), 1)
    table.remove(s.list, 1)
  end)
end)
finish()
