-- C1, C12: `*` and the size.
return {
  {"C1", "calls `*` once for all changes of a turn to the list", function(A, t)
    local list = t.list "a b c"
    local n = t.watch(list, "*")
    A.append(list, A.new {name = "d"})
    A.remove(list, 1)
    A.swap(list, 1, 2)
    t.eq(n(), 1)
    t.eq(n(), 0)
  end},
  {"C1", "calls `*` for each kind of change", function(A, t)
    local list, objects = t.list "c a b"
    local n = t.watch(list, "*")
    A.sort(list, t.by_name)
    t.eq(n(), 1)
    A.reverse(list)
    t.eq(n(), 1)
    A.move(list, 1, 2)
    t.eq(n(), 1)
    A.swap(list, 1, 3)
    t.eq(n(), 1)
    A.replace(list, 2, A.new {name = "x"})
    t.eq(n(), 1)
    A.insert(list, 1, A.new {name = "y"})
    t.eq(n(), 1)
    A.remove(list)
    t.eq(n(), 1)
    A.set(list, objects)
    t.eq(n(), 1)
    A.clear(list)
    t.eq(n(), 1)
  end},
  {"T5", "is silent if nothing changed", function(A, t)
    local list, objects = t.list "a b c"
    local n, size = t.watch(list, "*"), t.watch(list, A.size_name)
    A.sort(list, t.by_name)
    A.replace(list, 2, objects[2])
    A.set(list, objects)
    A.swap(list, 1, 1)
    A.move(list, 2, 2)
    A.set(list, {objects[1], objects[2], objects[3]})
    t.eq(n() + size(), 0)
    A.clear(list)
    t.eq(n(), 1)
    A.clear(list)
    A.reverse(list)
    A.sort(list, t.by_name)
    A.set(list, {})
    t.eq(n(), 0)
  end},
  {"C1", "does not count a property of an element as a change of the list", function(A, t)
    local list, objects = t.list "a b"
    local n, size = t.watch(list, "*"), t.watch(list, A.size_name)
    objects[1].name = "x"
    t.eq(n() + size(), 0)
  end},
  {"C1", "calls watchers of the size only if it has changed", function(A, t)
    local list = t.list "a b"
    local n = t.watch(list, A.size_name)
    A.append(list, A.new {name = "c"})
    t.eq(n(), 1)
    A.replace(list, 1, A.new {name = "x"})
    A.reverse(list)
    t.eq(n(), 0)
    A.insert(list, 1, A.remove(list, 2))
    t.eq(n(), 0)
    A.clear(list)
    t.eq(n(), 1)
  end},
  {"C12",
    "calls watchers of the size when the list is replaced by one of equal length", function(A, t)
    local order = A.new {name = "order"}
    order.items = t.list "a b"
    local n = t.watch(order, "items." .. A.size_name)
    order.items = t.list "c d"
    t.eq(n(), 1)
    A.append(order.items, A.new {name = "e"})
    t.eq(n(), 1)
    order.items = nil
    t.eq(n(), 1)
  end},
  {"C12", "moves the wiring of `*` to the list that replaces the list", function(A, t)
    local order = A.new {name = "order"}
    local old = t.list "a b"
    order.items = old
    local n = t.watch(order, "items.*")
    order.items = t.list "a b"
    t.eq(n(), 1)
    A.append(old, A.new {name = "c"})
    t.eq(n(), 0)
    A.append(order.items, A.new {name = "c"})
    t.eq(n(), 1)
  end},
  {"T9", "calls immediate watchers once per operation", function(A, t)
    local list = t.list "a b c"
    local calls = 0
    A.observe(list, {"*", "#1", "#3"}, function() calls = calls + 1 end, {immediate = true})
    A.insert(list, 1, A.new {name = "x"})
    t.eq(calls, 1)
    A.remove(list, 1)
    t.eq(calls, 2)
    A.replace(list, 3, A.new {name = "z"})
    t.eq(calls, 3)
    A.sort(list, function(a, b) return a.name > b.name end)
    t.eq(calls, 4)
    A.append(list, A.new {name = "e"})
    t.eq(calls, 5)
  end},
  {"T9", "calls immediate watchers of typed lists once per operation", function(A, t)
    local list, objects = t.list "a b c d"
    local calls = 0
    A.observe(list, {"*", "#1", "#4"}, function() calls = calls + 1 end, {immediate = true})
    A.reverse(list)
    t.eq(calls, 1)
    A.move(list, 1, 4)
    t.eq(calls, 2)
    A.swap(list, 1, 4)
    t.eq(calls, 3)
    A.set(list, {objects[2], objects[1]})
    t.eq(calls, 4)
    A.clear(list)
    t.eq(calls, 5)
    A.clear(list)
    t.eq(calls, 5)
  end, only = "is_typed"},
  {"T9", "calls immediate watchers at the end of a batch", function(A, t)
    local list = t.list "a b"
    local calls = 0
    A.observe(list, "*", function() calls = calls + 1 end, {immediate = true})
    A.batch(function()
      A.append(list, A.new {name = "c"})
      A.remove(list, 1)
      t.eq(calls, 0)
    end)
    t.eq(calls, 1)
  end},
}
