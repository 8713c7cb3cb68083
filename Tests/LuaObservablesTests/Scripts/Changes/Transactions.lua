-- Rule S8, as a script sees it.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

check("S8: what fails is taken back, what does not stays", function()
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
check("S8: watchers are not told of what never happened", function()
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
check("S8: a call that was pending before stays pending, as one for another write does", function()
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
check("S8: immediate watchers are told of the way back", function()
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
check("S8: who catches an abort cannot save the transaction", function()
  local t = { n = 1 }
  local ok, reason = obs.transaction({ t }, function()
    t.n = 2
    pcall(obs.abort, "gone")
    return "saved"
  end)
  eq(ok, false)
  eq(reason, "gone")
  eq(t.n, 1)
  fails("obs.abort was called outside of a transaction", obs.abort)
end)
check("S8: what comes below a root is covered, what is elsewhere stays", function()
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
check("S8: shared objects and cycles are taken back once", function()
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
check("S8: watchers registered inside stay, and hear nothing of it", function()
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
check("S8: nothing is left of a transaction that is over", function()
  local t = { n = 1, inner = {} }
  obs.transaction({ t }, function() t.n = 2 end)
  obs.transaction({ t }, function() t.n = 3 obs.abort() end)
  obs.flush()
  eq(obs.observer_count(t, "*"), 0)
  eq(obs.observer_count(t.inner, "*"), 0)
end)

finish()
