-- C4: digits follow the object.
return {
  {"C4", "calls once when the object leaves, and then the path has ended", [[
    local list = t.list "a b c"
    local w = watch(list, "2")
    A.remove(list, 2)  --> 1
    t.eq(w.active, false)
    A.insert(list, 2, A.new {name = "x"})
    A.clear(list)      --> 0
  ]]},
  {"C4", "does not call for insertions and removals elsewhere", [[
    local list = t.list "a b c"
    local w = watch(list, "2")
    A.insert(list, 1, A.new {name = "x"})   --> 0
    A.append(list, A.new {name = "y"})
    A.remove(list, 1)                       --> 0
    A.remove(list, 1)
    A.replace(list, 2, A.new {name = "z"})  --> 0
    t.eq(t.names(list), "b z y")
    t.eq(w.active, true)
    A.remove(list, 1)                       --> 1
  ]]},
  {"C4", "rejects digits beyond the end", function(A, t)
    local list = t.list "a b"
    t.fails("'#%d'", A.observe, list, "3", function() end)
  end},
  {"C4", "counts an object as present until its last occurrence has left", [[
    local a, b = A.new {name = "a"}, A.new {name = "b"}
    local list = A.list {a, b, a}
    local w = watch(list, "1")
    A.remove(list, 1)  --> 0
    A.remove(list, 2)  --> 1
    t.eq(w.active, false)
  ]]},
  {"C4", "does not count sort, reverse, swap and move as leaving", [[
    local list = t.list "c b a"
    local w = watch(list, "1")
    A.sort(list, t.by_name)  --> 0
    A.reverse(list)          --> 0
    A.swap(list, 1, 2)       --> 0
    A.move(list, 2, 3)       --> 0
    t.eq(t.names(list), "b a c")
    t.eq(w.active, true)
  ]]},
  {"C4", "does not call for an object that was put back within the turn", [[
    local list = t.list "a b"
    local w = watch(list, "1")
    local a = A.remove(list, 1)
    A.append(list, a)  --> 0
    A.clear(list)
    A.append(list, a)  --> 0
    t.eq(w.active, true)
  ]]},
  {"C4", "counts a replacement, `clear` and `set` without the object as leaving", [[
    local list, objects = t.list "a b c"
    for i, name in ipairs {"a", "b", "c"} do
      A.observe(list, tostring(i), function() note(name) end)
    end
    A.replace(list, 1, A.new {name = "x"})  --> a
    A.set(list, {objects[3]})               --> b
    A.clear(list)                           --> c
  ]]},
  {"C4", "does not restore the path when the object returns", [[
    local list, objects = t.list "a b"
    local w = watch(list, {"1", "#3"})
    A.remove(list, 1)                                       --> 1
    A.insert(list, 1, objects[1])                           --> 0
    A.remove(list, 1)                                       --> 0
    -- The watcher's other path stayed.
    A.append(list, A.new {name = "x"}, A.new {name = "y"})  --> 1
    t.eq(w.active, true)
  ]]},
  {"C4", "hears behind digits the object, wherever it moved", [[
    local list, objects = t.list "a b"
    local w = watch(list, "2.name")
    objects[2].name = "bb"                 --> 1
    A.insert(list, 1, A.new {name = "x"})  --> 0
    objects[2].name = "b"                  --> 1
    objects[1].name = "aa"                 --> 0
    A.remove(list, 3)                      --> 1
    t.eq(w.active, false)
    objects[2].name = "c"                  --> 0
  ]]},
  {"C4", "anchors on n of a list that replaces the list", [[
    local order = A.new {name = "order"}
    order.items = t.list "a b"
    local w = watch(order, "items.2.name")
    local old = A.get(order.items, 2)
    order.items = t.list "c d e"                  --> 1
    old.name = "x"                                --> 0
    local d = A.get(order.items, 2)
    A.insert(order.items, 1, A.new {name = "y"})  --> 0
    d.name = "dd"                                 --> 1
    t.eq(w.active, true)
  ]]},
  {"C4", "is silent until the next replacement if nothing is at n", [[
    local order = A.new {name = "order"}
    watch(order, "items.2.name")
    order.items = t.list "a"                   --> 1
    A.append(order.items, A.new {name = "b"})  --> 0
    A.get(order.items, 2).name = "c"           --> 0
    order.items = t.list "p q"                 --> 1
    A.get(order.items, 2).name = "x"           --> 1
  ]]},
  {"C4", "is stopped by the digits it was registered with", [[
    local list = t.list "a b"
    local w = watch(list, "1")
    A.insert(list, 1, A.new {name = "x"})  --> 0
    t.eq(A.stop(list, "2"), 0)
    t.eq(A.stop(list, "1"), 1)
    t.eq(w.active, false)
    A.clear(list)                          --> 0
  ]]},
}
