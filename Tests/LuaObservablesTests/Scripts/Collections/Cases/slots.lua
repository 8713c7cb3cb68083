-- C3: `#n` follows the slot.
local obs = require "obs"

return {
  {"C3", "calls `#n` when another object moves into the slot", function(A, t)
    local list = t.list "a b c"
    local n = t.watch(list, "#2")
    A.replace(list, 2, A.new {name = "x"})
    t.eq(n(), 1)
    A.replace(list, 1, A.new {name = "y"})
    t.eq(n(), 0)
  end},
  {"C3", "calls `#n` when the removal of an earlier element empties the slot", function(A, t)
    local list = t.list "a b c"
    local n = t.watch(list, "#3")
    t.eq(A.remove(list, 1).name, "a")
    t.eq(n(), 1)
    A.remove(list, 1)
    t.eq(n(), 0)
  end},
  {"C3", "allows `#n` beyond the end", function(A, t)
    local list = t.list "a b c"
    local n, w = t.watch(list, "#5")
    A.append(list, A.new {name = "d"})
    t.eq(n(), 0)
    A.append(list, A.new {name = "e"})
    t.eq(n(), 1)
    A.remove(list)
    t.eq(n(), 1)
    t.eq(w.active, true)
  end},
  {"C3", "is silent when an identical object slides in", function(A, t)
    local a, b = A.new {name = "a"}, A.new {name = "b"}
    local list = A.list {a, a, b}
    local calls = {}
    for i = 1, 3 do A.observe(list, "#" .. i, function() calls[#calls + 1] = i end) end
    A.remove(list, 1)
    obs.flush()
    t.eq(table.concat(calls, " "), "2 3")
  end},
  {"C3", "is silent for changes behind the slot", function(A, t)
    local list = t.list "a b c"
    local n = t.watch(list, "#1")
    A.insert(list, 2, A.new {name = "x"})
    A.remove(list, 3)
    A.append(list, A.new {name = "y"})
    A.move(list, 2, 3)
    t.eq(n(), 0)
  end},
  {"T5", "is silent when a slot is given its own value", function(A, t)
    local list, objects = t.list "a b"
    local n = t.watch(list, "#1")
    A.replace(list, 1, objects[1])
    t.eq(n(), 0)
    local numbers = A.list {1, 2}
    local m = t.watch(numbers, "#1")
    A.replace(numbers, 1, 1)
    t.eq(m(), 0)
    A.replace(numbers, 1, 3)
    t.eq(m(), 1)
  end},
  {"C3", "calls for each slot that an insertion in front changes, once", function(A, t)
    local list, calls = t.list "a b c", {}
    for i = 1, 5 do A.observe(list, "#" .. i, function() calls[#calls + 1] = i end) end
    A.insert(list, 1, A.new {name = "x"})
    obs.flush()
    t.eq(table.concat(calls, " "), "1 2 3 4")
    t.eq(t.names(list), "x a b c")
  end},
  {"C3", "calls for the slots between both ends of a move", function(A, t)
    local list, calls = t.list "a b c d", {}
    for i = 1, 5 do A.observe(list, "#" .. i, function() calls[#calls + 1] = i end) end
    A.move(list, 1, 3)
    obs.flush()
    t.eq(t.names(list), "b c a d")
    t.eq(table.concat(calls, " "), "1 2 3")
    A.move(list, 3, 2)
    obs.flush()
    t.eq(t.names(list), "b a c d")
    t.eq(table.concat(calls, " "), "1 2 3 2 3")
  end},
  {"C3", "calls for both slots of a swap", function(A, t)
    local list, calls = t.list "a b c", {}
    for i = 1, 3 do A.observe(list, "#" .. i, function() calls[#calls + 1] = i end) end
    A.swap(list, 1, 3)
    obs.flush()
    t.eq(t.names(list), "c b a")
    t.eq(table.concat(calls, " "), "1 3")
  end},
  {"C3", "calls for the slots that differ after a sort or reversal", function(A, t)
    local list, calls = t.list "c b a d", {}
    for i = 1, 4 do A.observe(list, "#" .. i, function() calls[#calls + 1] = i end) end
    A.sort(list, t.by_name)
    obs.flush()
    t.eq(t.names(list), "a b c d")
    t.eq(table.concat(calls, " "), "1 3")
    A.remove(list)
    obs.flush()
    calls = {}
    A.reverse(list)
    obs.flush()
    t.eq(t.names(list), "c b a")
    t.eq(table.concat(calls, " "), "1 3")
  end},
  {"C3", "calls for every filled slot that is cleared", function(A, t)
    local list, calls = t.list "a b c", {}
    for i = 1, 4 do A.observe(list, "#" .. i, function() calls[#calls + 1] = i end) end
    A.clear(list)
    obs.flush()
    t.eq(A.size(list), 0)
    t.eq(table.concat(calls, " "), "1 2 3")
  end},
  {"C3", "calls for the slots that `set` changes", function(A, t)
    local list, objects = t.list "a b c"
    local calls = {}
    for i = 1, 5 do A.observe(list, "#" .. i, function() calls[#calls + 1] = i end) end
    A.set(list, {objects[1], objects[3], objects[2], A.new {name = "d"}})
    obs.flush()
    t.eq(t.names(list), "a c b d")
    t.eq(table.concat(calls, " "), "2 3 4")
    A.set(list, {objects[1]})
    obs.flush()
    t.eq(table.concat(calls, " "), "2 3 4 2 3 4")
  end},
  {"P6", "hears behind `#n` the object that is in the slot now", function(A, t)
    local list, objects = t.list "a b c"
    local n = t.watch(list, "#2.name")
    objects[2].name = "bb"
    t.eq(n(), 1)
    objects[1].name = "aa"
    t.eq(n(), 0)
    A.insert(list, 1, A.new {name = "x"})
    t.eq(n(), 1)
    objects[2].name = "b"
    t.eq(n(), 0)
    objects[1].name = "a"
    t.eq(n(), 1)
    A.clear(list)
    t.eq(n(), 1)
    objects[1].name = "aa"
    t.eq(n(), 0)
  end},
  {"P5", "calls when the leaf behind a replaced element is equal", function(A, t)
    local list = t.list "a b"
    local n = t.watch(list, "#1.name")
    A.replace(list, 1, A.new {name = "a"})
    t.eq(n(), 1)
  end},
  {"P4", "waits for a list that does not exist yet", function(A, t)
    local order = A.new {name = "order"}
    local n = t.watch(order, "items.#2.name")
    order.items = t.list "a"
    t.eq(n(), 1)
    A.append(order.items, A.new {name = "b"})
    t.eq(n(), 1)
    A.get(order.items, 2).name = "c"
    t.eq(n(), 1)
    order.items = nil
    t.eq(n(), 1)
  end},
  {"P6", "releases the elements of a list that was replaced", function(A, t)
    local order = A.new {name = "order"}
    local old, olds = t.list "a b"
    order.items = old
    local n = t.watch(order, "items.#1.name")
    order.items = t.list "c d"
    t.eq(n(), 1)
    olds[1].name = "x"
    A.remove(old, 1)
    t.eq(n(), 0)
    A.get(order.items, 1).name = "y"
    t.eq(n(), 1)
  end},
}
