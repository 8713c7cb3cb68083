-- C1, C12: `*` and the size.
return {
  {"C1", "calls `*` once for all changes of a turn to the list", [[
    local list = t.list "a b c"
    watch(list, "*")
    A.append(list, A.new {name = "d"})
    A.remove(list, 1)
    A.swap(list, 1, 2)  --> 1
    --> 0
  ]]},
  {"C1", "calls `*` for each kind of change", [[
    local list, objects = t.list "c a b"
    watch(list, "*")
    A.sort(list, t.by_name)                 --> 1
    A.reverse(list)                         --> 1
    A.move(list, 1, 2)                      --> 1
    A.swap(list, 1, 3)                      --> 1
    A.replace(list, 2, A.new {name = "x"})  --> 1
    A.insert(list, 1, A.new {name = "y"})   --> 1
    A.remove(list)                          --> 1
    A.set(list, objects)                    --> 1
    A.clear(list)                           --> 1
  ]]},
  {"T5", "is silent if nothing changed, or only a property of an element", [[
    local list, objects = t.list "a b c"
    watch(list, "*")
    watch(list, A.size_name, {name = "size"})
    A.sort(list, t.by_name)
    A.replace(list, 2, objects[2])
    A.set(list, objects)
    A.swap(list, 1, 1)
    A.move(list, 2, 2)
    A.set(list, {objects[1], objects[2], objects[3]})
    objects[1].name = "x"  --> 0
    A.clear(list)          --> *, size
    A.clear(list)
    A.reverse(list)
    A.sort(list, t.by_name)
    A.set(list, {})        --> 0
  ]]},
  {"C1", "calls watchers of the size only if it has changed", [[
    local list = t.list "a b"
    watch(list, A.size_name)
    A.append(list, A.new {name = "c"})    --> 1
    A.replace(list, 1, A.new {name = "x"})
    A.reverse(list)                       --> 0
    A.insert(list, 1, A.remove(list, 2))  --> 0
    A.clear(list)                         --> 1
  ]]},
  {"C12", "calls watchers of the size when a list replaces one of equal length", [[
    local order = A.new {name = "order"}
    order.items = t.list "a b"
    watch(order, "items." .. A.size_name)
    order.items = t.list "c d"                 --> 1
    A.append(order.items, A.new {name = "e"})  --> 1
    order.items = nil                          --> 1
  ]]},
  {"C12", "moves the wiring of `*` to the list that replaces the list", [[
    local order = A.new {name = "order"}
    local old = t.list "a b"
    order.items = old
    watch(order, "items.*")
    order.items = t.list "a b"                 --> 1
    A.append(old, A.new {name = "c"})          --> 0
    A.append(order.items, A.new {name = "c"})  --> 1
  ]]},
  {"T9", "calls immediate watchers once per operation", [[
    local list, calls = t.list "a b c", 0
    A.observe(list, {"*", "#1", "#3"}, function() note "now" end, {immediate = true})
    A.insert(list, 1, A.new {name = "x"})                    --= 1
    A.remove(list, 1)                                        --= 1
    A.replace(list, 3, A.new {name = "z"})                   --= 1
    A.sort(list, function(a, b) return a.name > b.name end)  --= 1
    A.append(list, A.new {name = "e"})                       --= 1
    A.batch(function()
      A.append(list, A.new {name = "c"})
      A.remove(list, 1)                                      --= 0
    end)                                                     --= 1
  ]]},
  {"T9", "calls immediate watchers of typed lists once per operation", [[
    local list, objects = t.list "a b c d"
    A.observe(list, {"*", "#1", "#4"}, function() note "now" end, {immediate = true})
    A.reverse(list)                        --= 1
    A.move(list, 1, 4)                     --= 1
    A.swap(list, 1, 4)                     --= 1
    A.set(list, {objects[2], objects[1]})  --= 1
    A.clear(list)                          --= 1
    A.clear(list)                          --= 0
  ]], only = "is_typed"},
}
