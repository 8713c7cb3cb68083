-- C7, C8, P3–P6, P8: paths through every element.
local obs = require "obs"

return {
  {"C7", "hears a property of every element", function(A, t)
    local list, objects = t.list "a b c"
    local n = t.watch(list, "*.name")
    for i = 1, 3 do
      objects[i].name = "x"
      t.eq(n(), 1)
    end
    objects[1].price = 100
    t.eq(n(), 0)
  end},
  {"C7", "hears added elements, and not removed ones", function(A, t)
    local list, objects = t.list "a b"
    local n = t.watch(list, "*.name")
    local c = A.new {name = "c"}
    A.insert(list, 1, c)
    t.eq(n(), 1)
    c.name = "cc"
    t.eq(n(), 1)
    A.remove(list, 2)
    t.eq(n(), 1)
    objects[1].name = "x"
    t.eq(n(), 0)
    objects[2].name = "x"
    t.eq(n(), 1)
  end},
  {"C7",
    "hears an object that occurs twice once, until its last occurrence has left", function(A, t)
    local a, b = A.new {name = "a"}, A.new {name = "b"}
    local list = A.list {a, b, a}
    local n = t.watch(list, "*.name")
    a.name = "x"
    t.eq(n(), 1)
    A.remove(list, 1)
    t.eq(n(), 1)
    a.name = "y"
    t.eq(n(), 1)
    A.remove(list, 2)
    t.eq(n(), 1)
    a.name = "z"
    t.eq(n(), 0)
  end},
  {"C7", "wires a replacement of an element once, whoever else watches the list", function(A, t)
    local list, objects = t.list "a b c"
    local calls = {star = 0, slot = 0, size = 0, below = 0, behind = 0}
    local function count(path, name, options)
      A.observe(list, path, function() calls[name] = calls[name] + 1 end, options)
    end
    count("*", "star")
    count("#2", "slot")
    count(A.size_name, "size")
    count("*.name", "below", {immediate = true})
    count("#2.name", "behind", {immediate = true})
    local x = A.new {name = "x"}
    A.replace(list, 2, x)
    obs.flush()
    t.eq(calls.star, 1)
    t.eq(calls.slot, 1)
    t.eq(calls.size, 0)
    t.eq(calls.below, 1)
    t.eq(calls.behind, 1)
    x.name = "y"
    t.eq(calls.below, 2)
    t.eq(calls.behind, 2)
    objects[2].name = "z"
    obs.flush()
    t.eq(calls.below, 2)
    t.eq(calls.behind, 2)
    t.eq(calls.star, 1)
  end},
  {"P6", "distinguishes equal elements", function(A, t)
    local order = A.new {name = "order"}
    local old = t.list "a b"
    order.items = old
    local n = t.watch(order, "items.*.name")
    order.items = t.list "a b"
    t.eq(n(), 1)
    A.get(old, 1).name = "x"
    t.eq(n(), 0)
    A.get(order.items, 1).name = "x"
    t.eq(n(), 1)
  end},
  {"P4", "waits for a missing list, and for one that returns", function(A, t)
    local order = A.new {name = "order"}
    local n = t.watch(order, "items.*.name")
    local list, objects = t.list "a"
    order.items = list
    t.eq(n(), 1)
    objects[1].name = "x"
    t.eq(n(), 1)
    order.items = nil
    t.eq(n(), 1)
    objects[1].name = "y"
    A.append(list, A.new {name = "b"})
    t.eq(n(), 0)
    order.items = list
    t.eq(n(), 1)
    A.get(list, 2).name = "c"
    t.eq(n(), 1)
  end},
  {"P3", "follows several wildcards", function(A, t)
    local order, rows = A.new {name = "order"}, {}
    for i = 1, 3 do
      rows[i] = A.new {name = "row"}
      rows[i].items = t.list "a b"
    end
    order.items = A.list(rows)
    local n = t.watch(order, "items.*.items.*.name")
    A.get(rows[3].items, 2).name = "x"
    t.eq(n(), 1)
    A.append(rows[2].items, A.new {name = "c"})
    t.eq(n(), 1)
    A.get(rows[2].items, 3).name = "x"
    t.eq(n(), 1)
    rows[1].items = t.list "d"
    t.eq(n(), 1)
    A.get(rows[1].items, 1).name = "x"
    t.eq(n(), 1)
    A.remove(order.items, 1)
    t.eq(n(), 1)
    A.get(rows[1].items, 1).name = "y"
    A.clear(rows[1].items)
    t.eq(n(), 0)
  end},
  {"P8", "keeps one of two routes when the other is cut", function(A, t)
    local shared = t.list "a b"
    local order, first, second = A.new {name = "o"}, A.new {name = "1"}, A.new {name = "2"}
    first.items, second.items = shared, shared
    order.items = A.list {first, second}
    local n = t.watch(order, "items.*.items.*.name")
    A.get(shared, 1).name = "x"
    t.eq(n(), 1)
    A.remove(order.items, 1)
    t.eq(n(), 1)
    A.get(shared, 1).name = "y"
    t.eq(n(), 1)
    A.append(shared, A.new {name = "c"})
    t.eq(n(), 1)
    second.items = nil
    t.eq(n(), 1)
    A.get(shared, 1).name = "z"
    t.eq(n(), 0)
  end},
  {"P8", "terminates if a list leads back to its root", function(A, t)
    local order = A.new {name = "order"}
    order.items = A.list {order}
    local n = t.watch(order, {"items.*.items.*.name", "items.#1.items.#1.name"})
    order.name = "x"
    t.eq(n(), 1)
    A.append(order.items, A.new {name = "y"})
    t.eq(n(), 1)
    A.remove(order.items, 1)
    t.eq(n(), 1)
    order.name = "z"
    t.eq(n(), 0)
    A.clear(order.items)
    t.eq(n(), 1)
  end},
  {"P7", "skips elements that cannot be observed", function(A, t)
    local list = A.list {1, 2}
    local n = t.watch(list, "*.name")
    A.replace(list, 1, 3)
    t.eq(n(), 1)
    A.append(list, 4)
    t.eq(n(), 1)
  end},
  {"C8", "applies a name on a list to every element", function(A, t)
    local order = A.new {name = "order"}
    local list, objects = t.list "a b"
    order.items = list
    local n = t.watch(order, "items.name")
    objects[2].name = "x"
    t.eq(n(), 1)
    objects[2].price = 7
    t.eq(n(), 0)
    A.append(list, A.new {name = "c"})
    t.eq(n(), 1)
    A.get(list, 3).name = "x"
    t.eq(n(), 1)
    A.remove(list, 1)
    t.eq(n(), 1)
    objects[1].name = "y"
    t.eq(n(), 0)
  end, only = "spreads"},
  {"C8", "spreads names over lists of lists of objects", function(A, t)
    local order, rows = A.new {name = "order"}, {}
    for i = 1, 2 do
      rows[i] = A.new {name = "row"}
      rows[i].items = t.list "a b"
    end
    order.items = A.list(rows)
    local n = t.watch(order, "items.items.name")
    local sizes = t.watch(order, "items.items.count")
    A.get(rows[2].items, 1).name = "x"
    t.eq(n(), 1)
    A.remove(rows[1].items)
    t.eq(n(), 1)
    t.eq(sizes(), 1)
    A.append(rows[1].items, A.remove(rows[1].items))
    t.eq(sizes(), 0)
    A.append(rows[1].items, A.new {name = "c"})
    t.eq(sizes(), 1)
  end, only = "spreads"},
}
