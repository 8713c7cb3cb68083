-- Rules W2, W4 and W5: the output of `why`, `log` and `describe` for objects and values.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

-- The name of a table as at the beginning of `describe`.
local function name(t) return (obs.describe(t):match "^%S+ %S+") end

-- The events of `body`.
local function logged(body)
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
  local text = table.concat(texts, "\n")
  local function has(part) assert(text:find(part, 1, true), part .. " in " .. text) end
  has("observe W on 'a' of " .. name(t) .. " at " .. place)
  has("write 'a' of " .. name(t) .. " (1 → 2) at ")
  has("write 's' of " .. name(t) .. ' ("x" → "' .. ("y"):rep(60) .. '"…) at ')
  has("invalidate 'twice' of " .. name(t) .. " at ")
  has("call W of " .. name(t) .. " registered at " .. place)
  has("end W of " .. name(t))
  rawset(events[1], "kind", 5)
  rawset(events[1], "old", print)
  tostring(events[1])
end)

obs.record(true)

-- why: values
check("W4: why shows old and new values", function()
  local t, inner = { a = 1 }, {}
  local w = obs.observe(t, "a", nothing)
  t.a = 2.5
  t.a = "two\n"
  t.a = true
  t.a = inner
  t.a = nil
  obs.flush()
  local writes, text = obs.why(w)
  local shown = {}
  for change in text:gmatch "%((.-)%)" do shown[#shown + 1] = change end
  local expected = '1 → 2.5, 2.5 → "two\\n", "two\\n" → true, true → %s, %s → nil'
  eq(table.concat(shown, ", "), expected:format(name(inner), name(inner)))
  eq(writes[1].old, 1)
  eq(writes[1].new, 2.5)
  eq(writes[2].new, "two\n")
  eq(writes[4].new, name(inner))
  eq(writes[5].new, nil)
  for _, write in ipairs(writes) do eq(write.object, name(t)) end
end)
check("W4: of a long string it keeps the beginning, also if its bytes are not text", function()
  local t = { a = "" }
  local w = obs.observe(t, "a", nothing)
  t.a = ("x"):rep(100000)
  t.a = ("ü"):rep(100)
  t.a = ("\xff"):rep(3)
  obs.flush()
  local writes, text = obs.why(w)
  eq(writes[1].new, ("x"):rep(60) .. "…")
  eq(writes[2].new, ("ü"):rep(60) .. "…")
  eq(writes[3].new, "\u{FFFD}\u{FFFD}\u{FFFD}")
  assert(#text < 1500, #text)
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
  collectgarbage() collectgarbage()
  eq(next(gone), nil)
  eq(#obs.why(w), 2)
end)
check("W4: lists: the key and the values of the first element that changed", function()
  local t = { list = obs.array { "a", "b" } }
  local w = obs.observe(t, "list.*", nothing)
  t.list:insert(2, "x")
  table.remove(t.list, 1)
  t.list[1] = "y"
  obs.flush()
  local _, text = obs.why(w)
  has(text, [['#2' was written at]])
  has(text, [[("b" → "x")]])
  has(text, [[("a" → "x")]])
  has(text, [[("x" → "y")]])
end)
check("W4: an unknown old value is left out", function()
  local t = setmetatable({}, { __newindex = function(t, k, v) rawset(t, "_" .. k, v) end })
  local w = obs.observe(t, "a", nothing)
  t.a = 5
  obs.flush()
  has(select(2, obs.why(w)), "(→ 5)")
  local plain = { a = 1 }
  w = obs.observe(plain, "a", nothing)
  obs.trigger(plain, "a")
  obs.flush()
  has(select(2, obs.why(w)), "(→ 1)")
  obs.trigger(plain, "a", 7)
  obs.flush()
  has(select(2, obs.why(w)), "(7 → 1)")
end)
check("W4: an override shows the values of the computed property", function()
  local t = { n = 1 }
  obs.computed(t, "twice", { "n" }, function(self) return 2 * self.n end)
  local w = obs.observe(t, "twice", nothing)
  t.twice = 7
  obs.flush()
  has(select(2, obs.why(w)), "(2 → 7)")
end)
check("W4: whynot shows the equal value", function()
  local t = { a = "same" }
  local w = obs.observe(t, "a", nothing)
  t.a = "same"; local place = here()
  obs.flush()
  has(select(2, obs.whynot(w)),
    "'a' was written at " .. place .. ', with the value it already had: "same"')
end)

-- why: turns and flushes
turns("W4: a script's own flushes are numbered within the turn", function()
  local t = { a = 0 }
  local w = obs.observe(t, "a", nothing, { name = "w" })
  obs.record(true)
  t.a = 1
  obs.flush()
  local first = select(2, obs.why(w))
  local number, flush = first:match "in turn (%d+), flush (%d+), because of:"
  number, flush = tonumber(number), tonumber(flush)
  t.a = 2
  obs.flush()
  obs.flush()
  local title = "w was called in turn %d, flush %d, because of:"
  has(select(2, obs.why(w)), title:format(number, flush + 1))
  t.a = 3
  turn()
  has(select(2, obs.why(w)), title:format(number, flush + 2))
  eq(obs.whynot(w).detail, ("it was called in turn %d, flush %d"):format(number, flush + 2))
  t.a = 4
  turn()
  local text = select(2, obs.why(w))
  assert(tonumber(text:match "in turn (%d+)") > number, text)
  has(text, ", flush 1, because of:")
  obs.record(false)
end)
check("W4: a write by a watcher names its flush, a call outside of flushes none", function()
  local t = { a = 0, b = 0 }
  obs.observe(t, "a", function(t) t.b = t.a end)
  local w = obs.observe(t, "b", nothing)
  local seen
  local now
  now = obs.observe(t, "a", function() seen = select(2, obs.why(now)) end, { immediate = true })
  t.a = 1
  assert(seen:find "was called in turn %d+ because of:", seen)
  obs.flush()
  local writes = obs.why(w)
  eq(math.type(writes[1].flush), "integer")
  has(select(2, obs.why(w)), (", flush %d (0 → 1)"):format(writes[1].flush))
end)

-- why: objects that left
check("W4: why says that an object had left the path", function()
  local t = { u = { x = 1 } }
  local w = obs.observe(t, "u.x", nothing)
  local old = t.u
  old.x = 2
  t.u = { x = 3 }
  old.x = 4; local place = here()
  obs.flush()
  local writes, text = obs.why(w)
  eq(#writes, 3)
  eq(writes[1].left, nil)
  eq(writes[2].left, nil)
  eq(writes[3].left, true)
  eq(writes[3].object, name(old))
  has(text, ("'x' was written at %s in turn %d (2 → 4), to an object that had left the path")
    :format(place, writes[3].turn))
end)
check("W4: … but not of one that returned, or that another path still leads to", function()
  local t = { u = { x = 1 }, v = {} }
  t.v.u = t.u
  local w = obs.observe(t, "u.x", nothing)
  local both = obs.observe(t, { "u.x", "v.u.x" }, nothing)
  local old = t.u
  t.u = nil
  old.x = 2
  t.u = old
  obs.flush()
  for _, write in ipairs(obs.why(w)) do eq(write.left, nil) end
  t.u = { x = 1 }
  old.x = 3
  obs.flush()
  local writes = obs.why(w)
  eq(writes[#writes].left, true)
  writes = obs.why(both)
  eq(writes[#writes].left, nil)
end)
check("W4: elements that left a list, and elements that stayed", function()
  local a, b = { p = 1 }, { p = 2 }
  local t = { list = { a, b } }
  local w = obs.observe(t, "list.*.p", nothing)
  table.remove(t.list, 1)
  a.p = 3
  b.p = 4
  obs.flush()
  local left = {}
  for _, write in ipairs(obs.why(w)) do
    if write.key == "p" then left[write.new] = write.left or false end
  end
  eq(left[3], true)
  eq(left[4], false)
end)
check("W4: an object that left the path of a computed property", function()
  local t = { u = { x = 1 } }
  obs.computed(t, "twice", { "u.x" }, function(self) return 2 * self.u.x end)
  local w = obs.observe(t, "twice", nothing)
  local old = t.u
  t.u = { x = 5 }
  old.x = 3
  obs.flush()
  local writes = obs.why(w)
  eq(writes[#writes].new, 3)
  eq(writes[#writes].left, true)
  eq(table.concat(writes[#writes].through), "twice")
end)
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
  for _, event in ipairs(events) do eq(event.object, name(t)) end
  eq(events[2].old, 1)
  eq(events[2].new, inner)
  eq(events[3].equal, true)
  eq(events[3].new, inner)
  eq(events[4].old, inner)
  eq(#events[4].new, 4000)
  eq(events[5].kind, "call")
  eq(math.type(events[5].flush), "integer")
  eq(events[2].flush, nil)
  eq(#events, 6)
end)
check("W5: computations carry the values of the property", function()
  local t = setmetatable({ n = 1 }, { __name = "Thing" })
  obs.computed(t, "twice", { "n" }, function(self) return 2 * self.n end)
  local events = logged(function()
    obs.observe(t, "twice", nothing)
    t.n = 4
    obs.flush()
    t.twice = 9
  end)
  local shown = {}
  for _, e in ipairs(events) do
    assert(e.object:find "^Thing #%d+$", e.object)
    if e.key then shown[#shown + 1] = ("%s %s %s %s"):format(e.kind, e.key, e.old, e.new) end
  end
  eq(table.concat(shown, ", "), "compute twice nil 2, write n 1 4, invalidate twice nil nil, "
    .. "compute twice 2 8, write twice 8 9")
end)
check("W5: the log keeps values only until its sink was called", function()
  local t, gone = { a = 1 }, setmetatable({}, { __mode = "k" })
  obs.log(nothing)
  obs.observe(t, "a", nothing)
  t.a = {}
  gone[t.a] = true
  t.a = 2
  obs.flush()
  collectgarbage() collectgarbage()
  eq(next(gone), nil)
  obs.log(nil)
end)

-- describe
check("W2: an unobserved object with dependents is described in one sentence", function()
  local settings = setmetatable({ zoom = 2, pad = 1 }, { __name = "Settings" })
  local view = setmetatable({ width = 3 }, { __name = "View" })
  obs.computed(view, "scaled", { "width", { settings, "zoom" }, { settings, "pad" } },
    function(self) return self.width * settings.zoom + settings.pad end)
  obs.computed(view, "double", { { settings, "zoom" } }, function() return settings.zoom * 2 end)
  local _ = view.scaled + view.double
  local text = obs.describe(settings):gsub("#%d+", "#N")
  eq(text, "Settings #N is not observed, but 'scaled' of View depends on its 'pad' and "
    .. "'zoom' and 'double' of View depends on its 'zoom'")
  obs.observe(settings, "pad", nothing)
  has(obs.describe(settings), "is observed:")
end)
check("W2: of many it names some, and the number of the others", function()
  local settings = { zoom = 2 }
  local views = {}
  for i = 1, 30 do
    local view = {}
    obs.computed(view, "v" .. i, { { settings, "zoom" } }, function() return settings.zoom end)
    local _ = view["v" .. i]
    views[i] = view
  end
  local text = obs.describe(settings)
  has(text, "'v1' ")
  has(text, " and 22 more depend on it")
  eq(select(2, text:gsub("\n", "")), 0)
  eq(#views, 30)
end)

finish()
