-- C9: collection operators.
return {
  {"C9", "gives the sum, average, minimum, maximum and size of a property", function(A, t)
    local order = A.new {name = "order"}
    order.items = t.list "a b c"
    t.is(order, "items.@sum.price", 6)
    t.is(order, "items.@avg.price", 2.0)
    t.is(order, "items.@min.price", 1)
    t.is(order, "items.@max.price", 3)
    t.is(order, "items.@count", 3)
    t.is(order, "items.@first.name", "a")
    t.is(order, "items.@last.name", "c")
  end},
  {"C9", "gives the same over the elements themselves", function(A, t)
    local list = A.list {5, 1, 3}
    t.is(list, "@sum", 9)
    t.is(list, "@avg", 3.0)
    t.is(list, "@min", 1)
    t.is(list, "@max", 5)
    t.is(list, "@first", 5)
    t.is(list, "@last", 3)
  end},
  {"C9", "gives 0 as the sum of nothing, and nil for operators that need an element", function(A, t)
    local list = A.list {}
    t.is(list, "@sum.price", 0)
    t.is(list, "@count", 0)
    for _, path in ipairs {"@avg.price", "@min.price", "@max.price", "@first.name", "@last.name"} do
      t.is(list, path, nil)
    end
    t.is(list, "@any.flag", false)
    t.is(list, "@all.flag", true)
  end},
  {"C9", "evaluates any and all with Lua's truth values", function(A, t)
    local list, objects = t.list "a b"
    t.is(list, "@any.flag", false)
    objects[1].flag = true
    t.is(list, "@any.flag", true)
    t.is(list, "@all.flag", false)
    objects[2].flag = true
    t.is(list, "@all.flag", true)
    objects[1].flag = false
    t.is(list, "@all.flag", false)
  end},
  {"C9", "gives the union of a property in order, with or without duplicates", function(A, t)
    local list = t.list "b a b c a"
    t.lists(list, "@unionOfObjects.name", "b a b c a")
    t.lists(list, "@distinctUnionOfObjects.name", "b a c")
  end},
  {"C9", "gives the union of lists", function(A, t)
    local list = A.list {A.new {tags = {3, 1}}, A.new {}, A.new {tags = {1, 2}}}
    t.lists(list, "@unionOfArrays.tags", "3 1 1 2")
    t.lists(list, "@distinctUnionOfArrays.tags", "3 1 2")
  end},
  {"C9", "nests operators", [[
    local list = A.list {A.new {tags = {3, 1}}, A.new {tags = {5}}, A.new {tags = {}}}
    t.is(list, "@sum.tags.@count", 3)
    t.is(list, "@max.tags.@sum", 5)
    t.is(list, "@sum.tags.@max", 8)
    watch(list, "@sum.tags.@count")
    A.append(A.get(list, 3).tags, 7)      --> @sum.tags.@count
    A.replace(A.get(list, 3).tags, 1, 8)  --> 0
    t.is(list, "@sum.tags.@count", 4)
    watch(list, "@max.tags.@sum")
    A.append(A.get(list, 1).tags, 2)      --> @sum.tags.@count
    A.append(A.get(list, 1).tags, 10)     --> @sum.tags.@count, @max.tags.@sum
    t.is(list, "@max.tags.@sum", 16)
  ]]},
  {"C9", "calls for a changed sum, and for nothing else", [[
    local order = A.new {name = "order"}
    local list, objects = t.list "a b c"
    order.items = list
    watch(order, "items.@sum.price")
    objects[1].price = 10                          --> 1
    objects[1].price, objects[2].price = 11, 1     --> 0
    objects[1].name = "x"
    A.reverse(list)                                --> 0
    A.append(list, A.new {name = "d", price = 0})  --> 0
    A.append(list, A.new {name = "e", price = 5})  --> 1
    A.remove(list)
    A.append(list, A.new {name = "f", price = 5})  --> 0
    t.is(order, "items.@sum.price", 20)
    A.clear(list)                                  --> 1
    t.is(order, "items.@sum.price", 0)
  ]]},
  {"C9", "counts an object as often as it occurs in the list", [[
    local a = A.new {name = "a", price = 4}
    local list = A.list {a, a}
    watch(list, "@sum.price")
    t.is(list, "@sum.price", 8)
    a.price = 5                  --> 1
    t.is(list, "@sum.price", 10)
    A.remove(list, 1)            --> 1
    t.is(list, "@sum.price", 5)
    A.remove(list, 1)
    a.price = 6                  --> 1
    t.is(list, "@sum.price", 0)  --> 0
  ]]},
  {"C12", "calls for a list that replaces the list, with the same sum", [[
    local order = A.new {name = "order"}
    local old, olds = t.list "a b"
    order.items = old
    watch(order, "items.@sum.price")
    order.items = t.list "a b"         --> 1
    olds[1].price = 100
    A.append(old, A.new {price = 7})   --> 0
    A.get(order.items, 1).price = 100  --> 1
    order.items = nil                  --> 1
  ]]},
  {"C9", "calls for a changed minimum and maximum", [[
    local list, objects = t.list "a b c d"
    watch(list, "@min.price")
    watch(list, "@max.price")
    objects[2].price = 3  --> 0
    objects[1].price = 2  --> @min.price
    A.remove(list, 4)     --> @max.price
    t.is(list, "@max.price", 3)
    objects[2].price = 9  --> @max.price
    objects[2].price = 3
    objects[3].price = 9  --> 0
    A.clear(list)         --> @min.price, @max.price
    t.is(list, "@min.price", nil)
  ]]},
  {"C9", "calls for a changed first and last element, and for changes behind them", [[
    local list, objects = t.list "a b c"
    watch(list, "@first.name")
    watch(list, "@last")
    A.replace(list, 2, A.new {name = "x"})  --> 0
    objects[1].name = "aa"                  --> @first.name
    A.insert(list, 1, A.new {name = "y"})   --> @first.name
    objects[1].name = "a"                   --> 0
    A.remove(list)                          --> @last
    A.clear(list)                           --> @first.name, @last
    A.append(list, objects[1])              --> @first.name, @last
    objects[1].name = "z"                   --> @first.name
  ]]},
  {"C9", "calls for a changed union, and not for equal values of other elements", [[
    local list = t.list "a b a"
    watch(list, "@distinctUnionOfObjects.name")
    watch(list, "@unionOfObjects.name")
    A.remove(list)                      --> @unionOfObjects.name
    A.append(list, A.new {name = "b"})  --> @unionOfObjects.name
    A.get(list, 1).name = "c"           --> @distinctUnionOfObjects.name, @unionOfObjects.name
    A.append(list, A.new {name = "c"})  --> @unionOfObjects.name
    t.lists(list, "@distinctUnionOfObjects.name", "c b")
  ]]},
  {"C9", "calls for a changed union of lists", [[
    local list = A.list {A.new {tags = {3, 1}}, A.new {tags = {1, 2}}}
    watch(list, "@distinctUnionOfArrays.tags")
    A.append(A.get(list, 1).tags, 2)  --> 0
    A.append(A.get(list, 2).tags, 9)  --> 1
    A.get(list, 2).tags = A.list {9}  --> 0
    A.remove(list, 2)                 --> 1
    t.lists(list, "@distinctUnionOfArrays.tags", "3 1 2")
  ]]},
  {"C9", "calls for a changed any and all", [[
    local list, objects = t.list "a b"
    watch(list, "@any.flag")
    watch(list, "@all.flag")
    objects[1].flag = true  --> @any.flag
    objects[2].flag = true  --> @all.flag
    A.remove(list, 1)       --> 0
    A.clear(list)           --> @any.flag
  ]]},
  {"C9", "hears the size through `@count` of a typed list as through `count`", [[
    local list = t.list "a b"
    watch(list, "@count")
    A.reverse(list)    --> 0
    A.remove(list, 1)  --> 1
  ]]},
  {"C9", "leaves out elements without a value", [[
    local list = A.list {A.new {name = "a", price = 4}, A.new {name = "b"}}
    watch(list, "@avg.price")
    t.is(list, "@avg.price", 4.0)
    A.append(list, A.new {name = "c"})  --> 0
    A.get(list, 2).price = 8            --> 1
    t.is(list, "@avg.price", 6.0)
    A.get(list, 1).price = nil          --> 1
    t.is(list, "@sum.price", 8)
  ]], only = "has_nil"},
  {"C9", "keeps sums of floats exact, and integers integers", [[
    local list = A.list {1, 2}
    watch(list, "@sum")
    A.append(list, 0.1)         --> 1
    t.is(list, "@sum", 3.1)
    A.append(list, 1e300)       --> 1
    A.remove(list)              --> 1
    t.is(list, "@sum", 3.1)
    A.remove(list)              --> 1
    t.is(list, "@sum", 3)
    t.eq(math.type(A.read(list, "@sum")), "integer")
    A.append(list, math.huge)
    A.append(list, -math.huge)  --> 1
    t.eq(tostring(A.read(list, "@sum")):gsub("-", ""), "nan")
    A.append(list, 5)           --> 0
    A.remove(list)
    A.remove(list)              --> 1
    t.is(list, "@sum", math.huge)
    A.remove(list)              --> 1
    t.is(list, "@sum", 3)
  ]], only = "has_mixed"},
  {"C9", "wraps sums of integers as Lua does", [[
    local list = A.list {math.maxinteger, 1}
    watch(list, "@sum")
    t.is(list, "@sum", math.mininteger)
    A.append(list, -1)  --> 1
    t.is(list, "@sum", math.maxinteger)
  ]]},
  {"C9", "reports a value that a sum cannot take, and continues without it", function(A, t)
    local list = A.list {1, 2}
    local n, w = t.watch(list, "@sum")
    t.reporting(function()
      A.append(list, "three")
      n()
      t.eq(#t.reports, 1)
      assert(tostring(t.reports[1].error):find("3", 1, true), t.reports[1].error)
      t.fails("three", A.read, list, "@sum")
      A.remove(list)
      n()
      t.eq(#t.reports, 1)
      A.append(list, 4)
      t.eq(n(), 1)
      t.eq(w.active, true)
      t.is(list, "@sum", 7)
    end)
  end, only = "has_mixed"},
  {"C8", "applies a name on a list below an operator", [[
    local order, rows = A.new {name = "order"}, {}
    for i = 1, 2 do
      rows[i] = A.new {name = "row"}
      rows[i].items = t.list "a b"
    end
    order.items = A.list(rows)
    t.is(order, "items.@sum.items.@sum.price", 6)
    watch(order, "items.@sum.items.@sum.price")
    A.get(rows[1].items, 1).price = 11  --> 1
    t.is(order, "items.@sum.items.@sum.price", 16)
    A.remove(order.items, 1)            --> 1
    t.is(order, "items.@sum.items.@sum.price", 3)
  ]]},
}
