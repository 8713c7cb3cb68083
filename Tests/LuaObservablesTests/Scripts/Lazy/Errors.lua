-- Rule Z8: getters that raise errors. `Cases/errors.lua` has errors in graphs.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "Support/kinds.lua")

-- A getter that returns `v` unless it is "bad".
function good(self)
  if self.v == "bad" then error("bad", 0) end
  return self.v
end
function with_good(v)
  local t = { v = v }
  obs.computed(t, "p", { "v" }, good)
  return t
end
-- The value of a getter, or "no value".
function guarded(get, ...)
  local ok, value = pcall(get, ...)
  return ok and "value " .. shown(value) or "no value"
end

check("Z8: the error reaches the reader as it was raised, whatever it is", function()
  local t, value = {}, nil
  obs.lazy(t, "x", function() error(value, 0) end)
  for _, thrown in ipairs {"text", 5, true, {}, print, coroutine.create(print), 1.5, 0} do
    value = thrown ~= 0 and thrown or nil
    local ok, message = pcall(function() return t.x end)
    eq(ok, false)
    eq(message, value)
    eq(obs.is_valid(t, "x"), false)
  end
end)
each("Z8: an error has its place in the getter, also if others or to-be-closed variables raise it",
  nil, [[
  local t = object {
    x = lazy(function() error "broken" end),
    y = computed({ "x" }, function(self) return self.x end),
    absent = obs.none, z = computed({}, function(self) return self.absent.field end),
    closing = lazy(function()
      local guard <close> = setmetatable({}, { __close = function() error("closing", 0) end })
      error("first", 0)
    end),
  }
  for _ = 1, 2 do
    = t.x        --! Errors.lua:%d+: broken
    = t.y        --! Errors.lua:%d+: broken
    = t.z        --! Errors.lua:%d+: attempt to index a nil value
    = t.closing  --! ^closing$
  end
]])
each("Z8: a getter that caught an error runs again if a reader has tried with success", "t.text", [[
  local is_down = false
  local t = object { loaded = lazy { loader = function(self)
    if is_down then error("down", 0) end
    self.loaded = "data"
  end }, text = computed({ "loaded" }, function(self)
    return guarded(function() return self.loaded end)
  end) }                            --> value data
  is_down = true
  obs.invalidate(t, "loaded")       --> no value
  is_down = false
  = t.loaded                        --> data
  obs.flush()                       --> value data
]])
each("Z8: … through operators, wildcards, and properties that keep no value", nil, [[
  for path, get in pairs {
    ["list.@sum.p"] = function(s) return obs.get(s, "list.@sum.p") end,
    ["list.*.p"] = function(s) return s.list[1].p end,
    ["list.@first.p"] = function(s) return s.list[1].p end,
    ["list.@max.p"] = function(s) return obs.get(s, "list.@max.p") end,
    ["list.@any.p"] = function(s) return s.list[1].p end,
    ["o.*"] = function(s) return s.o.p end, ["o.p"] = function(s) return s.o.p end,
    ["plain"] = function(s) return s.plain end,
  } do
    for _, is_watched in ipairs { true, false } do
      reporting(function()
        local o = with_good(1)
        local s = object { o = o, list = { o }, plain = lazy {
          cached = false, deps = { "o.p" }, get = function(s) return s.o.p end,
        }, text = computed({ path }, function(s) return guarded(get, s) end) }
        if is_watched then obs.observe(s, "text", nothing) end
        local _ = o.p
        local first = s.text
        for _ = 1, 2 do
          o.v = "bad"
          obs.flush()
          = s.text ~= first                --> true
          o.v = 1
          obs.flush()
          = s.text == first                --> true
        end
      end)
    end
  end
]])
each("Z8: an error reaches the reader through a property that keeps no value", "t.top", [[
  local t = object {
    v = 1, bad = computed({ "v" }, good),
    through = lazy { cached = false, deps = { "bad" }, get = function(s) return s.bad end },
    top = computed({ "through" }, function(s)
      local ok, value = pcall(function() return s.through end)
      return tostring(ok) .. " " .. tostring(value)
    end),
  }            --> true 1
  t.v = "bad"  --> false bad
  t.v = 2      --> true 2
]])
check("Z8: an operator follows elements that had failed before somebody depended on it", function()
  for _, operator in ipairs { "@sum", "@max", "@avg", "@unionOfObjects" } do
    for _, is_element in ipairs { true, false } do
      reporting(function()
        local path = "list." .. operator .. ".p"
        local function get(s)
          local value = obs.get(s, path)
          return type(value) == "table" and table.concat(value, " ") or value
        end
        local s = { list = { with_good "bad", with_good(1) } }
        obs.computed(s, "early", { path }, function(s) return guarded(get, s) end)
        obs.computed(s, "late", { path }, get)
        local _ = is_element and guarded(function() return s.list[1].p end) or s.early
        guarded(function() return s.late end)
        for _, change in ipairs {
          function() s.list[1].v = 3 end, function() table.insert(s.list, with_good(5)) end,
          function() s.list[1].v = 7 end, function() table.remove(s.list, 1) end,
        } do
          change()
          eq(s.late, get(s))
        end
        eq(s.early, "value " .. s.late)
      end)
    end
  end
end)
each("Z4, Z8: a failed property has delivered nothing, and may have its old value again", "n()", [[
  for _, is_immediate in ipairs { false, true } do
    reporting(function()
      local t = object { v = 1, p = computed({ "v" }, good) }
      if is_immediate then obs.observe(t, "p", nothing, { immediate = true }) end
      local n, others = counter(t, "p"), counter(t, "v")
      t.v = 2
      t.v = "bad"
      -- Watchers of other keys are called.
      = others(), #reports > 0            --> 1 true
      = n()                               --> 0
      t.v = 1                             --> 0
      t.v = 2                             --> 1
    end)
  end
]])
each("Z8: a failing operator is an error for readers, and is reported if nobody reads",
  "n(), #reports", [[
  reporting(function()
    local t = object { items = { { a = "x" } }, sum = computed({ "items.@sum.a" }, function(self)
      return obs.get(self, "items.@sum.a")
    end) }
    = t.sum                               --! element 1 of 'items': the string 'x' under '@sum'
    t.items[1].a = 2
    = t.sum                               --> 2
    t.items[1].a = "y"
    = t.sum                               --! the string 'y'
    obs.flush()
    = #reports                            --> 0
    local n = counter(t, "sum")           --> 0 1
    t.items[1].a = 2                      --> 1 1
  end)
]])
check("Z8: a traceback leads from the error through the getters to the reader", function()
  local t, other = {a = 1}, {a = 1}
  local function line() return debug.getinfo(2, "l").currentline end
  local lines = {}
  local function innermost(self)
    lines[1] = line()
    local value = self.absent.field
    return value
  end
  -- Declared, and run in a coroutine because the getter of another property is running.
  obs.computed(t, "x", {"a"}, function(self)
    lines[2] = line()
    local value = innermost(self)
    return value
  end)
  obs.computed(t, "y", {"x"}, function(self)
    lines[3] = line()
    local value = self.x
    return value
  end)
  obs.computed(t, "z", function(self)
    lines[4] = line()
    local value = self.y
    return value
  end)
  local function read()
    lines[5] = line()
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
check("Z8: a report of the flush names the write behind it, one of a registration none", function()
  local t = {a = 1, list = {{n = 1}}}
  obs.computed(t, "x", {"a"}, function(self) return self.a > 1 and error "x" or self.a end)
  obs.computed(t, "y", {"x"}, function(self) return self.x end)
  obs.lazy(t, "z", {cached = false, deps = {"a"}, get = function(self)
    return self.a > 1 and error "z" or self.list[1]
  end})
  obs.observe(t, "y", nothing)
  obs.observe(t, "z.n", nothing)
  reporting(function()
    t.a = 2; local place = here()
    obs.flush()
    assert(#reports >= 2)
    for _, report in ipairs(reports) do
      eq(report.where.kind, "getter")
      has(report.where.cause, place)
    end
  end)
  obs.lazy(t, "failing", function() error "failing" end)
  reporting(function()
    obs.observe(t, "failing", nothing)
    eq(#reports, 1)
    eq(reports[1].where.cause, nil)
  end)
end)
each("Z8: force computes all it can, then raises the first error in order of declaration",
  "#obs.invalid_names(t)", [[
  local t, failing = object { plain = 1 }, { m = true, c = true, z = true }
  for _, name in ipairs { "a", "m", "c", "x", "z" } do
    obs.lazy(t, name, function() return failing[name] and error("no " .. name, 0) or name end)
  end
  obs.force(t)                            --! ^no m$
  = obs.is_valid(t, "a"), obs.is_valid(t, "x")  --> true true
  obs.flush()                             --> 3
]])
each("Z8: obs.bind reports an error, and copies the next value", "copy.p, #reports > 0", [[
  reporting(function()
    local copy, t = {}, object { v = 1, p = computed({ "v" }, good) }
    local w = obs.bind(copy, t, { "p" })  --> 1 false
    t.v = "bad"
    obs.flush()                           --> 1 true
    t.v = 3
    obs.flush()                           --> 3 true
    w:stop()
  end)
]])
example("Z8, Z10: a getter that catches an error tracks what was read, and nothing after it",
  "t.caught, t.handled, t.other, runs", [[
  runs = 0
  local t = { a = 0, b = 1 }
  obs.computed(t, "x", function(self) return self.a == 0 and error("zero", 0) or self.a end)
  obs.computed(t, "caught", function(self) return guarded(function() return self.x end) end)
  obs.computed(t, "handled", function(self)
    return select(2, xpcall(function() return self.x end, function(m) return m .. "!" end))
  end)
  obs.computed(t, "other", function(self)
    runs = runs + 1
    guarded(function() return self.x end)
    return self.b
  end)                                    --> no value zero! 1 1
  local _ = t.a, t.b
  t.a = 5                                 --> value 5 5 1 2
  t.b = 2                                 --> value 5 5 2 3
  t.a = 0                                 --> no value zero! 2 4
]])

-- Errors that getters make ------------------------------------------------------------------------

each("Z8: a getter that invalidates its own property, or writes what it depends on", "t.n", [[
  local t = object { n = 1, x = computed({ "n" }, function(self)
    if self.n < 10 then self.n = self.n + 1 end
    return self.n
  end), y = computed({ "x" }, function(self) return self.x end),
    invalid = computed({ "n" }, function(self)
      if self.n < 10 then obs.invalidate(self, "invalid") end
      return self.n
    end) }
  for _ = 1, 2 do
    = t.x        --! Errors.lua:%d+: the getter of 'x' wrote to 'n', which 'x' depends on$
    = t.y        --! the getter of 'x' wrote to 'n', which 'x' depends on
    = t.invalid  --! ^[^:]+:%d+: the getter of 'invalid' invalidated its own property$
    = obs.is_valid(t, "x"), rawget(t, "x")  --> false nil
  end                                     --> 5
  t.n = 10
  = t.x, t.y, t.invalid                   --> 10 10 10
]])
each("Z4: … and watchers receive the same value when it is kept", "told(), #reports", [[
  reporting(function()
    local note, told = recorder()
    local t = object { n = 1, x = computed({ "n" }, function(self)
      if self.n == 2 then self.n = 3 end
      return self.n > 1 and "many" or "one"
    end) }
    obs.observe(t, "x", function() note(t.x) end)
    t.n = 2                               --> - 1
    t.n = 4                               --> many 1
    t.n = 5                               --> - 1
  end)
]])
check("T12: a getter cannot wait, in a task or elsewhere", function()
  local t, log = {}, {}
  obs.lazy(t, "x", function() obs.sleep(0) end)
  obs.computed(t, "y", function(self) return self.x end)
  local function read()
    for _, name in ipairs {"x", "y"} do
      fails("Errors.lua:%d+: obs.sleep was called inside a getter, which cannot yield",
        function() return t[name] end)
    end
    log[#log + 1] = "read"
  end
  read()
  obs.task(read)
  eq(#log, 2)
end)
finish()
