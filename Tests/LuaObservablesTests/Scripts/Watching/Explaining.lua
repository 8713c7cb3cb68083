-- Rules W2, W4 and W5: the output of `why`, `log` and `describe` for objects and values.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/collecting.lua")

-- The name of a table as at the beginning of `describe`.
function name(t) return (obs.describe(t):match "^%S+ %S+") end
-- The text of `why`, and the values in brackets in it, one for each write.
function why_text(w) return (select(2, obs.why(w))) end
function values(w)
  local list = {}
  for change in why_text(w):gmatch "%(([^()]*→.-)%)" do list[#list + 1] = change end
  return table.concat(list, ", ")
end

-- The events of `body`.
function logged(body)
  local events = {}
  obs.log(function(event) events[#events + 1] = event end)
  local ok, message = pcall(body)
  obs.log(nil)
  if not ok then error(message, 0) end
  return events
end

-- log
check("W5: an event is a sentence to print", function()
  local t = { a = 1, s = "x" }
  obs.computed(t, "twice", { "a" }, function(self) return self.a * 2 end)
  local watcher, place
  local events = logged(function()
    watcher = obs.observe(t, { "a", "s", "twice" }, nothing, { name = "W" }); place = here()
    t.a = 2
    t.s = ("y"):rep(61)
    t.s = setmetatable({}, { __tostring = function() error "called" end })
    obs.flush()
    watcher:stop()
  end)
  local texts = {}
  for i, event in ipairs(events) do texts[i] = tostring(event) end
  local text, T = table.concat(texts, "\n"), name(t)
  has(text, "observe W on 'a' of " .. T .. " at " .. place)
  has(text, "write 'a' of " .. T .. " (1 → 2) at ")
  has(text, "write 's' of " .. T .. ' ("x" → "' .. ("y"):rep(60) .. '"…) at ')
  has(text, "invalidate 'twice' of " .. T .. " at ")
  has(text, "call W of " .. T .. " registered at " .. place)
  has(text, "end W of " .. T)
  rawset(events[1], "kind", 5)
  rawset(events[1], "old", print)
  tostring(events[1])
end)

obs.record(true)

-- why: values
check("W4: why shows old and new values", function()
  local t, inner = { a = 1 }, {}
  local w = obs.observe(t, "a", nothing)
  for _, value in ipairs { 2.5, "two\n", true, inner } do t.a = value end
  t.a = nil
  obs.flush()
  local writes = obs.why(w)
  local expected = '1 → 2.5, 2.5 → "two\\n", "two\\n" → true, true → %s, %s → nil'
  eq(values(w), expected:format(name(inner), name(inner)))
  eq(shown(writes[1].old, writes[1].new, writes[2].new), "1 2.5 two\n")
  eq(writes[4].new, name(inner))
  eq(writes[5].new, nil)
  for _, write in ipairs(writes) do eq(write.object, name(t)) end
end)
check("W4: of a long string it keeps the beginning, also if its bytes are not text", function()
  local t = { a = "" }
  local w = obs.observe(t, "a", nothing)
  for _, value in ipairs { ("x"):rep(100000), ("ü"):rep(100), ("\xff"):rep(3) } do t.a = value end
  obs.flush()
  local writes = obs.why(w)
  eq(writes[1].new, ("x"):rep(60) .. "…")
  eq(writes[2].new, ("ü"):rep(60) .. "…")
  eq(writes[3].new, "\u{FFFD}\u{FFFD}\u{FFFD}")
  assert(#why_text(w) < 1500, #why_text(w))
end)
check("W4: no code runs to render a value, and none is kept alive", function()
  local t = { a = 1 }
  local w = obs.observe(t, "a", nothing)
  local gone = setmetatable({}, { __mode = "k" })
  do
    local loud = setmetatable({}, {
      __name = "Loud", __tostring = error, __index = error, __eq = error, __len = error,
    })
    gone[loud] = true
    t.a = loud
    t.a = 2
  end
  obs.flush()
  local writes = obs.why(w)
  assert(writes[1].new:find "^Loud: 0x", writes[1].new)
  eq(writes[2].old, writes[1].new)
  collect()
  eq(next(gone), nil)
  eq(#obs.why(w), 2)
end)
example("W4: lists, overrides and unknown old values", "values(w)", [[
  local t = { list = obs.array { "a", "b" } }
  local w = obs.observe(t, "list.*", nothing)
  t.list:insert(2, "x")
  table.remove(t.list, 1)
  t.list[1] = "y"
  obs.flush()                     --> "b" → "x", "a" → "x", "x" → "y"
  has(why_text(w), "'#2' was written at")
  t = setmetatable({}, { __newindex = function(t, k, v) rawset(t, "_" .. k, v) end })
  w = obs.observe(t, "a", nothing)
  t.a = 5
  obs.flush()                     --> → 5
  t = { a = 1 }
  w = obs.observe(t, "a", nothing)
  obs.trigger(t, "a")
  obs.flush()                     --> → 1
  obs.trigger(t, "a", 7)
  obs.flush()                     --> 7 → 1
  obs.computed(t, "twice", { "a" }, function(self) return 2 * self.a end)
  w = obs.observe(t, "twice", nothing)
  t.twice = 7
  obs.flush()                     --> 2 → 7
  t = { a = "same" }
  w = obs.observe(t, "a", nothing)
  t.a = "same"; local place = here()
  has(select(2, obs.whynot(w)),
    "'a' was written at " .. place .. ', with the value it already had: "same"')
]])

-- why: turns and flushes
turns("W4: a script's own flushes are numbered within the turn", function()
  local t = { a = 0 }
  local w = obs.observe(t, "a", nothing, { name = "w" })
  local function called()
    local turn, flush = why_text(w):match "^w was called in turn (%d+), flush (%d+), because of:"
    return tonumber(turn), tonumber(flush)
  end
  obs.record(true)
  t.a = 1
  obs.flush()
  local number, flush = called()
  t.a = 2
  obs.flush()
  obs.flush()
  eq(shown(called()), shown(number, flush + 1))
  t.a = 3
  turn()
  eq(shown(called()), shown(number, flush + 2))
  eq(obs.whynot(w).detail, ("it was called in turn %d, flush %d"):format(number, flush + 2))
  t.a = 4
  turn()
  local later, first = called()
  eq(shown(later > number, first), "true 1")
  obs.record(false)
end)
check("W4: a write by a watcher names its flush, a call outside of flushes none", function()
  local t = { a = 0, b = 0 }
  obs.observe(t, "a", function(t) t.b = t.a end)
  local w = obs.observe(t, "b", nothing)
  local seen, now
  now = obs.observe(t, "a", function() seen = why_text(now) end, { immediate = true })
  t.a = 1
  assert(seen:find "was called in turn %d+ because of:", seen)
  obs.flush()
  local writes = obs.why(w)
  eq(math.type(writes[1].flush), "integer")
  has(why_text(w), (", flush %d (0 → 1)"):format(writes[1].flush))
end)

-- why: objects that left
-- The new values of the writes, and whether their objects had left the path.
function left(w)
  local texts = {}
  for i, write in ipairs((obs.why(w))) do
    local value = type(write.new) == "number" and write.new or write.new and "object" or "nil"
    texts[i] = value .. (write.left and ":left" or "")
  end
  return table.concat(texts, " ")
end
example("W4: why says that an object had left the path", "left(w)", [[
  local t = { u = { x = 1 } }
  local w, old = obs.observe(t, "u.x", nothing), t.u
  old.x = 2
  t.u = { x = 3 }
  old.x = 4; local place = here()
  obs.flush()                     --> 2 object 4:left
  local writes = obs.why(w)
  = writes[3].object == name(old) --> true
  has(why_text(w),
    ("'x' was written at %s in turn %d (2 → 4), to an object that had left the path")
      :format(place, writes[3].turn))
  -- The same for the path of a computed property.
  obs.computed(t, "twice", { "u.x" }, function(self) return 2 * self.u.x end)
  w, old = obs.observe(t, "twice", nothing), t.u
  t.u = { x = 5 }
  old.x = 9
  obs.flush()                     --> object 9:left
  = table.concat(obs.why(w)[2].through)  --> twice
]])
example("W4: … but not of one that returned, or that another path still leads to", "left(w)", [[
  local t = { u = { x = 1 }, v = {} }
  t.v.u = t.u
  local w, old = obs.observe(t, "u.x", nothing), t.u
  local both = obs.observe(t, { "u.x", "v.u.x" }, nothing)
  t.u = nil
  old.x = 2
  t.u = old
  obs.flush()                     --> nil 2 object
  t.u = { x = 1 }
  old.x = 3
  obs.flush()                     --> object 3:left
  = left(both)                    --> object 3
  -- Elements that left a list, and elements that stayed.
  local a, b = { p = 1 }, { p = 2 }
  t.list = { a, b }
  w = obs.observe(t, "list.*.p", nothing)
  table.remove(t.list, 1)
  a.p, b.p = 3, 4
  obs.flush()
  = left(w):match "4.*", left(w):match "3%S*"  --> 4 3:left 3:left
]])
obs.record(false)

-- log
check("W5: events name the object and carry old and new value", function()
  local t, inner = { a = 1 }, {}
  local events = logged(function()
    local w = obs.observe(t, "a", nothing)
    t.a = inner
    t.a = inner
    t.a = ("long"):rep(1000)
    obs.flush()
    w:stop()
  end)
  local texts = {}
  for i, event in ipairs(events) do
    eq(event.object, name(t))
    texts[i] = shown(event.kind, event.equal or "-", event.flush and "flush" or "-")
  end
  eq(table.concat(texts, ", "), "observe - -, write - -, write true -, write - -, call - flush, "
    .. "end - -")
  for i, expected in pairs { [2] = { 1, inner }, [3] = { inner, inner } } do
    eq(events[i].old, expected[1])
    eq(events[i].new, expected[2])
  end
  eq(events[4].old, inner)
  eq(#events[4].new, 4000)
end)
check("W5: computations carry the values of the property", function()
  local t, note, told = setmetatable({ n = 1 }, { __name = "Thing" }), recorder()
  obs.computed(t, "twice", { "n" }, function(self) return 2 * self.n end)
  for _, e in ipairs(logged(function()
    obs.observe(t, "twice", nothing)
    t.n = 4
    obs.flush()
    t.twice = 9
  end)) do
    assert(e.object:find "^Thing #%d+$", e.object)
    if e.key then note(e.kind, e.key, e.old, e.new) end
  end
  eq(told(), "compute twice nil 2 write n 1 4 invalidate twice nil nil compute twice 2 8 "
    .. "write twice 8 9")
end)
goes("W5: the log keeps values only until its sink was called", function()
  local t = { a = 1 }
  obs.log(nothing)
  obs.observe(t, "a", nothing)
  t.a = {}
  local value = t.a
  t.a = 2
  obs.flush()
  return value
end)
obs.log(nil)

-- describe
check("W2: an unobserved object with dependents is described in one sentence", function()
  local settings = setmetatable({ zoom = 2, pad = 1 }, { __name = "Settings" })
  local view = setmetatable({ width = 3 }, { __name = "View" })
  obs.computed(view, "scaled", { "width", { settings, "zoom" }, { settings, "pad" } },
    function(self) return self.width * settings.zoom + settings.pad end)
  obs.computed(view, "double", { { settings, "zoom" } }, function() return settings.zoom * 2 end)
  local _ = view.scaled + view.double
  eq((obs.describe(settings):gsub("#%d+", "#N")),
    "Settings #N is not observed, but 'scaled' of View depends on its 'pad' and "
    .. "'zoom' and 'double' of View depends on its 'zoom'")
  obs.observe(settings, "pad", nothing)
  has(obs.describe(settings), "is observed:")
end)
check("W2: of many it names some, and the number of the others", function()
  local settings, views = { zoom = 2 }, {}
  for i = 1, 30 do
    views[i] = {}
    obs.computed(views[i], "v" .. i, { { settings, "zoom" } }, function() return settings.zoom end)
    local _ = views[i]["v" .. i]
  end
  local text = obs.describe(settings)
  has(text, "'v1' ")
  has(text, " and 22 more depend on it")
  eq(select(2, text:gsub("\n", "")), 0)
end)

finish()
