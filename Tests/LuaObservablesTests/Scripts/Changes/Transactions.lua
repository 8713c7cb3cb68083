-- Rule S8, as a script sees it.
local obs = require "obs"
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
dofile(folder .. "Support/watching.lua")

-- Runs `f` in a transaction on an object, and then aborts the transaction.
function aborted(t, f)
  return obs.transaction({ t }, function()
    f()
    obs.abort()
  end)
end

check("S8: a failed transaction is undone, a successful one stays", function()
  local t = { n = 1, list = { 1, 2, 3 }, array = obs.array { 1, 2 }, set = obs.set_of { "x" } }
  local before = text(obs.raw(t))
  local ok, message = obs.transaction({ t }, function()
    t.n, t.new = 2, true
    table.sort(t.list, function(a, b) return a > b end)
    t.array:append(3)
    t.set:remove("x")
    error("no", 0)
  end)
  eq(ok, false)
  eq(message, "no")
  eq(text(obs.raw(t)), before)
  local results = table.pack(obs.transaction({ t }, function()
    t.n = 5
    return "a", nil, "c"
  end))
  eq(("%s %s %s %d"):format(results[1], results[2], results[4], results.n), "true a c 4")
  eq(t.n, 5)
end)

-- Calls of watchers -------------------------------------------------------------------------------

story("S8: an undone write calls immediate watchers twice, and others not at all", [[
  local t, other = { n = 1, inner = { m = 1 }, list = obs.array { 1 } }, { n = 1 }
  watch(t, { "n", "inner.m" })
  watch(t, "n")
  watch(t, "n", { immediate = true })
  obs.observe_edits(t.list, function() note "edits" end)
  aborted(t, function()
    t.n = 2
    t.inner = { m = 7 }
    t.list:append(2)
    other.n = 2
  end)              --> n: n 1>2, n: n 2>1
  eq(other.n, 2)
  t.inner.m = 5     --> call
  t.n = 3           --> n: n 1>3, call, n
  t.list:append(2)  --> edits
]])
story("S8: a pending call stays pending, and so does a call for another write", [[
  local t, outside = { n = 1 }, {}
  local root = { t = t, outside = outside }
  local w = watch(t, "n")
  t.n = 2
  aborted(t, function() t.n = 3 end)  --> n
  eq(t.n, 2)
  w:stop()
  watch(root, { "t.n", "outside.n" })
  aborted(t, function()
    t.n = 3
    outside.n = 1
  end)                                --> call
  aborted(t, function() t.n = 3 end)
  t.n = 4                             --> call
]])
story("S8: overrides are undone, values computed inside are invalid", [[
  local t = { n = 1 }
  obs.computed(t, "twice", { "n" }, function(self) return self.n * 2 end)
  watch(t, "twice")
  aborted(t, function()
    t.n = 5
    eq(t.twice, 10)
    t.twice = 99
  end)  --> 0
  eq(t.twice, 2)
  -- An earlier override is restored.
  for _, body in ipairs {
    function() t.twice = 60 end, function() t.n = 5 end, function() obs.invalidate(t, "twice") end,
  } do
    t.twice = 50
    aborted(t, body)
    eq(t.twice, 50)
    t.n = t.n + 1
    eq(t.twice, t.n * 2)
    t.n = t.n - 1
  end
]])
story("S8: watchers registered inside stay, and know the restored state", [[
  local t, history = { n = 1, m = 1, list = obs.array { 1, 2 } }, nil
  obs.computed(t, "twice", { "n" }, function(self) return self.n * 2 end)
  aborted(t, function()
    t.n = 2
    t.list:append(3)
    changes_of(t)
    history = obs.history(t)
    watch(t, "n")
    watch(t, { "twice", "list.@sum" }, { name = "values" })
    obs.observe_edits(t.list, function(_, edits) note("edits " .. #edits) end)
    obs.observe_keys(t, "n", function() note "keys" end)
    t.n = 3
    t.list:append(4)
  end)              --> 0
  eq(history.can_undo, false)
  t.m = 2           --> set m 1>2
  history:undo()    --> set m 2>1
  eq(t.n, 1)
  t.n = 2
  t.list:append(3)  --> n, values, edits 1, keys, insert list.3 3, set n 1>2
]])
story("S8: writes of an immediate watcher during the undo are ordinary writes", [[
  local t = { n = 1, count = 0 }
  obs.observe(t, "n", function() t.count = t.count + 1 end, { immediate = true })
  watch(t, "count")
  changes_of(t)
  aborted(t, function() t.n = 2 end)  --> count, set count 0>1
]])
story("S8: a turn continues after a failed transaction", [[
  local t = { child = { n = 1 } }
  changes_of(t)
  aborted(t, function() t.m, t.child.n = 1, 2 end)
  t.child.n = 3  --> set child.n 1>3
]])
story("S8: writes that an inner transaction has undone elsewhere are no changes, either", [[
  local t = { list = { 1 }, inner = {} }
  aborted(t.inner, function()
    t.inner.new = {}
    changes_of(t)
    aborted(t, function() t.list[1] = 2 end)
  end)           --> 0
  t.list[1] = 3  --> set list.1 1>3
]])
check("S8: opaque objects are leaves for immediate watchers during the undo", function()
  local t, found = { n = 1, opaque = obs.opaque { n = 1 } }, nil
  obs.observe(t, "n", function()
    found = obs.diff(t, { n = t.n, opaque = { n = 1 } })
  end, { immediate = true })
  aborted(t, function() t.n = 2 end)
  eq(#found, 2)
end)

-- Savepoints --------------------------------------------------------------------------------------

story("S8: nested transactions are savepoints", [[
  local t = { a = 1, b = 1 }
  watch(t, "b")
  eq(obs.transaction({ t }, function()
    t.a = 2
    local ok, reason = obs.transaction({ t }, function()
      t.b = 2
      obs.abort("inner")
    end)
    eq(ok, false)
    eq(reason, "inner")
    eq(t.b, 1)
  end), true)  --> 0
  eq(t.a, 2)
  aborted(t, function()
    obs.transaction({ t }, function() t.b = 3 end)
    t.a = 3
  end)         --> 0
  eq(t.a + t.b, 3)
]])
check("S8: catching an abort does not save the transaction", function()
  local t = { n = 1 }
  local ok, reason = obs.transaction({ t }, function()
    t.n = 2
    pcall(obs.abort, "gone")
    return "saved"
  end)
  eq(ok, false)
  eq(reason, "gone")
  eq(t.n, 1)
  fails("obs.abort was called outside a transaction", obs.abort)
end)
check("S8: too deeply nested transactions are an error, the outer ones stay intact", function()
  local t, depth = { n = 0 }, 0
  local function nest()
    depth = depth + 1
    local before, own = t.n, depth
    local ok = obs.transaction({ t }, function()
      t.n = own
      nest()
    end)
    if not ok then eq(t.n, before) end
  end
  reporting(function()
    eq(pcall(nest), true)
    eq(#reports, 0)
  end)
end)

-- Covered objects ---------------------------------------------------------------------------------

check("S8: objects added below a root are covered, other objects are not", function()
  local t, guest, stranger = { list = {} }, { n = 1, deep = { n = 1 } }, { n = 1 }
  aborted(t, function()
    guest.n = 2
    t.guest = guest
    guest.n = 3
    guest.deep.n = 3
    table.insert(t.list, stranger)
    stranger.n = 2
  end)
  eq(text { t, guest, stranger }, "{{list={}} {deep={n=1} n=2} {n=1}}")
end)
check("S8: shared objects and cycles are undone once", function()
  local t = { n = 1 }
  t.self, t.child = t, { parent = t }
  obs.transaction({ t, t.child }, function()
    t.child.parent, t.self, t.n = nil, nil, 2
    obs.abort()
  end)
  assert(t.self == t and t.child.parent == t and t.n == 1)
end)
check("S8: an object below an outer root is restored when an inner transaction fails", function()
  local list, guest = {}, { n = 1 }
  aborted(list, function()
    aborted(guest, function()
      guest.n = 2
      list[1] = guest
    end)
  end)
  eq(guest.n, 1)
end)
check("S8: members of sets are below a root, values under an object as key are not", function()
  local a, b, c, d, key = { n = 1 }, { n = 1 }, { n = 1 }, { n = 1 }, {}
  local t = { set = obs.set_of { a }, [key] = c }
  aborted(t, function()
    t.set:add(b)
    t[key] = d
    for _, object in ipairs { a, b, c, d } do object.n = 2 end
  end)
  eq(text { a, b, c, d }, "{{n=1} {n=1} {n=2} {n=2}}")
  eq(t.set:contains(b), false)
  eq(t[key], c)
end)
for sentence, add in pairs {
  ["in a batch around the transaction"] = function(t, guest)
    obs.batch(function()
      aborted(t, function()
        t.guest = guest
        guest.n = 2
      end)
    end)
  end,
  ["in a batch inside of it"] = function(t, guest)
    aborted(t, function()
      obs.batch(function()
        t.guest = guest
        guest.n = 2
      end)
    end)
  end,
  ["before immediate watchers are called"] = function(t, guest)
    obs.observe(t, "guest", function() if t.guest then guest.n = 2 end end, { immediate = true })
    aborted(t, function() t.guest = guest end)
  end,
  ["though its holder becomes opaque in the same turn"] = function(t, guest)
    t.guest = guest
    obs.observe(t, "**", nothing)
    obs.opaque(t)
    aborted(t, function() guest.n = 2 end)
  end,
} do
  check("S8: an object below a root is covered at once, " .. sentence, function()
    local guest = { n = 1 }
    add({}, guest)
    eq(guest.n, 1)
  end)
end
check("S8: all objects that one operation inserts are undone", function()
  local ways = {
    { obs.array, function(o, x, y) o:append(1, x, 2, y) end },
    { obs.array, function(o, x, y) o:append(1, { x = { x } }, { y = y }) end },
    { obs.array, function(o, x, y) o:set { 1, x, 2, y } end },
    { obs.array, function(o, x, y) obs.assign(o, { 1, x, 2, y }) end },
    { obs.array, function(o, x, y) table.move({ 1, x, 2, y }, 1, 4, 1, o) end },
    {
      function() return obs.array { {}, {} } end,
      function(o, x, y) o:set { o[1], x, o[2], y } end,
    },
    { function() return {} end, function(o, x, y) table.move({ 1, x, 2, y }, 1, 4, 1, o) end },
    {
      function() return { {}, 1 } end,
      function(o, x, y) table.move({ x, o[1], y }, 1, 3, 2, o) end,
    },
    { obs.set_of, function(o, x, y) obs.assign(o, { 1, x, y }) end },
    { obs.set_of, function(o, x, y) o:union(obs.set_of { 1, x, y }) end },
    { obs.dictionary, function(o, x, y) obs.assign(o, { a = 1, b = x, c = y }) end },
  }
  for i, way in ipairs(ways) do
    local object, x, y = way[1](), { n = i }, { n = i }
    aborted(object, function()
      way[2](object, x, y)
      x.n, y.n = 0, 0
    end)
    eq(x.n, i)
    eq(y.n, i)
  end
end)
check("S8: an operation that moves objects adds none", function()
  local array = obs.array { { n = 2 }, { n = 1 } }
  local first = array[1]
  aborted(array, function()
    array:sort(function(a, b) return a.n < b.n end)
    array:reverse()
    array:swap(1, 2)
    first.n = 7
  end)
  eq(first.n, 2)
  eq(array[1], first)
end)

-- Restored values, of unwatched objects and of objects below a watcher of `**` --------------------

local function watched_or_not(sentence, body)
  for _, is_watched in ipairs { false, true } do
    check(sentence .. (is_watched and ", below a watcher of **" or ""), function()
      body(function(t)
        if is_watched then obs.observe(t, "**", nothing) end
        return t
      end)
    end)
  end
end
watched_or_not("S8: equal numbers get their types and signs back", function(watch)
  local t = watch {
    array = obs.array { 1, 1.0 }, list = { 2.0, 2 }, zero = 0.0, whole = 1, float = 1.0,
  }
  aborted(t, function()
    t.array:reverse()
    table.sort(t.list, function() return false end)
    table.move({ 2, 2.0 }, 1, 2, 1, t.list)
    table.insert(t.list, 3)
    t.zero, t.whole, t.float = -0.0, 1.0, 1
  end)
  eq(text { t.array[1], t.list, t.whole, t.float, 1 / t.zero }, "{1 {2.0 2} 1 1.0 inf}")
end)
watched_or_not("S8: a value that was inherited before is inherited again", function(watch)
  local t = watch(setmetatable({}, { __index = { v = 1 } }))
  aborted(t, function() t.v = 1 end)
  eq(rawget(t, "v"), nil)
end)
watched_or_not("S8: a list is in order again if its sort writes to it", function(watch)
  local list, count = watch { 5, 4, 3, 2, 1 }, 0
  aborted(list, function()
    table.sort(list, function(a, b)
      count = count + 1
      if count == 2 then list.n = 9 end
      return a < b
    end)
  end)
  eq(table.concat(list) .. tostring(list.n), "54321nil")
end)
watched_or_not("S8: names of metamethods stay, in dictionaries, too", function(watch)
  local t = watch(obs.dictionary { __x = 1, y = 1 })
  aborted(t, function() t.y = 2 end)
  eq(t.__x + t.y, 2)
end)
watched_or_not("S8: an added object is covered after an earlier one was collected", function(watch)
  local t, guest = watch { list = obs.array {} }, { n = 1 }
  aborted(t, function()
    t.list:append { {} }
    t.list:clear()
    collectgarbage()
    collectgarbage()
    t.guest = guest
    guest.n = 2
  end)
  eq(guest.n, 1)
  local roots = { { n = 1 }, { n = 1 } }
  local second = watch(roots[2])
  obs.transaction(roots, function()
    roots[1] = nil
    collectgarbage()
    second.n = 2
    obs.abort()
  end)
  eq(second.n, 1)
end)
check("S8: lists are restored past metamethods", function()
  local calls = 0
  local meta = {
    __newindex = function() calls = calls + 1 end, __len = function() error("no length", 0) end,
  }
  local t = { list = setmetatable({ 1, 2, 3 }, meta) }
  aborted(t, function() for i = 2, 3 do rawset(t.list, i, nil) end end)
  eq(rawlen(t.list), 3)
  obs.apply(t, {
    { path = { "list", 4 }, kind = "insert", new = 4 },
    { path = { "list", 1 }, kind = "remove", old = 1 },
    { path = { "list", 1 }, kind = "move", from = 3 },
  })
  eq(rawlen(t.list), 3)
  eq(rawget(t.list, 1), 4)
  eq(calls, 0)
end)

-- Watchers of ** and histories --------------------------------------------------------------------

check("S8: members of sets are restored, whatever follows the tree", function()
  for _, follow in ipairs {
    function() end, function(t) obs.observe(t, "**", print) end,
    function(t) obs.changes(t, print) end, obs.history, function(t) obs.history { t } end,
  } do
    local member, late = { n = 1 }, { n = 1 }
    local t = { set = obs.set_of { member } }
    follow(t)
    obs.transaction({ t }, function()
      member.n = 2
      t.set:add(late)
      late.n = 2
      obs.abort()
    end)
    eq(member.n, 1)
    eq(late.n, 1)
    eq(t.set:contains(late), false)
  end
end)
check("S8: writes to an object stay that has left, though a history still follows it", function()
  local left = { n = 1 }
  local t = { left = left, list = {} }
  local history = obs.history(t)
  t.left = nil
  obs.flush()
  t.list[1] = 1
  obs.flush()
  obs.transaction({ t }, function()
    left.n, t.list[1] = 2, 2
    obs.abort()
  end)
  eq(left.n, 2)
  eq(t.list[1], 1)
  history:stop()
end)
check("S8: a history made inside does not go into opaque tables", function()
  local t, history = { o = obs.opaque { n = 1 } }, nil
  aborted(t, function()
    history = obs.history(t)
    t.o.n, t.m = 2, 2
  end)
  t.o.n = 3
  obs.flush()
  eq(history.can_undo, false)
end)
story("S8: an immediate watcher of ** hears objects added inside", [[
  local t, guest = {}, { n = 1 }
  watch(t, "**", { immediate = true })
  obs.transaction({ t }, function()
    t.guest = guest
    guest.n = 2
  end)
  guest.n = 3  --= 3
]])
story("S8: a watcher of ** made inside hears nothing after the undo", [[
  local a, b, guest = {}, {}, {}
  local root = { a, b }
  aborted(root, function()
    aborted(a, function()
      a.x = guest
      watch(root, "**")
      aborted(b, function() b.y = {} end)
    end)
    obs.transaction({ root }, nothing)
  end)  --> 0
]])
check("S8: a watcher of ** may end, or pause, inside", function()
  for _, name in ipairs { "stop", "pause" } do
    local t, gone = { n = 1, gone = { n = 1 } }, nil
    local watcher = obs.observe(t, "**", nothing)
    aborted(t, function()
      gone, t.gone = t.gone, nil
      watcher[name](watcher)
      t.n, gone.n = 2, 2
    end)
    eq(t.n + t.gone.n, 2)
  end
end)
check("S8: flush inside is an error, and so are wrong arguments", function()
  local ok, message = obs.transaction({ {} }, obs.flush)
  eq(ok, false)
  has(message, "obs.flush was called inside a transaction")
  for _, case in ipairs {
    { "bad argument #1 to 'transaction' %(list of objects expected", nil, nothing },
    { "the list of objects is empty", {}, nothing }, { "got one with a number", { 1 }, nothing },
    { "function expected", { {} } },
  } do
    fails(case[1], obs.transaction, case[2], case[3])
  end
end)
check("S8: a finished transaction leaves nothing behind", function()
  local t = { n = 1, inner = {} }
  obs.transaction({ t }, function() t.n = 2 end)
  aborted(t, function() t.n = 3 end)
  obs.flush()
  eq(obs.observer_count(t, "*") + obs.observer_count(t.inner, "*"), 0)
end)

finish()
