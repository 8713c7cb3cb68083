-- Rules X2 and X3 for copies that stay equal in both directions, as a script sees them.
local obs = require "obs"
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
dofile(folder .. "Support/watching.lua")

-- A tree whose watcher skips changes of "x", and the watcher.
function skipping(t) return t, changes_of(t, { skip = "x" }) end

-- Keys --------------------------------------------------------------------------------------------

story("X2: changes of a skipped origin are left out, other writes are delivered", [[
  local t = skipping { a = 1, b = { c = 1 } }
  obs.apply(t, { set({ "b", "c" }, 1, 2) }, { origin = "x" })  --> 0
  obs.apply(t, { set({ "b", "c" }, 2, 3) }, { origin = "y" })  --> set b.c 2>3, from {"y"}
  obs.apply(t, { set({ "b", "c" }, 3, 4) })                    --> set b.c 3>4
]])
story("X2: the last write of a key decides whether it is left out", [[
  local t = skipping { a = 1, b = 1 }
  obs.apply(t, { set({ "a" }, 1, 2) }, { origin = "x" })
  t.a = 3
  t.b = 2
  obs.apply(t, { set({ "b" }, 2, 3) }, { origin = "x" })  --> set a 2>3
]])
story("X2: a local write that turns back a write of the origin is delivered", [[
  local t = skipping { a = 1 }
  obs.apply(t, { set({ "a" }, 1, 2) }, { origin = "x" })
  t.a = 1  --> set a 2>1
]])
story("X2: writes of false by an origin are left out, too", [[
  local t = { a = false, list = { false, 1 } }
  changes_of(t, { skip = false })
  obs.apply(t, { set({ "a" }, false, true), set({ "list", 1 }, false, 2) }, { origin = false })
  t.list[2] = 3  --> set list.2 1>3
]])

-- Lists and sets ----------------------------------------------------------------------------------

story("X2: edits of a list by an origin are left out, local edits are delivered", [[
  for _, list in ipairs { { "a", "b", "c" }, obs.array { "a", "b", "c" } } do
    local t = { list = list }
    local watcher = changes_of(t, { skip = "x" })
    obs.apply(t, {
      { path = { "list", 1 }, kind = "insert", new = "x" },
      { path = { "list", 4 }, kind = "remove", old = "c" },
      { path = { "list", 2 }, kind = "move", from = 3 },
    }, { origin = "x" })
    eq(text(watcher:snapshot()), '{list={"x" "b" "a"}}')
    table.insert(list, 3, "local")  --> insert list.3 "local"
    eq(table.concat({ table.unpack(list) }, " "), "x b local a")
  end
]])
story("X2: local edits of a list have the positions of the origin's list", [[
  for _, list in ipairs { { "a", "b" }, obs.array { "a", "b" } } do
    local t = { list = list }
    local watcher = changes_of(t, { skip = "x" })
    table.insert(list, 1, "local")
    obs.apply(t, {
      { path = { "list", 3 }, kind = "insert", new = "x" },
      { path = { "list", 2 }, kind = "remove", old = "a" },
    }, { origin = "x" })
    eq(text(watcher:snapshot()), '{list={"x" "b"}}')          --> insert list.1 "local"
    table.remove(list, 2)
    obs.apply(t, { set({ "list", 1 }, "local", "other") }, { origin = "x" })
    eq(text(watcher:snapshot()), '{list={"other" "x" "b"}}')  --> remove list.2 "x"
  end
]])
story("X2: a local element that an origin replaces is left out", [[
  for _, list in ipairs { { "a", "b" }, obs.array { "a", "b" } } do
    local t = { list = list }
    local watcher = changes_of(t, { skip = "x" })
    list[2] = "c"
    list[3] = "new"
    obs.apply(t, { set({ "list", 3 }, "new", "newer") }, { origin = "x" })
    eq(text(watcher:snapshot()), '{list={"a" "b" "newer"}}')  --> set list.2 "b">"c"
  end
]])
story("X2: members of sets that an origin inserts or removes are left out", [[
  local t = skipping { tags = obs.set_of { "a", "b" } }
  obs.apply(t, {
    { path = { "tags" }, kind = "insert", new = "x" },
    { path = { "tags" }, kind = "remove", old = "a" },
  }, { origin = "x" })
  t.tags:add "local"
  t.tags:remove "b"  --> remove tags "b", insert tags "local"
  t.tags:add "a"
  obs.apply(t, { { path = { "tags" }, kind = "remove", old = "a" } }, { origin = "x" })  --> 0
]])

-- Objects -----------------------------------------------------------------------------------------

story("X2: a local write to an object from an origin is a separate change", [[
  local t = skipping {}
  obs.apply(t, { set({ "o" }, nil, { n = 1, list = { { m = 1 } } }) }, { origin = "x" })
  t.o.n = 2
  t.o.list[1].m = 2  --> set o.list.1.m 1>2, set o.n 1>2
  t.o.list[1].m = 3  --> set o.list.1.m 2>3
]])
story("X2: a new local object that an origin changes is delivered whole", [[
  local t = skipping {}
  t.o = { n = 1, list = {} }
  obs.apply(t, {
    set({ "o", "n" }, 1, 2), { path = { "o", "list", 1 }, kind = "insert", new = "x" },
  }, { origin = "x" })  --> set o nil>{list={"x"} n=2}
]])
story("X2: a local write may move or remove an object from an origin", [[
  local t = skipping { list = {} }
  obs.apply(t, { set({ "o" }, nil, { n = 1 }) }, { origin = "x" })
  t.list[1], t.o = t.o, nil  --> insert list.1 @o, set o @@list.1>nil
  obs.apply(t, { set({ "o" }, nil, { n = 1 }) }, { origin = "x" })
  t.o = nil                  --> set o {n=1}>nil
]])
story("X2: references in changes of an origin lead to objects of the receiver", [[
  local t, watcher = skipping { a = { n = 1 }, b = { n = 2 } }
  obs.apply(t, {
    { path = { "a" }, kind = "set", old_ref = { "a" }, ref = { "b" } },
    { path = { "b" }, kind = "set", old_ref = { "b" }, ref = { "a" } },
    { path = { "c" }, kind = "set", ref = { after = { "a" } } },
  }, { origin = "x" })
  local snapshot = watcher:snapshot()
  eq(text(snapshot), "{a={n=2} b={n=1} c={n=2}}")
  eq(snapshot.a == snapshot.c, true)
  t.c.n = 3  --> set a.n 2>3
]])
story("X2: instances and collections of an origin are known to the receiver", [[
  local Point = obs.model("OriginPoint", { x = 0, link = obs.none })
  local t, watcher = skipping {}
  obs.apply(t, {
    { path = { "p" }, kind = "set", new = { x = 1 }, model = "OriginPoint" },
    { path = { "p", "link" }, kind = "set", new = { 1, 2 }, type = "array" },
    { path = { "s" }, kind = "set", new = { "m" }, type = "set" },
    { path = { "d" }, kind = "set", new = { k = 1 }, type = "dictionary" },
  }, { origin = "x" })
  eq(getmetatable(t.p) == Point, true)
  eq(text(watcher:snapshot()), '{d={k=1} p={link={1 2} x=1} s={"m"}}')
  t.p.link:insert(3, 3)
  t.s:add "n"  --> insert p.link.3 3, insert s "n"
]])
story("X3: changes can be applied to an object above or below the watched object", [[
  local t = { inner = { list = { "a" } }, other = 1 }
  changes_of(t.inner, { skip = "x" })
  obs.apply(t, {
    { path = { "inner", "list", 2 }, kind = "insert", new = "b" }, set({ "other" }, 1, 2),
  }, { origin = "x" })
  obs.apply(t.inner.list, { { path = { 3 }, kind = "insert", new = "c" } }, { origin = "x" })
  table.insert(t.inner.list, "d")  --> insert list.4 "d"
]])

-- Changes that do not fit -------------------------------------------------------------------------

story("X3: if changes are skipped, other writes to their keys are still delivered", [[
  local t = skipping { a = 1, o = { n = 1 } }
  t.a = 2
  t.o = nil
  eq(obs.apply(t, { set({ "o", "n" }, 1, 2), set({ "a" }, 1, 3), set({ "b" }, nil, 1) },
    { origin = "x", force = true }), 2)  --> set a 1>2, set o {n=1}>nil
]])
story("X3: an apply that fails leaves no trace", [[
  local t = skipping { a = 1, b = 1 }
  fails("change 2 .*does not fit", function()
    obs.apply(t, { set({ "a" }, 1, 2), set({ "b" }, 5, 6) }, { origin = "x" })
  end)
  t.a = 3  --> set a 1>3
]])
-- Deliveries --------------------------------------------------------------------------------------

check("X2: origins are distinct, in the order of their first writes", function()
  local key = {}
  local t, other = { a = 1, b = { c = 1 } }, { a = 1 }
  local found
  obs.changes(t, function(_, _, _, delivery) found = delivery.origins end, { skip = 7 })
  obs.apply(t, { set({ "b", "c" }, 1, 2) }, { origin = key })
  obs.apply(t, { set({ "a" }, 1, 2) }, { origin = 7 })
  obs.apply(t, { set({ "b", "c" }, 2, 3) }, { origin = key })
  obs.apply(t, {}, { origin = "nothing written" })
  obs.apply(t, { set({ "a" }, 2, 2) }, { origin = "the same" })
  obs.apply(other, { set({ "a" }, 1, 2) }, { origin = "elsewhere" })
  obs.apply(t, { set({ "a" }, 2, 3) }, { origin = 7.0 })
  obs.flush()
  eq(#found, 1)
  eq(rawequal(found[1], key), true)
  t.a = 9
  obs.flush()
  eq(#found, 0)
end)
turns("X2: a delivery has the number of its turn", function()
  local t, numbers = { a = 1 }, {}
  local watcher = obs.changes(t, function(_, _, _, delivery)
    numbers[#numbers + 1] = delivery.turn
  end)
  local before = obs.stats().turns
  t.a = 2
  turn()
  eq(numbers[1], before + 1)
  t.a = 3
  turn()
  eq(numbers[2], obs.stats().turns)
  watcher:stop()
end)
story("X2: writes of an immediate watcher have no origin", [[
  local t = { a = 1, log = 0 }
  obs.observe(t, "a", function() t.log = t.a end, { immediate = true })
  changes_of(t, { skip = "x" })
  obs.apply(t, { set({ "a" }, 1, 2) }, { origin = "x" })  --> set log 0>2
]])
story("X3: code that runs in an apply writes for its origin", [[
  local t = { a = 1, b = 1, c = 1, d = { e = 1 } }
  obs.observe(t, "a", function() end, {
    equals = function()
      obs.apply(t, { set({ "b" }, 1, 2) }, { origin = "y", force = true })
      t.c, t.d.e = 2, 2
      return false
    end,
  })
  local watcher = changes_of(t, { skip = "x" })
  obs.apply(t, { set({ "a" }, 1, 2) }, { origin = "x" })
  eq(text(watcher:snapshot()), "{a=2 b=2 c=2 d={e=2}}")
  t.d.e = 3  --> set d.e 2>3
]])
story("X2: skip works with path, site and once", [[
  local t = { items = { { n = 1 } }, other = 1 }
  local watcher = changes_of(t, { skip = "x", path = "items.**" })
  obs.apply(t, { set({ "other" }, 1, 2), set({ "items", 1, "n" }, 1, 2) }, { origin = "x" })
  eq(text(watcher:snapshot()), "{items={{n=2}} other=2}")
  t.other = 3             --> 0
  obs.apply(t, { set({ "items", 1, "n" }, 2, 3) }, { origin = "x" })
  t.items[2] = { n = 1 }  --> insert items.2 {n=1}
  watcher:stop()
  local calls = 0
  watcher = obs.changes(t, function() calls = calls + 1 end, { skip = "x", once = true })
  obs.apply(t, { set({ "other" }, 3, 4) }, { origin = "x" })
  obs.flush()
  eq(calls, 0)
  t.other = 5
  obs.flush()
  eq(calls, 1)
  eq(watcher.active, false)
]])
story("X2: a paused watcher leaves out what an origin wrote while it was paused", [[
  local t, watcher = skipping { a = 1, b = 1 }
  watcher:pause()
  obs.apply(t, { set({ "a" }, 1, 2) }, { origin = "x" })
  t.b = 2           --> 0
  obs.apply(t, { set({ "a" }, 2, 3), set({ "b" }, 2, 3) }, { origin = "x" })
  watcher:resume()  --> 0
]])

-- Transactions ------------------------------------------------------------------------------------

story("S8: an apply with an origin in a transaction that fails leaves no trace", [[
  local t, watcher = skipping { a = 1, list = { 1, 2 }, o = { n = 1 } }
  t.list[3] = 3
  obs.transaction({ t }, function()
    obs.apply(t, {
      set({ "a" }, 1, 2), { path = { "list", 1 }, kind = "insert", new = 0 },
      set({ "o" }, { n = 1 }, nil), set({ "p" }, nil, { q = {} }),
    }, { origin = "x" })
    t.p.q.r = 1
    obs.apply(t, { set({ "a" }, 2, 3), set({ "p", "q", "r" }, 1, 2) }, { origin = "x" })
    eq(text(watcher:snapshot()), "{a=3 list={0 1 2} p={q={r=2}}}")
    obs.abort()
  end)
  eq(text(watcher:snapshot()), "{a=1 list={1 2} o={n=1}}")  --> insert list.3 3
  t.o.n = 2                                                 --> set o.n 1>2
]])
story("S8: a savepoint undoes only its own applies", [[
  local t, watcher = skipping { a = 1, b = 1, c = 1 }
  obs.transaction({ t }, function()
    obs.apply(t, { set({ "a" }, 1, 2) }, { origin = "x" })
    obs.transaction({ t }, function()
      obs.apply(t, { set({ "a" }, 2, 3), set({ "b" }, 1, 2) }, { origin = "x" })
      obs.abort()
    end)
    obs.apply(t, { set({ "c" }, 1, 2) }, { origin = "x" })
  end)
  eq(text(watcher:snapshot()), "{a=2 b=1 c=2}")
  obs.transaction({ t }, function()
    obs.transaction({ t }, function()
      obs.apply(t, { set({ "b" }, 1, 2) }, { origin = "x" })
    end)
    obs.abort()
  end)
  eq(text(watcher:snapshot()), "{a=2 b=1 c=2}")
  t.b = 3  --> set b 1>3
]])
story("S8: an apply outside the roots of a transaction that fails keeps its origin", [[
  local t, watcher = skipping { a = 1, b = { n = 1 } }
  obs.transaction({ t.b }, function()
    obs.apply(t, { set({ "a" }, 1, 2), set({ "b", "n" }, 1, 2) }, { origin = "x" })
    obs.abort()
  end)
  eq(text(watcher:snapshot()), "{a=2 b={n=1}}")  --> 0
  eq(t.a, 2)
]])

story("S8: an origin that a transaction undoes is not listed after another one", [[
  local t = { a = 1, b = 1 }
  changes_of(t)
  obs.transaction({ t }, function()
    obs.transaction({ t }, function()
      obs.apply(t, { set({ "a" }, 1, 2) }, { origin = "x" })
      obs.abort()
    end)
    obs.apply(t, { set({ "a" }, 1, 3) }, { origin = "y" })
    obs.abort()
  end)
  t.b = 2  --> set b 1>2
]])

-- Snapshots ---------------------------------------------------------------------------------------

check("X2: a snapshot is the state that the next delivery continues", function()
  local t = { a = 1, list = { { n = 1 } } }
  t.shared, t.cycle = t.list[1], t
  local delivered
  local watcher = obs.changes(t, function(_, changes) delivered = changes end)
  t.list[1].n = 2
  t.list[2], t.shared = { n = 5 }, nil
  local snapshot = watcher:snapshot()
  eq(snapshot.shared == snapshot.list[1], true)
  eq(snapshot.cycle == snapshot, true)
  eq(snapshot.list[1].n, 1)
  obs.flush()
  obs.apply(snapshot, delivered)
  eq(#obs.diff(snapshot, t), 0)
  eq(#obs.diff(watcher:snapshot(), t), 0)
end)
check("X2: a snapshot has opaque tables and objects in sets themselves, not copies", function()
  local leaf, member = obs.opaque { n = 1 }, { m = 1 }
  local t = { leaf = leaf, set = obs.set_of { member }, history = 1 }
  t.history = obs.history(t)
  local watcher = changes_of(t)
  local snapshot = watcher:snapshot()
  eq(rawequal(snapshot.leaf, leaf), true)
  eq(rawequal(snapshot.set[1], member), true)
  eq(snapshot.history, nil)
  snapshot.set[2] = "more"
  eq(text(watcher:snapshot().set[2]), "nil")
end)
check("X2: only watchers of changes that have not ended have snapshots", function()
  local t = { a = 1 }
  local watcher = changes_of(t)
  watcher:stop()
  fails("Watcher:snapshot was called on a watcher that has ended",
    function() watcher:snapshot() end)
  fails("obs%.raw%(t%)", function() obs.observe(t, "a", print):snapshot() end)
  fails("watcher of obs.changes expected, got nothing", function() watcher.snapshot() end)
end)

-- Options -----------------------------------------------------------------------------------------

check("X3: origin and skip take any value but NaN", function()
  local t = { a = 1 }
  local nan = 0 / 0
  fails("option 'origin' takes any value except NaN", obs.apply, t, {}, { origin = nan })
  fails("option 'skip' takes any value except NaN", obs.changes, t, print, { skip = nan })
  fails("did you mean 'origin'", function() obs.apply(t, {}, { orign = 1 }) end)
  fails("did you mean 'skip'", function() obs.changes(t, print, { skp = 1 }) end)
  fails("unknown option 'skip'", function() obs.observe(t, "a", print, { skip = 1 }) end)
  obs.changes(t, print, { skip = nil }):stop()
  eq(obs.apply(t, { set({ "a" }, 1, 2) }, { origin = nil }), 0)
end)
story("X2: origins are compared as keys of a table are", [[
  local t = { a = 1 }
  local watcher = changes_of(t, { skip = 1 })
  obs.apply(t, { set({ "a" }, 1, 2) }, { origin = 1.0 })  --> 0
  obs.apply(t, { set({ "a" }, 2, 3) }, { origin = "1" })  --> set a 2>3, from {"1"}
  watcher:stop()
  local key = setmetatable({}, { __eq = function() return true end })
  changes_of(t, { skip = key })
  obs.apply(t, { set({ "a" }, 3, 4) }, { origin = setmetatable({}, getmetatable(key)) })
  --> set a 3>4, from {{}}
]])

-- Lifetime ----------------------------------------------------------------------------------------

check("L1: an ended watcher keeps no tree alive, and an origin keeps no watcher alive", function()
  local probe = setmetatable({}, { __mode = "k" })
  do
    local t, origin = { a = 1 }, {}
    probe[t], probe[origin] = "tree", "origin"
    local watcher = obs.changes(t, function() end, { skip = origin })
    obs.apply(t, { set({ "a" }, 1, 2) }, { origin = origin })
    obs.flush()
    watcher:stop()
  end
  obs.flush()
  for _ = 1, 4 do collectgarbage() end
  eq(next(probe), nil)
end)

finish()
