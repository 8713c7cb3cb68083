-- C3: `#n` follows the slot.
return {
  {"C3", "calls `#n` when another object moves into the slot", [[
    local list = t.list "a b c"
    watch(list, "#2")
    A.replace(list, 2, A.new {name = "x"})  --> 1
    A.replace(list, 1, A.new {name = "y"})  --> 0
  ]]},
  {"C3", "calls `#n` when the removal of an earlier element empties the slot", [[
    local list = t.list "a b c"
    watch(list, "#3")
    t.eq(A.remove(list, 1).name, "a")  --> 1
    A.remove(list, 1)                  --> 0
  ]]},
  {"C3", "allows `#n` beyond the end", [[
    local list = t.list "a b c"
    local w = watch(list, "#5")
    A.append(list, A.new {name = "d"})  --> 0
    A.append(list, A.new {name = "e"})  --> 1
    A.remove(list)                      --> 1
    t.eq(w.active, true)
  ]]},
  {"C3", "is silent when an identical object slides in", [[
    local a, b = A.new {name = "a"}, A.new {name = "b"}
    local list = A.list {a, a, b}
    t.slots(list)
    A.remove(list, 1)  --> 2, 3
  ]]},
  {"C3", "is silent for changes behind the slot", [[
    local list = t.list "a b c"
    watch(list, "#1")
    A.insert(list, 2, A.new {name = "x"})
    A.remove(list, 3)
    A.append(list, A.new {name = "y"})
    A.move(list, 2, 3)  --> 0
  ]]},
  {"T5", "is silent when a slot is given its own value", [[
    local list, objects = t.list "a b"
    watch(list, "#1")
    A.replace(list, 1, objects[1])  --> 0
    local numbers = A.list {1, 2}
    watch(numbers, "#1")
    A.replace(numbers, 1, 1)        --> 0
    A.replace(numbers, 1, 3)        --> #1
  ]]},
  {"C3", "calls for each slot that an operation changes, once", [[
    local list, objects = t.list "a b c d"
    t.slots(list)
    A.move(list, 1, 3)                     --> 1, 2, 3
    t.eq(t.names(list), "b c a d")
    A.move(list, 3, 2)                     --> 2, 3
    t.eq(t.names(list), "b a c d")
    A.swap(list, 1, 3)                     --> 1, 3
    t.eq(t.names(list), "c a b d")
    A.sort(list, t.by_name)                --> 1, 2, 3
    t.eq(t.names(list), "a b c d")
    A.remove(list)                         --> 4
    A.reverse(list)                        --> 1, 3
    t.eq(t.names(list), "c b a")
    A.insert(list, 1, A.new {name = "x"})  --> 1, 2, 3, 4
    t.eq(t.names(list), "x c b a")
    A.set(list, {objects[1], objects[3], objects[2], A.new {name = "d"}})  --> 1, 4
    A.set(list, {objects[1]})              --> 2, 3, 4
    A.clear(list)                          --> 1
    t.eq(A.size(list), 0)
  ]]},
  {"P6", "hears behind `#n` the object that is in the slot now", [[
    local list, objects = t.list "a b c"
    watch(list, "#2.name")
    objects[2].name = "bb"                 --> 1
    objects[1].name = "aa"                 --> 0
    A.insert(list, 1, A.new {name = "x"})  --> 1
    objects[2].name = "b"                  --> 0
    objects[1].name = "a"                  --> 1
    A.clear(list)                          --> 1
    objects[1].name = "aa"                 --> 0
  ]]},
  {"P5", "calls when the leaf behind a replaced element is equal", [[
    local list = t.list "a b"
    watch(list, "#1.name")
    A.replace(list, 1, A.new {name = "a"})  --> 1
  ]]},
  {"P4", "waits for a list that does not exist yet", [[
    local order = A.new {name = "order"}
    watch(order, "items.#2.name")
    order.items = t.list "a"                   --> 1
    A.append(order.items, A.new {name = "b"})  --> 1
    A.get(order.items, 2).name = "c"           --> 1
    order.items = nil                          --> 1
  ]]},
  {"P6", "releases the elements of a list that was replaced", [[
    local order = A.new {name = "order"}
    local old, olds = t.list "a b"
    order.items = old
    watch(order, "items.#1.name")
    order.items = t.list "c d"        --> 1
    olds[1].name = "x"
    A.remove(old, 1)                  --> 0
    A.get(order.items, 1).name = "y"  --> 1
  ]]},
}
