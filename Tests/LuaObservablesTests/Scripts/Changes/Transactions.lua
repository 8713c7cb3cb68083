-- Rule S8, as a script sees it.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

check("S8: a failed transaction is undone, a successful one stays", function()
  local t = { n = 1, list = { 1, 2, 3 }, array = obs.array { 1, 2 }, set = obs.set_of { "x" } }
  local ok, message = obs.transaction({ t }, function()
    t.n, t.new = 2, true
    table.sort(t.list, function(a, b) return a > b end)
    t.array:append(3)
    t.set:remove("x")
    error("no", 0)
  end)
  eq(ok, false)
  eq(message, "no")
  eq(t.n, 1)
  eq(rawget(t, "new"), nil)
  eq(table.concat(t.list), "123")
  eq(table.concat(t.array), "12")
  eq(t.set:contains("x"), true)
  local results = table.pack(obs.transaction({ t }, function()
    t.n = 5
    return "a", nil, "c"
  end))
  eq(results[1], true)
  eq(results[4], "c")
  eq(results.n, 4)
  eq(t.n, 5)
end)
check("S8: watchers are not called for undone writes", function()
  local t, other = { n = 1, inner = { m = 1 } }, { n = 1 }
  local calls = counter(t, { "n", "inner.m" })
  local edits = 0
  t.list = obs.array { 1 }
  obs.observe_edits(t.list, function() edits = edits + 1 end)
  local both_calls = 0
  local both = obs.observe(t, "n", function() both_calls = both_calls + 1 end)
  obs.transaction({ t }, function()
    t.n = 2
    t.inner = { m = 7 }
    t.list:append(2)
    other.n = 2
    obs.abort()
  end)
  eq(calls(), 0)
  eq(edits, 0)
  eq(both_calls, 0)
  eq(other.n, 2)
  t.inner.m = 5
  eq(calls(), 1)
  t.n = 3
  eq(calls(), 1)
  eq(both_calls, 1)
  t.list:append(2)
  obs.flush()
  eq(edits, 1)
  both:stop()
end)
check("S8: a pending call stays pending, and so does a call for another write", function()
  local t, other = { n = 1, m = 1 }, { n = 1 }
  t.other = other
  local before = counter(t, "n")
  t.n = 2
  obs.transaction({ t }, function() t.n = 3 obs.abort() end)
  eq(before(), 1)
  eq(t.n, 2)
  local outside = {}
  local observed = { t = { n = 1 }, outside = outside }
  local calls = counter(observed, { "t.n", "outside.n" })
  obs.transaction({ observed.t }, function()
    observed.t.n = 2
    outside.n = 1
    obs.abort()
  end)
  eq(calls(), 1)
  obs.transaction({ observed.t }, function() observed.t.n = 2 obs.abort() end)
  observed.t.n = 3
  eq(calls(), 1)
end)
check("S8: immediate watchers are called for the undone writes", function()
  local t, log = { n = 1 }, {}
  obs.observe(t, "n", function(_, _, change) log[#log + 1] = change.old .. ">" .. change.new end,
    { immediate = true })
  obs.transaction({ t }, function() t.n = 2 obs.abort() end)
  eq(table.concat(log, " "), "1>2 2>1")
end)
check("S8: nested transactions are savepoints", function()
  local t = { a = 1, b = 1 }
  local calls = counter(t, "b")
  local ok = obs.transaction({ t }, function()
    t.a = 2
    local ok, reason = obs.transaction({ t }, function()
      t.b = 2
      obs.abort("inner")
    end)
    eq(ok, false)
    eq(reason, "inner")
    eq(t.b, 1)
  end)
  eq(ok, true)
  eq(t.a, 2)
  eq(calls(), 0)
  obs.transaction({ t }, function()
    obs.transaction({ t }, function() t.b = 3 end)
    t.a = 3
    obs.abort()
  end)
  eq(t.a, 2)
  eq(t.b, 1)
  eq(calls(), 0)
end)
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
check("S8: objects added below a root are covered, other objects are not", function()
  local t, guest, stranger = { list = {} }, { n = 1, deep = { n = 1 } }, { n = 1 }
  obs.transaction({ t }, function()
    guest.n = 2
    t.guest = guest
    guest.n = 3
    guest.deep.n = 3
    table.insert(t.list, stranger)
    stranger.n = 2
    obs.abort()
  end)
  eq(t.guest, nil)
  eq(#t.list, 0)
  eq(guest.n, 2)
  eq(guest.deep.n, 1)
  eq(stranger.n, 1)
end)
check("S8: shared objects and cycles are undone once", function()
  local t = { n = 1 }
  t.self, t.child = t, { parent = t }
  obs.transaction({ t, t.child }, function()
    t.child.parent, t.self, t.n = nil, nil, 2
    obs.abort()
  end)
  eq(t.self, t)
  eq(t.child.parent, t)
  eq(t.n, 1)
end)
check("S8: overrides are undone, values computed inside are invalid", function()
  local t = { n = 1 }
  obs.computed(t, "twice", { "n" }, function(self) return self.n * 2 end)
  local calls = counter(t, "twice")
  obs.transaction({ t }, function()
    t.n = 5
    eq(t.twice, 10)
    t.twice = 99
    obs.abort()
  end)
  eq(t.twice, 2)
  eq(calls(), 0)
end)
check("S8: watchers registered inside stay, and are not called for the undone writes", function()
  local t, calls = { n = 1 }, 0
  obs.transaction({ t }, function()
    obs.observe(t, "n", function() calls = calls + 1 end)
    t.n = 2
    obs.abort()
  end)
  obs.flush()
  eq(calls, 0)
  t.n = 2
  obs.flush()
  eq(calls, 1)
end)
check("S8: watchers registered inside know the restored state", function()
  local t, log = { n = 1, m = 1, list = obs.array { 1, 2 } }, {}
  local function note(text) return function() log[#log + 1] = text end end
  obs.computed(t, "twice", { "n" }, function(self) return self.n * 2 end)
  local history
  obs.transaction({ t }, function()
    t.n = 2
    t.list:append(3)
    obs.changes(t, function(_, changes)
      for _, change in ipairs(changes) do log[#log + 1] = table.concat(change.path, ".") end
    end)
    history = obs.history(t)
    obs.observe(t, { "twice", "list.@sum" }, note "values")
    obs.observe_edits(t.list, function(_, edits) log[#log + 1] = "edits " .. #edits end)
    obs.observe_keys(t, "n", note "keys")
    t.n = 3
    t.list:append(4)
    obs.abort()
  end)
  obs.flush()
  eq(table.concat(log, " "), "")
  eq(history.can_undo, false)
  t.m = 2
  obs.flush()
  eq(table.concat(log, " "), "m")
  history:undo()
  obs.flush()
  eq(t.n, 1)
  eq(t.m, 1)
  log = {}
  t.n = 2
  t.list:append(3)
  obs.flush()
  eq(table.concat(log, " "), "values edits 1 keys list.3 n")
end)
check("S8: an object below an outer root is restored when an inner transaction fails", function()
  local list, guest = {}, { n = 1 }
  obs.transaction({ list }, function()
    obs.transaction({ guest }, function()
      guest.n = 2
      list[1] = guest
      obs.abort()
    end)
    obs.abort()
  end)
  eq(guest.n, 1)
end)
check("S8: members of sets are below a root", function()
  local a, b = { n = 1 }, { n = 1 }
  local t = { set = obs.set_of { a } }
  obs.transaction({ t }, function()
    a.n = 2
    t.set:add(b)
    b.n = 2
    obs.abort()
  end)
  eq(a.n, 1)
  eq(b.n, 1)
  eq(t.set:contains(b), false)
end)
check("S8: a value under an object as key is not below a root", function()
  local before, came, key = { n = 1 }, { n = 1 }, {}
  local t = { [key] = before }
  obs.transaction({ t }, function()
    t[key] = came
    before.n, came.n = 2, 2
    obs.abort()
  end)
  eq(t[key], before)
  eq(before.n, 2)
  eq(came.n, 2)
end)
check("S8: an object added below a root in a batch is covered at once", function()
  local t, guest = {}, { n = 1 }
  obs.batch(function()
    obs.transaction({ t }, function()
      t.guest = guest
      guest.n = 2
      obs.abort()
    end)
  end)
  eq(guest.n, 1)
  obs.transaction({ t }, function()
    obs.batch(function()
      t.guest = guest
      guest.n = 2
    end)
    obs.abort()
  end)
  eq(guest.n, 1)
end)
check("S8: an object added below a root is covered before immediate watchers are called", function()
  local t, guest = {}, { n = 1 }
  obs.observe(t, "guest", function() if t.guest then t.guest.n = 2 end end, { immediate = true })
  obs.transaction({ t }, function()
    t.guest = guest
    obs.abort()
  end)
  eq(guest.n, 1)
end)
check("S8: writes of an immediate watcher during the undo are ordinary writes", function()
  local t, changes = { n = 1, count = 0 }, {}
  obs.observe(t, "n", function() t.count = t.count + 1 end, { immediate = true })
  local calls = counter(t, "count")
  obs.changes(t, function(_, found) changes = found end)
  obs.transaction({ t }, function()
    t.n = 2
    obs.abort()
  end)
  eq(t.count, 1)
  eq(calls(), 1)
  eq(#changes, 1)
  eq(changes[1].path[1], "count")
end)
check("S8: a value is restored exactly, not just an equal one", function()
  local t = { whole = 1, float = 1.0, zero = 0.0, list = { 1, 2 }, array = obs.array { 1 } }
  obs.transaction({ t }, function()
    t.whole, t.float, t.zero = 1.0, 1, -0.0
    t.list[1], t.array[1] = 1.0, 1.0
    table.insert(t.list, 3)
    obs.abort()
  end)
  eq(table.concat({ t.whole, t.float, t.zero, t.list[1], #t.list, t.array[1] }, " "),
    "1 1.0 0.0 1 2 1")
end)
check("S8: lists are restored past metamethods", function()
  local calls = 0
  local meta = {
    __newindex = function() calls = calls + 1 end, __len = function() error("no length", 0) end,
  }
  local t = { list = setmetatable({ 1, 2, 3 }, meta) }
  obs.transaction({ t }, function()
    for i = 2, 3 do rawset(t.list, i, nil) end
    obs.abort()
  end)
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
check("S8: an earlier override is restored", function()
  local t = { n = 1 }
  obs.computed(t, "twice", { "n" }, function(self) return self.n * 2 end)
  for _, body in ipairs {
    function() t.twice = 60 end, function() t.n = 5 end, function() obs.invalidate(t, "twice") end,
  } do
    t.twice = 50
    obs.transaction({ t }, function()
      body()
      obs.abort()
    end)
    eq(t.twice, 50)
    t.n = t.n + 1
    eq(t.twice, t.n * 2)
    t.n = t.n - 1
  end
end)
check("S8: a turn continues after a failed transaction", function()
  local t, found = { child = { n = 1 } }, nil
  obs.changes(t, function(_, changes) found = changes end)
  obs.transaction({ t }, function()
    t.m, t.child.n = 1, 2
    obs.abort()
  end)
  t.child.n = 3
  obs.flush()
  eq(#found, 1)
  eq(found[1].old, 1)
end)
check("S8: writes that an inner transaction has undone elsewhere are no changes, either", function()
  local t, found = { list = { 1 }, inner = {} }, {}
  obs.transaction({ t.inner }, function()
    t.inner.new = {}
    obs.changes(t, function(_, changes) found[#found + 1] = changes end)
    obs.transaction({ t }, function()
      t.list[1] = 2
      obs.abort()
    end)
    obs.abort()
  end)
  obs.flush()
  eq(#found, 0)
  t.list[1] = 3
  obs.flush()
  eq(#found, 1)
  eq(#found[1], 1)
end)
check("S8: opaque objects are leaves for immediate watchers during the undo", function()
  local opaque = obs.opaque { n = 1 }
  local t, found = { n = 1, opaque = opaque }, nil
  obs.observe(t, "n", function()
    found = obs.diff(t, { n = t.n, opaque = { n = 1 } })
  end, { immediate = true })
  obs.transaction({ t }, function()
    t.n = 2
    obs.abort()
  end)
  eq(#found, 2)
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
    obs.transaction({ object }, function()
      way[2](object, x, y)
      x.n, y.n = 0, 0
      obs.abort()
    end)
    eq(x.n, i)
    eq(y.n, i)
  end
end)
check("S8: an operation that moves objects adds none", function()
  local array = obs.array { { n = 2 }, { n = 1 } }
  local first = array[1]
  obs.transaction({ array }, function()
    array:sort(function(a, b) return a.n < b.n end)
    array:reverse()
    array:swap(1, 2)
    first.n = 7
    obs.abort()
  end)
  eq(first.n, 2)
  eq(array[1], first)
end)
check("S8: flush and waiting inside are errors", function()
  local ok, message = obs.transaction({ {} }, obs.flush)
  eq(ok, false)
  has(message, "obs.flush was called inside a transaction")
  fails("bad argument #1 to 'transaction' %(list of objects expected", obs.transaction, nil,
    nothing)
  fails("the list of objects is empty", obs.transaction, {}, nothing)
  fails("got one with a number", obs.transaction, { 1 }, nothing)
  fails("function expected", obs.transaction, { {} })
end)
check("S8: a finished transaction leaves nothing behind", function()
  local t = { n = 1, inner = {} }
  obs.transaction({ t }, function() t.n = 2 end)
  obs.transaction({ t }, function() t.n = 3 obs.abort() end)
  obs.flush()
  eq(obs.observer_count(t, "*"), 0)
  eq(obs.observer_count(t.inner, "*"), 0)
end)

-- Runs a check for unwatched objects, and for objects below a watcher of `**`.
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
local function aborted(t, f)
  obs.transaction({ t }, function()
    f()
    obs.abort()
  end)
end
watched_or_not("S8: equal numbers get their types and signs back", function(watch)
  local t = watch { array = obs.array { 1, 1.0 }, list = { 2.0, 2 }, zero = 0.0 }
  aborted(t, function()
    t.array:reverse()
    table.sort(t.list, function() return false end)
    table.move({ 2, 2.0 }, 1, 2, 1, t.list)
    t.zero = -0.0
  end)
  eq(math.type(t.array[1]) .. math.type(t.list[1]), "integerfloat")
  eq(1 / t.zero, math.huge)
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
check("S8: an object is covered though its holder becomes opaque in the same turn", function()
  local a, b = {}, { n = 0 }
  obs.observe(a, "**", nothing)
  a.b = b
  obs.opaque(a)
  aborted(a, function() b.n = 1 end)
  eq(b.n, 0)
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
check("S8: an immediate watcher of ** hears objects added inside", function()
  local t, guest = {}, { n = 1 }
  local calls = 0
  obs.observe(t, "**", function() calls = calls + 1 end, { immediate = true })
  obs.transaction({ t }, function()
    t.guest = guest
    guest.n = 2
  end)
  guest.n = 3
  eq(calls, 3)
end)
check("S8: a watcher of ** made inside hears nothing after the undo", function()
  local a, b, guest = {}, {}, {}
  local root, calls = { a, b }, 0
  aborted(root, function()
    aborted(a, function()
      a.x = guest
      obs.observe(root, "**", function() calls = calls + 1 end)
      aborted(b, function() b.y = {} end)
    end)
    obs.transaction({ root }, nothing)
  end)
  obs.flush()
  eq(calls, 0)
end)
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

finish()
