-- Rules Z8 and Z11: getters that raise errors, and cycles.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

check("Z8: the error reaches the reader as it was raised, whatever it is", function()
  local t, value = {}, nil
  obs.lazy(t, "x", function() error(value, 0) end)
  for _, thrown in ipairs {"text", 5, true, {}, print, coroutine.create(print), 1.5} do
    value = thrown
    local ok, message = pcall(function() return t.x end)
    eq(ok, false)
    eq(message, thrown)
    eq(obs.is_valid(t, "x"), false)
  end
  value = nil
  local ok, message = pcall(function() return t.x end)
  eq(ok, false)
  eq(message, nil)
end)
check("Z8: with the place in the getter", function()
  local t = {}
  obs.lazy(t, "x", function() error "broken" end)
  fails("Errors.lua:%d+: broken", function() return t.x end)
  obs.computed(t, "y", {"x"}, function(self) return self.x end)
  fails("Errors.lua:%d+: broken", function() return t.y end)
  local z = {}
  obs.computed(z, "z", function(self) return self.absent.field end)
  fails("Errors.lua:%d+: attempt to index a nil value", function() return z.z end)
end)
check("Z8: the traceback of a report shows the getter", function()
  reporting(function()
    local t = {a = 1}
    obs.computed(t, "x", {"a"}, function(self)
      local function innermost() error "deep" end
      if self.a > 1 then innermost() end
      return self.a
    end)
    local n = counter(t, "x", {name = "watching x"})
    t.a = 2
    eq(n(), 0)
    eq(#reports, 1)
    assert(tostring(reports[1].error):find "deep", reports[1].error)
    t.a = 3
    n()
    eq(#reports, 2)
    t.a = 0
    eq(n(), 1)
  end)
end)
-- Cases/errors.lua has chains in which a getter catches an error.
local function define(s, name, source, is_declared, get)
  if is_declared then obs.computed(s, name, { source }, get) else obs.computed(s, name, get) end
end
local function guarded(get)
  local ok, value = pcall(get)
  return ok and "value " .. tostring(value) or "no value"
end
check("Z8: a getter that caught an error runs again if a reader has tried with success", function()
  for _, is_declared in ipairs { true, false } do
    local is_down = false
    local s = {}
    obs.lazy(s, "loaded", { loader = function(s)
      if is_down then error("down", 0) end
      s.loaded = "data"
    end })
    define(s, "text", "loaded", is_declared, function(s)
      return guarded(function() return s.loaded end)
    end)
    eq(s.text, "value data")
    is_down = true
    obs.invalidate(s, "loaded")
    eq(s.text, "no value")
    is_down = false
    eq(s.loaded, "data")
    eq(s.text, "value data")
  end
end)
check("Z8: through operators, wildcards, and properties that keep no value", function()
  local paths = {
    ["list.@sum.p"] = function(s) return obs.get(s, "list.@sum.p") end,
    ["list.*.p"] = function(s) return s.list[1].p end,
    ["list.@first.p"] = function(s) return s.list[1].p end,
    ["list.@max.p"] = function(s) return obs.get(s, "list.@max.p") end,
    ["list.@any.p"] = function(s) return s.list[1].p end,
    ["o.*"] = function(s) return s.o.p end,
    ["o.p"] = function(s) return s.o.p end,
    ["plain"] = function(s) return s.plain end,
  }
  for path, get in pairs(paths) do
    for _, is_declared in ipairs { true, false } do
      for _, is_watched in ipairs { true, false } do
        reporting(function()
          local o = { v = 1 }
          obs.computed(o, "p", { "v" }, function(o)
            if o.v == "bad" then error("bad", 0) end
            return o.v
          end)
          local s = { o = o, list = { o } }
          obs.lazy(s, "plain",
            { cached = false, deps = { "o.p" }, get = function(s) return s.o.p end })
          define(s, "text", path, is_declared, function(s)
            return guarded(function() return get(s) end)
          end)
          if is_watched then obs.observe(s, "text", nothing) end
          local _ = o.p
          local first = s.text
          for _ = 1, 2 do
            o.v = "bad"
            obs.flush()
            assert(s.text ~= first, path)
            o.v = 1
            obs.flush()
            eq(s.text, first)
          end
        end)
      end
    end
  end
end)
check("Z8: an operator follows elements that had failed before somebody depended on it", function()
  local function element(v)
    local o = { v = v }
    obs.computed(o, "p", { "v" }, function(o)
      if o.v == "bad" then error("bad", 0) end
      return o.v
    end)
    return o
  end
  for _, operator in ipairs { "@sum", "@max", "@avg", "@unionOfObjects" } do
    for _, is_element in ipairs { true, false } do
      reporting(function()
        local path = "list." .. operator .. ".p"
        local function get(s)
          local value = obs.get(s, path)
          return type(value) == "table" and table.concat(value, " ") or value
        end
        local s = { list = { element "bad", element(1) } }
        local function caught(s) return guarded(function() return get(s) end) end
        obs.computed(s, "early", { path }, caught)
        obs.computed(s, "late", { path }, get)
        local _ = is_element and guarded(function() return s.list[1].p end) or s.early
        guarded(function() return s.late end)
        s.list[1].v = 3
        eq(s.late, get(s))
        table.insert(s.list, element(5))
        eq(s.late, get(s))
        s.list[1].v = 7
        eq(s.late, get(s))
        table.remove(s.list, 1)
        eq(s.late, get(s))
        eq(s.early, "value " .. s.late)
      end)
    end
  end
end)
check("Z8: watchers of the failed property are not called for the value they had", function()
  reporting(function()
    local s = { v = 1 }
    obs.computed(s, "last", { "v" }, function(s)
      if s.v == "bad" then error("bad", 0) end
      return s.v
    end)
    local n = counter(s, "last")
    local all = counter(s, "*")
    all()
    s.v = "bad"
    eq(n(), 0)
    all()
    s.v = 1
    eq(n(), 0)
    s.v = 2
    eq(n(), 1)
  end)
end)
check("Z8: a failing operator is an error for readers of its dependents, and is not "
  .. "reported", function()
  reporting(function()
    local t = {items = {{a = "x"}}}
    obs.computed(t, "sum", {"items.@sum.a"}, function(self)
      return obs.get(self, "items.@sum.a")
    end)
    fails("element 1 of 'items': the string 'x' under '@sum'", function() return t.sum end)
    t.items[1].a = 2
    eq(t.sum, 2)
    t.items[1].a = "y"
    fails("the string 'y'", function() return t.sum end)
    obs.flush()
    eq(#reports, 0)
    local n = counter(t, "sum")
    eq(#reports, 1)
    t.items[1].a = 2
    eq(n(), 1)
    eq(#reports, 1)
  end)
end)
check("Z8: a traceback leads from the error through the getters to the reader", function()
  local t, other = {a = 1}, {a = 1}
  local function here(level) return debug.getinfo(level or 2, "l").currentline end
  local lines = {}
  local function innermost(self)
    lines[1] = here()
    local value = self.absent.field
    return value
  end
  -- Declared, and run in a coroutine because the getter of another property is running.
  obs.computed(t, "x", {"a"}, function(self)
    lines[2] = here()
    local value = innermost(self)
    return value
  end)
  obs.computed(t, "y", {"x"}, function(self)
    lines[3] = here()
    local value = self.x
    return value
  end)
  obs.computed(t, "z", function(self)
    lines[4] = here()
    local value = self.y
    return value
  end)
  local function read()
    lines[5] = here()
    local value = t.z
    return value
  end
  obs.observe(other, "a", read)
  for turn = 1, 3 do
    -- Errors caught before leave nothing behind.
    pcall(read)
    if turn == 2 then t.a = t.a + 1 end
    reporting(function()
      other.a = other.a + 1
      obs.flush()
    end)
    eq(#reports, 1)
    local traceback, from = reports[1].where.traceback, 1
    for i, line in ipairs(lines) do
      local found = traceback:find("Errors.lua:" .. line + 1 .. ":", from, true)
      if not found then error(("line %d lacks in %s"):format(i, traceback)) end
      from = found + 1
    end
    -- Each line once, and no internal lines between them.
    traceback = traceback:sub(1, from)
    eq(select(2, traceback:gsub("Errors.lua:%d+: in ", "")), #lines - 1)
    eq(traceback:find("in ?", 1, true), nil)
  end
end)
check("Z8: a report of the flush names the write behind it", function()
  local t = {a = 1, list = {{n = 1}}}
  obs.computed(t, "x", {"a"}, function(self) return self.a > 1 and error "x" or self.a end)
  obs.computed(t, "y", {"x"}, function(self) return self.x end)
  obs.lazy(t, "z", {cached = false, deps = {"a"}, get = function(self)
    return self.a > 1 and error "z" or self.list[1]
  end})
  obs.observe(t, "y", function() end)
  obs.observe(t, "z.n", function() end)
  reporting(function()
    t.a = 2
    local line = debug.getinfo(1, "l").currentline - 1
    obs.flush()
    assert(#reports >= 2)
    for _, report in ipairs(reports) do
      eq(report.where.kind, "getter")
      assert(tostring(report.where.cause):find("Errors.lua:" .. line, 1, true),
        report.where.cause)
    end
  end)
end)
check("Z8: … and a report of a registration names no write", function()
  local t = {}
  obs.lazy(t, "x", function() error "x" end)
  reporting(function()
    obs.observe(t, "x", function() end)
    eq(#reports, 1)
    eq(reports[1].where.cause, nil)
  end)
end)
check("Z8: the property stays invalid, and the next read computes again", function()
  local t, runs = {}, 0
  obs.lazy(t, "x", function()
    runs = runs + 1
    if runs < 3 then error("not yet", 0) end
    return runs
  end)
  fails("not yet", function() return t.x end)
  fails("not yet", function() return t.x end)
  eq(t.x, 3)
  eq(t.x, 3)
end)
check("Z8: force computes all it can, then raises the first", function()
  local t = {}
  obs.lazy(t, {"a", "b", "c", "d"}, function(_, name)
    if name == "b" or name == "c" then error("no " .. name, 0) end
    return name
  end)
  local ok, message = pcall(obs.force, t)
  eq(ok, false)
  assert(message == "no b" or message == "no c", message)
  eq(obs.is_valid(t, "a"), true)
  eq(obs.is_valid(t, "d"), true)
  eq(#obs.invalid_names(t), 2)
end)
check("Z8: with force the first in order of declaration", function()
  local t = {}
  for _, name in ipairs {"m", "c", "z", "a"} do
    obs.lazy(t, name, function() error("no " .. name, 0) end)
  end
  fails("^no m$", obs.force, t)
end)
check("Z8: reported with initial, in the flush, and by bind", function()
  reporting(function()
    local t, copy = {a = 1}, {}
    obs.computed(t, "x", {"a"}, function(self)
      if self.a == 2 then error("two", 0) end
      return self.a
    end)
    local w = obs.bind(copy, t, {"x"})
    t.a = 2
    obs.flush()
    assert(#reports >= 1)
    eq(copy.x, 1)
    t.a = 3
    obs.flush()
    eq(copy.x, 3)
    w:stop()
  end)
end)
check("Z8: one of many watchers of it: the others still run", function()
  reporting(function()
    local t = {a = 1}
    obs.computed(t, "x", {"a"}, function(self) return error("no", 0) end)
    local n = counter(t, "x")
    local m = counter(t, "a")
    t.a = 2
    eq(m(), 1)
    eq(n(), 0)
  end)
end)
check("Z8: pcall in a getter catches errors of others, and tracks their reads", function()
  local t = {a = 0}
  obs.computed(t, "x", function(self) return self.a == 0 and error("zero", 0) or self.a end)
  obs.computed(t, "y", function(self)
    local ok, value = pcall(function() return self.x end)
    return ok and value or "caught " .. tostring(value)
  end)
  obs.computed(t, "z", function(self)
    local ok, value = xpcall(function() return self.x end, function(m) return m .. "!" end)
    return value
  end)
  eq(t.y, "caught zero")
  eq(t.z, "zero!")
  t.a = 5
  eq(t.y, 5)
  eq(t.z, 5)
  t.a = 0
  eq(t.y, "caught zero")
end)
check("Z8: an error between a read and a write leaves tracking off", function()
  local t = {a = 1, b = 1}
  obs.computed(t, "x", function(self) error("x" .. self.a, 0) end)
  pcall(function() return t.x end)
  local runs = 0
  obs.computed(t, "y", function(self)
    runs = runs + 1
    pcall(function() return self.x end)
    return self.b
  end)
  eq(t.y, 1)
  local _ = t.a, t.b
  t.a = 2
  eq(t.y, 1)
  t.b = 2
  eq(t.y, 2)
end)
check("Z8: errors in to-be-closed variables and handlers of a getter", function()
  local t = {}
  obs.lazy(t, "x", function()
    local guard <close> = setmetatable({}, {__close = function() error("closing", 0) end})
    error("first", 0)
  end)
  fails("closing", function() return t.x end)
  fails("closing", function() return t.x end)
end)
check("Z8: a getter that invalidates its own property", function()
  local t = {n = 1}
  obs.computed(t, "x", {"n"}, function(self)
    if self.n == 1 then obs.invalidate(self, "x") end
    return self.n
  end)
  local message = "^[^:]+:%d+: the getter of 'x' invalidated its own property$"
  fails(message, function() return t.x end)
  fails(message, function() return t.x end)
  t.n = 2
  eq(t.x, 2)
end)
check("Z8: the result of a getter that writes its own dependency is not kept", function()
  for _, reader in ipairs {function(t) return t.x end, function(t) return t.y end} do
    local t = {n = 1}
    obs.computed(t, "x", {"n"}, function(self)
      if self.n < 10 then self.n = self.n + 1 end
      return self.n
    end)
    obs.computed(t, "y", function(self) return self.x end)
    fails("Errors.lua:%d+: the getter of 'x' wrote to 'n', which 'x' depends on$", reader, t)
    eq(obs.is_valid(t, "x"), false)
    eq(rawget(t, "x"), nil)
    fails("the getter of 'x' wrote to 'n', which 'x' depends on", reader, t)
    eq(t.n, 3)
    t.n = 10
    eq(reader(t), 10)
  end
end)
check("Z4: … and watchers receive the same value when it is kept", function()
  reporting(function()
    local t, log = {n = 1}, {}
    obs.computed(t, "x", {"n"}, function(self)
      if self.n == 2 then self.n = 3 end
      return self.n > 1 and "many" or "one"
    end)
    obs.observe(t, "x", function() log[#log + 1] = t.x end)
    t.n = 2
    obs.flush()
    eq(#reports, 1)
    eq(#log, 0)
    t.n = 4
    obs.flush()
    t.n = 5
    obs.flush()
    eq(table.concat(log, " "), "many")
  end)
end)
check("T12: a getter cannot wait, in a task or elsewhere", function()
  local t, log = {}, {}
  obs.lazy(t, "x", function() obs.sleep(0) end)
  obs.computed(t, "y", function(self) return self.x end)
  local function read()
    fails("Errors.lua:%d+: obs.sleep was called inside a getter, which cannot yield",
      function() return t.x end)
    fails("Errors.lua:%d+: obs.sleep was called inside a getter, which cannot yield",
      function() return t.y end)
    log[#log + 1] = "read"
  end
  read()
  obs.task(read)
  eq(#log, 2)
end)
check("Z14: a getter that forgets its own property leaves a plain key without a value", function()
  local t = {n = 1}
  obs.computed(t, "x", {"n"}, function(self)
    obs.forget(self, "x")
    return 5
  end)
  eq(t.x, nil)
  eq(t.x, nil)
  t.x = 3
  t.n = 2
  eq(t.x, 3)
end)
check("Z11: a cycle names its members in order", function()
  for _, is_tracked in ipairs {false, true} do
    local t = {}
    local function computed(name, other)
      if is_tracked then
        obs.computed(t, name, function(self) return self[other] end)
      else
        obs.computed(t, name, {other}, function(self) return self[other] end)
      end
    end
    computed("total", "tax")
    computed("tax", "rate")
    computed("rate", "total")
    computed("shown", "total")
    fails("total → tax → rate → total", function() return t.total end)
    fails("rate → total → tax → rate", function() return t.rate end)
    fails("total → tax → rate → total", function() return t.shown end)
    eq(#obs.valid_names(t), 0)
    t.rate = 5
    eq(t.shown, 5)
  end
end)
check("Z11: a getter that reads itself", function()
  local t = {}
  obs.lazy(t, "x", function(self) return self.x end)
  fails("x → x", function() return t.x end)
  obs.computed(t, "y", function(self) return self.y end)
  fails("y → y", function() return t.y end)
  obs.computed(t, "z", {"z"}, function() return 1 end)
  local ok, value = pcall(function() return t.z end)
  assert(ok and value == 1 or tostring(value):find "cycle", value)
end)
check("Z11: a getter without a value that reads itself, directly or by others", function()
  local runs = 0
  local function property(t, name, get)
    obs.lazy(t, name, {cached = false, get = function(self)
      runs = runs + 1
      return get(self)
    end})
  end
  local t = {limit = 3}
  property(t, "x", function(self) return obs.get(self, "x") end)
  property(t, "y", function(self) return self.z end)
  property(t, "z", function(self) return self.y end)
  property(t, "caught", function(self) return (pcall(function() return self.caught end)) end)
  for _ = 1, 2 do
    runs = 0
    fails("a cycle of computed properties: x → … → x", function() return t.x end)
    eq(runs, 1)
    fails("a cycle of computed properties: y → … → y", function() return t.y end)
    eq(runs, 3)
    eq(t.caught, false)
  end
  -- A tree is not a cycle.
  local function node(left, right)
    local node = {left = left, right = right}
    property(node, "size", function(self)
      return 1 + (self.left and self.left.size or 0) + (self.right and self.right.size or 0)
    end)
    return node
  end
  local leaf = node()
  eq(node(node(leaf, leaf), leaf).size, 5)
end)
check("Z11: … while it waits in one task, another task may read it", function()
  local t, log = {}, {}
  obs.lazy(t, "x", {cached = false, get = function()
    coroutine.yield()
    return "value"
  end})
  local function read() return t.x end
  local first, second = coroutine.create(read), coroutine.create(read)
  for _, thread in ipairs {first, second, second, first} do
    local ok, value = coroutine.resume(thread)
    log[#log + 1] = tostring(ok and value)
  end
  eq(table.concat(log, " "), "nil nil value value")
end)
check("Z11: a cycle through two objects", function()
  local a, b = {}, {}
  a.other, b.other = b, a
  for _, t in ipairs {a, b} do
    obs.computed(t, "x", {"other.x"}, function(self) return self.other.x end)
    obs.computed(t, "y", function(self) return self.other.y end)
  end
  for name, t in pairs {x = a, y = b} do
    local member = name .. " %(.*Errors.lua:%d+%)"
    fails((": %s → %s → %s$"):format(member, member, member), function() return t[name] end)
  end
  b.other = {x = 1, y = 2}
  eq(a.x, 1)
  eq(a.y, 2)
end)
check("Z11: … names the models of its objects, if they have some", function()
  local function left(self) return self.left and self.left.v or 0 end
  local Node = obs.model("Node", {left = obs.none, v = obs.computed({"left.v"}, left)})
  local a, b, c = Node {}, Node {}, setmetatable({}, {__name = "Leaf"})
  obs.computed(c, "v", left)
  a.left, b.left, c.left = b, c, a
  fails(": Node.v → Node.v → Leaf.v → Node.v$", function() return a.v end)
  a.left = a
  fails(": v → v$", function() return a.v end)
end)
check("Z11: a cycle that is caught inside", function()
  local t = {}
  obs.computed(t, "x", function(self)
    local ok, value = pcall(function() return self.y end)
    return ok and value or "caught"
  end)
  obs.computed(t, "y", function(self) return self.x end)
  eq(t.x, "caught")
  eq(t.y, "caught")
end)
check("Z11: a watched cycle is reported, and heals", function()
  reporting(function()
    local t = {on = true}
    obs.computed(t, "x", function(self) return self.on and self.y or 1 end)
    obs.computed(t, "y", function(self) return self.x end)
    local n = counter(t, "x")
    assert(#reports >= 1)
    assert(tostring(reports[1].error):find "cycle", reports[1].error)
    t.on = false
    eq(n(), 1)
    eq(t.y, 1)
  end)
end)
check("Z11: a long cycle is an error too", function()
  for _, count in ipairs {150, 5000} do
    local t = {}
    for i = 1, count do
      local next_name = "c" .. i % count + 1
      obs.computed(t, "c" .. i, function(self) return self[next_name] end)
    end
    fails("cycle", function() return t.c1 end)
    t.c5 = 1
    eq(t.c1, 1)
  end
end)
finish()
