-- C4: digits follow the object.
local obs = require "obs"

return {
  {"C4", "calls once when the object leaves, and then the path has ended", function(A, t)
    local list = t.list "a b c"
    local n, w = t.watch(list, "2")
    A.remove(list, 2)
    t.eq(n(), 1)
    t.eq(w.active, false)
    A.insert(list, 2, A.new {name = "x"})
    A.clear(list)
    t.eq(n(), 0)
  end},
  {"C4", "does not call for insertions and removals elsewhere", function(A, t)
    local list = t.list "a b c"
    local n, w = t.watch(list, "2")
    A.insert(list, 1, A.new {name = "x"})
    t.eq(n(), 0)
    A.append(list, A.new {name = "y"})
    A.remove(list, 1)
    t.eq(n(), 0)
    A.remove(list, 1)
    A.replace(list, 2, A.new {name = "z"})
    t.eq(n(), 0)
    t.eq(t.names(list), "b z y")
    t.eq(w.active, true)
    A.remove(list, 1)
    t.eq(n(), 1)
  end},
  {"C4", "rejects digits beyond the end", function(A, t)
    local list = t.list "a b"
    t.fails("'#%d'", A.observe, list, "3", function() end)
  end},
  {"C4", "counts an object as present until its last occurrence has left", function(A, t)
    local a, b = A.new {name = "a"}, A.new {name = "b"}
    local list = A.list {a, b, a}
    local n, w = t.watch(list, "1")
    A.remove(list, 1)
    t.eq(n(), 0)
    A.remove(list, 2)
    t.eq(n(), 1)
    t.eq(w.active, false)
  end},
  {"C4", "does not count sort, reverse, swap and move as leaving", function(A, t)
    local list = t.list "c b a"
    local n, w = t.watch(list, "1")
    A.sort(list, t.by_name)
    t.eq(n(), 0)
    A.reverse(list)
    t.eq(n(), 0)
    A.swap(list, 1, 2)
    t.eq(n(), 0)
    A.move(list, 2, 3)
    t.eq(n(), 0)
    t.eq(t.names(list), "b a c")
    t.eq(w.active, true)
  end},
  {"C4", "does not call for an object that was put back within the turn", function(A, t)
    local list = t.list "a b"
    local n, w = t.watch(list, "1")
    local a = A.remove(list, 1)
    A.append(list, a)
    t.eq(n(), 0)
    A.clear(list)
    A.append(list, a)
    t.eq(n(), 0)
    t.eq(w.active, true)
  end},
  {"C4", "counts a replacement, `clear` and `set` without the object as leaving", function(A, t)
    local list, objects = t.list "a b c"
    local first, second, third = t.watch(list, "1"), t.watch(list, "2"), t.watch(list, "3")
    A.replace(list, 1, A.new {name = "x"})
    t.eq(first(), 1)
    A.set(list, {objects[3]})
    t.eq(second(), 1)
    t.eq(third(), 0)
    A.clear(list)
    t.eq(third(), 1)
  end},
  {"C4", "does not restore the path when the object returns", function(A, t)
    local list, objects = t.list "a b"
    local n, w = t.watch(list, {"1", "#3"})
    A.remove(list, 1)
    t.eq(n(), 1)
    A.insert(list, 1, objects[1])
    t.eq(n(), 0)
    A.remove(list, 1)
    t.eq(n(), 0)
    -- The watcher's other path stayed.
    A.append(list, A.new {name = "x"}, A.new {name = "y"})
    t.eq(n(), 1)
    t.eq(w.active, true)
  end},
  {"C4", "hears behind digits the object, wherever it moved", function(A, t)
    local list, objects = t.list "a b"
    local n, w = t.watch(list, "2.name")
    objects[2].name = "bb"
    t.eq(n(), 1)
    A.insert(list, 1, A.new {name = "x"})
    t.eq(n(), 0)
    objects[2].name = "b"
    t.eq(n(), 1)
    objects[1].name = "aa"
    t.eq(n(), 0)
    A.remove(list, 3)
    t.eq(n(), 1)
    t.eq(w.active, false)
    objects[2].name = "c"
    t.eq(n(), 0)
  end},
  {"C4", "anchors on n of a list that replaces the list", function(A, t)
    local order = A.new {name = "order"}
    order.items = t.list "a b"
    local n, w = t.watch(order, "items.2.name")
    local old = A.get(order.items, 2)
    order.items = t.list "c d e"
    t.eq(n(), 1)
    old.name = "x"
    t.eq(n(), 0)
    local d = A.get(order.items, 2)
    A.insert(order.items, 1, A.new {name = "y"})
    t.eq(n(), 0)
    d.name = "dd"
    t.eq(n(), 1)
    t.eq(w.active, true)
  end},
  {"C4", "is silent until the next replacement if nothing is at n", function(A, t)
    local order = A.new {name = "order"}
    local n = t.watch(order, "items.2.name")
    order.items = t.list "a"
    t.eq(n(), 1)
    A.append(order.items, A.new {name = "b"})
    t.eq(n(), 0)
    A.get(order.items, 2).name = "c"
    t.eq(n(), 0)
    order.items = t.list "p q"
    t.eq(n(), 1)
    A.get(order.items, 2).name = "x"
    t.eq(n(), 1)
  end},
  {"C4", "is stopped by the digits it was registered with", function(A, t)
    local list, objects = t.list "a b"
    local n, w = t.watch(list, "1")
    A.insert(list, 1, A.new {name = "x"})
    obs.flush()
    t.eq(A.stop(list, "2"), 0)
    t.eq(A.stop(list, "1"), 1)
    t.eq(w.active, false)
    A.clear(list)
    t.eq(n(), 0)
  end},
}
