-- Rules Z4 and Z5: changes delivered to watchers of lazy properties, and overridden properties.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "Support/kinds.lua")

function full(self) return self.first .. " " .. self.last end
function times_ten(self) return self.v * 10 end

-- Delivery ----------------------------------------------------------------------------------------

each("Z4: computed at registration; watchers are called if the new value differs", "n(), runs", [[
  runs = 0
  local t = object { first = "Ada", last = "King", full = computed({ "first", "last" }, function(t)
    runs = runs + 1
    return full(t)
  end) }
  local n, w = counter(t, "full")                     --> 0 1
  t.first, t.last = "Augusta", "Lovelace"
  = runs                                              --> 1
  = n(), runs                                         --> 1 2
  t.first, t.last = "Ada", "King"
  t.first, t.last = "Augusta", "Lovelace"
  = n()                                               --> 0
  w:schedule()
  = n()                                               --> 1
  runs = 0
  w:run()                                             --> 0 0
  w:stop()
  t.first = "x"                                       --> 0 0
  = t.full                                            --> x Lovelace
]])
each("Z4: coalesced callbacks receive the objects, immediate ones the change, too", "told()", [[
  local note, told = recorder()
  local t, me = object { first = "Ada", last = "King",
    full = computed({ "first", "last" }, full) }, { name = "me" }
  obs.observe(t, "full", function(t, observer) note(t.full, observer.name) end, { observer = me })
  obs.observe(t, "full", function(_, _, change)
    note(change.path, change.key, change.old, change.new)
  end, { immediate = true })
  t.first = "Al"                --> full full Ada King Al King Al King me
  t.full = "me"                 --> full full Al King me me me
]])
each("Z4: in the middle of a path it is computed when the wiring needs it", "n(), told(), runs", [[
  local note, told = recorder()
  local a, b = { x = 1 }, { x = 2 }
  runs = 0
  local t = object { which = "a", current = computed({ "which" }, function(self)
    runs = runs + 1
    return self.which == "a" and a or b
  end) }
  local n = counter({ t = t }, "t.current.x")
  local immediate = obs.observe(t, "current.x", function() note(t.current.x) end,
    { immediate = true })       --> 0 - 1
  a.x = 5                       --> 1 5 1
  t.which = "b"                 --> 1 2 2
  a.x = 6                       --> 0 - 2
  b.x = 7                       --> 1 7 2
]])
each("Z4: tables are compared by identity, and a new one is delivered with an equal leaf", "n()", [[
  local t = object { n = 1, box = computed({ "n" }, function(s) return { x = s.n and 1 } end) }
  local n = counter(t, { "box.x" })
  t.n = 2                       --> 1
]])
each("Z4: equals replaces the comparison, and receives the last delivered value",
  "told(), all()", [[
  local note, told = recorder()
  local t = object { n = 0, x = computed({ "n" }, function(self) return self.n end) }
  for _, least in ipairs { 3, 5 } do
    obs.observe(t, "x", function() note(least .. ":" .. t.x) end, {
      equals = function(old, new) return math.abs(new - old) < least end,
    })
  end
  local all = counter(t, "*")
  for i = 1, 11 do
    t.n = i
    obs.flush()
  end                           --> 3:3 5:5 3:6 3:9 5:10 0
  -- Back to the value last delivered to one watcher, which is a change for the others.
  t.n = 12
  = all(), told()               --> 1 3:12
  t.n = 10
  = all(), told()               --> 1 -
  t.n = 9
  = all(), told()               --> 1 3:9
]])
each("Z4: watchers of a list of paths", "n()", [[
  local t = object { first = "Ada", last = "King", age = 1,
    full = computed({ "first", "last" }, full) }
  local n = counter(t, { "full", "age", "first" })
  t.age, t.first = 2, "Bob"     --> 1
  t.last = "Ross"               --> 1
]])
each("W1: observer counts include watchers of a property, not its dependencies", "counts()", [[
  local t = object { first = "Ada", last = "King", full = computed({ "first", "last" }, full) }
  local function counts()
    return obs.observer_count(t, "full"), obs.observer_count(t, "first"), #obs.observed_keys(t)
  end
  local note, told = recorder()
  obs.on_observed(t, function(_, key, on) note(key, on) end)
  local _ = t.full              --> 0 0 0
  local w = obs.observe(t, "full", nothing)  --> 1 0 1
  w:stop()                      --> 0 0 0
  = told()                      --> full true full false
]])
turns("Z4: delivered at the end of the turn, also to tasks that wait", function()
  local note, told = recorder()
  local t = {first = "Ada", last = "King"}
  obs.computed(t, "full", {"first", "last"}, full)
  obs.observe(t, "full", function() note(t.full) end)
  local task = obs.task(function() return obs.next_change(t, "full", 5) end)
  t.first = "B"
  turn()
  eq(told(), "B King")
  turn()
  eq(shown(task.done, task:await()), "true true")
end)
each("Z4: obs.bind copies a computed property", "copy.full", [[
  local copy, t = {}, object { first = "Ada", last = "K", full = computed({ "first" }, full) }
  local w = obs.bind(copy, t, { "full" })  --> Ada K
  t.first = "B"
  obs.flush()                   --> B K
]])
each("Z4: watchers that assign: those that have seen the value are not called again", "told()", [[
  local note, told = recorder()
  local t = object { n = 1, x = computed({ "n" }, function(self) return self.n end) }
  for i = 1, 3 do
    obs.observe(t, "x", function()
      note(i .. "=" .. t.x)
      if i == 2 then t.x = 100 end
    end)
  end
  t.n = 2                       --> 1=2 2=2 3=100
  t.n = 3                       --> 1=3 2=3
]])
each("Z4: A to B to A is silent beside immediate watchers, and for watchers added at B",
  "told()", [[
  local note, told = recorder()
  local t = object { n = 1, x = computed({ "n" }, function(self) return self.n end) }
  local function watch(name, options)
    return obs.observe(t, "x", function(_, _, change)
      note(name .. (change and ":" .. change.old .. change.new or ""))
    end, options)
  end
  watch "coalesced"
  local immediate = watch("immediate", { immediate = true })
  t.n = 2
  t.n = 1                       --> immediate:12 immediate:21
  immediate:stop()
  t.n = 2
  local late = watch "late"
  t.n = 1                       --> late
  t.n = 2
  late:stop()
  late = watch "late"
  t.n = 3
  t.n = 2                       --> coalesced
  t.n = 4
  local later = watch "later"
  t.n = 5
  t.n = 4                       --> coalesced late
]])
each("Z4: '*' hears properties with a value, whatever they depend on, and computes none", "n()", [[
  local settings = { zoom = 1 }
  local t = object { size = 2, zoomed = computed({ { settings, "zoom" }, "size" }, function(self)
    return self.size * settings.zoom
  end) }
  obs.observe(settings, "zoom", nothing)
  local n = counter(t, "*")     --> 0
  = t.zoomed, n()               --> 2 0
  settings.zoom = 3             --> 1
  = t.zoomed                    --> 6
]])
each("C9: operators over the properties of elements", "n(), obs.get(order, 'items.@sum.total')", [[
  local function item(price, count)
    return object { price = price, n = count, total = computed({ "price", "n" },
      function(self) return self.price * self.n end) }
  end
  local order = { items = obs.array { item(2, 1), item(3, 2) } }
  local n = counter(order, "items.@sum.total")  --> 0 8
  order.items[1].n = 4                          --> 1 14
  order.items:append(item(1, 1))                --> 1 15
]])
check("C9: an operator that failed at registration is delivered when it has a value", function()
  local t, calls = {list = {{v = "x"}, {v = 1}}}, {}
  obs.on_error(nothing)
  for _, path in ipairs {"list.@sum.v", "list.@min.v", "list.@avg.v"} do
    calls[path] = 0
    obs.observe(t, path, function() calls[path] = calls[path] + 1 end)
  end
  t.list[1].v, t.list[2].v = 0, 0
  for _, value in ipairs {0, "x", 0} do
    t.list[1].v = value
    obs.flush()
  end
  obs.on_error(nil)
  for path, count in pairs(calls) do eq(count, 1, path) end
end)

-- Assigning ---------------------------------------------------------------------------------------

each("Z5: an assignment ends with the next change, whatever was read or observed before", "t.c", [[
  for i, prepare in ipairs {
    nothing, function(t) return t.c end, function(t) obs.observe(t, "v", nothing) end,
    function(t) obs.observe(t, "c", nothing) end, function(t) obs.observe(t, "*", nothing) end,
  } do
    local t = object {
      v = 1, b = computed({ "v" }, times_ten),
      c = computed({ "b" }, function(s) return s.b + 1 end),
    }
    prepare(t)
    t.v = 2
    t.c = 7                     --> 7
    = obs.is_valid(t, "c")      --> true
    t.v = 3                     --> 31
    -- A change in between counts, whether it was read or not.
    t.c = 7
    t.v = 2
    if i % 2 == 0 then agrees("21", "t.c", t.c) end
    t.v = 3                     --> 31
  end
]])
each("Z5: a property between them that keeps its value does not prolong it", "t.c", [[
  local t = object {
    v = 1, sign = computed({ "v" }, function(s) return s.v > 0 end),
    c = computed({ "sign" }, function(s) return s.sign and "plus" or "minus" end),
  }
  t.c = "assigned"
  t.v = 2                       --> plus
]])
each("Z5: … nor a dependency of another object that was never computed", "letter.text", [[
  local user = object { first = "A", last = "B", full = computed({ "first", "last" }, full) }
  local letter = object {
    user = user, text = computed({ "user.full" }, function(s) return "Dear " .. s.user.full end),
  }
  letter.text = "X"             --> X
  user.first = "C"              --> Dear C B
]])
example("Z5: a tracked getter runs before an assignment to find its dependencies", "t.c, runs", [[
  runs = 0
  local t = { flag = true, a = 1, b = 2 }
  obs.computed(t, "c", function(s)
    runs = runs + 1
    return s.flag and s.a or s.b
  end)                          --> 1 1
  t.flag = false
  t.c = 7                       --> 7 2
  t.a = 10                      --> 7 2
  t.b = 20                      --> 20 3
  t.c = 8
  = runs                        --> 3
]])
each("Z5: the errors of these getters are dropped", "t.c, #reports", [[
  reporting(function()
    local t = object { v = -1, root = computed({ "v" }, function(s)
      return s.v < 0 and error("no root", 0) or s.v
    end), c = computed({ "root" }, function(s) return s.root + 1 end) }
    t.c = 7                     --> 7 0
    t.v = -2
    = t.c                       --! no root
    t.c = 8
    t.v = 4                     --> 5 0
  end)
]])
each("Z5: a getter that forgets its property while it is assigned", "t.c", [[
  local t
  t = object { v = 1, c = computed({ "v" }, function() obs.forget(t, "c") return t.v end) }
  pcall(function() t.c = 7 end)
  t.c = 8                       --> 8
]])
check("Z2, Z5: an override ends also if objects below it were replaced before", function()
  for _, path in ipairs { "**", "a.**", "**.x", "a.*", "a.x" } do
    local t = { a = { x = 0, sub = { x = 1 } } }
    obs.computed(t, "n", { path }, function(t) return t.a.x end)
    eq(t.n, 0)
    t.a.sub = {}
    t.n = "assigned"
    eq(t.n, "assigned")
    t.a.x = 1
    eq(t.n, 1)
    t.a.sub = { x = 1 }
    eq(t.n, 1)
    t.n = "assigned"
    t.a = { x = 2 }
    eq(t.n, 2)
  end
end)
each("Z5: an override after a replaced object lasts until the new branch changes", "t.q", [[
  for _, paths in ipairs { { "a.c" }, { "a.*" }, { "*.c" }, { "a.c", "@count" }, "elsewhere" } do
    for _, is_watched in ipairs { false, true } do
      local x, y = { c = 1 }, { c = 2 }
      local source = paths == "elsewhere" and { a = x } or {}
      local t = object { a = x, q = computed(
        source.a and { { source, "a.c" } } or paths, function(s) return (source.a or s.a).c end) }
      obs.observe(source, "*", nothing)
      local n = is_watched and counter(t, "q") or function() return "-" end
      local _ = t.q
      t.a, source.a = y, source.a and y
      t.q = 9                   --> 9
      n()
      y.c = 5                   --> 5
      n()
      t.q = 8
      x.c = 7                   --> 8
      = n() == (is_watched and 1 or "-")  --> true
    end
  end
]])
each("Z5: nil and false override, and rawset, obs.set and paths",
  "t.full, obs.is_valid(t, 'full')", [[
  local t = object { first = "A", last = "K", full = computed({ "first", "last" }, full) }
  t.full = false                          --> false true
  t.full = nil                            --> nil true
  t.first = "B"                           --> B K true
  rawset(t, "full", "raw")                --> raw true
  t.first = "C"                           --> C K true
  obs.set(t, "full", "set")               --> set true
  obs.set({ t = t }, "t.full", "far")     --> far true
  obs.invalidate(t)                       --> C K true
]])
each("Z5: a read-only property rejects every assignment, observed or not", "t.x", [[
  local t = object {
    a = 1, x = lazy { deps = { "a" }, readonly = true, get = function(self) return self.a end },
  }
  for _ = 1, 2 do
    t.x = 2                               --! 'x' is read%-only
    t.x = nil                             --! 'x' is read%-only
    rawset(t, "x", 2)                     --! 'x' is read%-only
    obs.set(t, "x", 2)                    --! 'x' is read%-only
    obs.observe(t, "a", nothing)
    local _ = t.x
  end                                     --> 1
  t.a = 5                                 --> 5
]])
each("T4: a watcher that overrides its own property settles", "t.full, calls", [[
  local t = object { first = "A", last = "K", full = computed({ "first", "last" }, full) }
  calls = 0
  obs.observe(t, "full", function()
    calls = calls + 1
    t.full = "Z"
  end)
  t.first = "B"
  for _ = 1, 5 do obs.flush() end
  = t.full, calls <= 2                    --> Z true
]])

-- Objects from properties -------------------------------------------------------------------------

each("Z2: a lazy property in the middle of a dependency returns another object", "t.q, n()", [[
  local t = object { p = lazy(function() return {} end),
    q = computed({ "p.c" }, function(s) return s.p.c end) }
  local n = counter(t, "p.c")
  local _ = t.q
  for i = 1, 3 do
    obs.invalidate(t)
    _ = t.q, n()
    t.p.c = i
    = t.q == i, n()                       --> true 1
  end
  local old = t.p
  obs.invalidate(t, "p")
  _ = t.q, n()
  old.c = 7                               --> nil 0
]])
each("Z2: two lazy objects in a row", "t.q", [[
  local made = 0
  local t = object { a = lazy(function()
    made = made + 1
    return object { n = made, b = lazy(function(self) return { c = self.n } end) }
  end), q = computed({ "a.b.c" }, function(s) return s.a.b.c end) }  --> 1
  obs.invalidate(t, "a")                  --> 2
  t.a.b.c = 10                            --> 10
  obs.invalidate(t.a, "b")                --> 2
  t.a.b.c = 11                            --> 11
]])
finish()
