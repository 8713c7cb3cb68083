-- C7, C8, P3–P6, P8: paths through every element.
return {
  {"C7", "hears a property of every element, also of added ones, and not of removed ones", [[
    local list, objects = t.list "a b"
    watch(list, "*.name")
    local c = A.new {name = "c"}
    objects[2].name = "y"  --> 1
    objects[1].price = 9   --> 0
    A.insert(list, 1, c)   --> 1
    c.name = "cc"          --> 1
    A.remove(list, 2)      --> 1
    objects[1].name = "x"  --> 0
    objects[2].name = "x"  --> 1
  ]]},
  {"C7", "hears an object that occurs twice once, until its last occurrence has left", [[
    local a, b = A.new {name = "a"}, A.new {name = "b"}
    local list = A.list {a, b, a}
    watch(list, "*.name")
    a.name = "x"       --> 1
    A.remove(list, 1)  --> 1
    a.name = "y"       --> 1
    A.remove(list, 2)  --> 1
    a.name = "z"       --> 0
  ]]},
  {"C7", "wires a replacement of an element once, whoever else watches the list", [[
    local list, objects = t.list "a b c"
    local function hear(path, options)
      A.observe(list, path, function() note(path) end, options)
    end
    hear "*"
    hear "#2"
    hear(A.size_name)
    hear("*.name", {immediate = true})
    hear("#2.name", {immediate = true})
    local x = A.new {name = "x"}
    A.replace(list, 2, x)  --> *.name, #2.name, *, #2
    x.name = "y"           --> *.name, #2.name
    objects[2].name = "z"  --> 0
  ]]},
  {"P6", "distinguishes equal elements", [[
    local order = A.new {name = "order"}
    local old = t.list "a b"
    order.items = old
    watch(order, "items.*.name")
    order.items = t.list "a b"        --> 1
    A.get(old, 1).name = "x"          --> 0
    A.get(order.items, 1).name = "x"  --> 1
  ]]},
  {"P4", "waits for a missing list, and for one that returns", [[
    local order = A.new {name = "order"}
    watch(order, "items.*.name")
    local list, objects = t.list "a"
    order.items = list                  --> 1
    objects[1].name = "x"               --> 1
    order.items = nil                   --> 1
    objects[1].name = "y"
    A.append(list, A.new {name = "b"})  --> 0
    order.items = list                  --> 1
    A.get(list, 2).name = "c"           --> 1
  ]]},
  {"P3", "follows several wildcards", [[
    local order, rows = A.new {name = "order"}, {}
    for i = 1, 3 do
      rows[i] = A.new {name = "row"}
      rows[i].items = t.list "a b"
    end
    order.items = A.list(rows)
    watch(order, "items.*.items.*.name")
    A.get(rows[3].items, 2).name = "x"           --> 1
    A.append(rows[2].items, A.new {name = "c"})  --> 1
    A.get(rows[2].items, 3).name = "x"           --> 1
    rows[1].items = t.list "d"                   --> 1
    A.get(rows[1].items, 1).name = "x"           --> 1
    A.remove(order.items, 1)                     --> 1
    A.get(rows[1].items, 1).name = "y"
    A.clear(rows[1].items)                       --> 0
  ]]},
  {"P8", "keeps one of two routes when the other is cut", [[
    local shared = t.list "a b"
    local order, first, second = A.new {name = "o"}, A.new {name = "1"}, A.new {name = "2"}
    first.items, second.items = shared, shared
    order.items = A.list {first, second}
    watch(order, "items.*.items.*.name")
    A.get(shared, 1).name = "x"           --> 1
    A.remove(order.items, 1)              --> 1
    A.get(shared, 1).name = "y"           --> 1
    A.append(shared, A.new {name = "c"})  --> 1
    second.items = nil                    --> 1
    A.get(shared, 1).name = "z"           --> 0
  ]]},
  {"P8", "terminates if a list leads back to its root", [[
    local order = A.new {name = "order"}
    order.items = A.list {order}
    watch(order, {"items.*.items.*.name", "items.#1.items.#1.name"})
    order.name = "x"                           --> 1
    A.append(order.items, A.new {name = "y"})  --> 1
    A.remove(order.items, 1)                   --> 1
    order.name = "z"                           --> 0
    A.clear(order.items)                       --> 1
  ]]},
  {"P7", "skips elements that cannot be observed", [[
    local list = A.list {1, 2}
    watch(list, "*.name")
    A.replace(list, 1, 3)  --> 1
    A.append(list, 4)      --> 1
  ]]},
  {"C8", "applies a name on a list to every element", [[
    local order = A.new {name = "order"}
    local list, objects = t.list "a b"
    order.items = list
    watch(order, "items.name")
    objects[2].name = "x"               --> 1
    objects[2].price = 7                --> 0
    A.append(list, A.new {name = "c"})  --> 1
    A.get(list, 3).name = "x"           --> 1
    A.remove(list, 1)                   --> 1
    objects[1].name = "y"               --> 0
  ]], only = "spreads"},
  {"C8", "spreads names over lists of lists of objects", [[
    local order, rows = A.new {name = "order"}, {}
    for i = 1, 2 do
      rows[i] = A.new {name = "row"}
      rows[i].items = t.list "a b"
    end
    order.items = A.list(rows)
    watch(order, "items.items.name")
    watch(order, "items.items.count")
    A.get(rows[2].items, 1).name = "x"                --> items.items.name
    A.remove(rows[1].items)                           --> items.items.name, items.items.count
    A.append(rows[1].items, A.remove(rows[1].items))  --> items.items.name
    A.append(rows[1].items, A.new {name = "c"})       --> items.items.name, items.items.count
  ]], only = "spreads"},
}
