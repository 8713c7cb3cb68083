-- C5: dictionaries.
return {
  {"C5", "watches a key before it exists", [[
    local dictionary = A.make {}
    watch(dictionary, "key")
    A.set(dictionary, "key", 1)     --> 1
    A.set(dictionary, "key", 1)
    A.set(dictionary, "other", 2)   --> 0
    A.set(dictionary, "key", 2)     --> 1
    A.set(dictionary, "key", nil)   --> 1
    A.set(dictionary, "key", nil)
    A.set(dictionary, "none", nil)  --> 0
  ]]},
  {"P5", "follows a key to its object", [[
    local a, b = A.new {name = "a"}, A.new {name = "a"}
    local dictionary = A.make {key = a}
    watch(dictionary, "key.name")
    a.name = "x"                   --> 1
    A.set(dictionary, "key", b)    --> 1
    a.name = "y"                   --> 0
    b.name = "y"                   --> 1
    A.set(dictionary, "key", nil)  --> 1
  ]]},
  {"C1", "calls `*` for added, removed and changed entries", [[
    local dictionary = A.make {a = A.new {name = "a"}}
    watch(dictionary, "*")
    A.set(dictionary, "b", A.new {name = "b"})  --> 1
    A.set(dictionary, "b", A.get(dictionary, "b"))
    A.get(dictionary, "a").name = "x"           --> 0
    A.set(dictionary, "a", A.new {name = "c"})  --> 1
    A.set(dictionary, "a", nil)                 --> 1
  ]]},
  {"C1", "has a size that is observed", [[
    local dictionary = A.make {a = 1, b = 2}
    watch(dictionary, "count")
    A.set(dictionary, "c", 3)  --> 1
    A.set(dictionary, "c", 4)  --> 0
    A.set(dictionary, "a", nil)
    A.set(dictionary, "d", 5)  --> 0
    obs.clear(dictionary)      --> 1
    t.is(dictionary, "@count", 0)
  ]], only = "has_size"},
  {"C7", "hears a property of every value", [[
    local a = A.new {name = "a"}
    local dictionary = A.make {x = a, y = a}
    watch(dictionary, "*.name")
    a.name = "b"                                --> 1
    A.set(dictionary, "x", nil)                 --> 1
    a.name = "c"                                --> 1
    A.set(dictionary, "y", A.new {name = "d"})  --> 1
    a.name = "e"                                --> 0
    A.get(dictionary, "y").name = "e"           --> 1
  ]]},
  {"C9", "has operators over its values", [[
    local dictionary = A.make {a = A.new {price = 1}, b = A.new {price = 2}}
    watch(dictionary, "@sum.price")
    t.is(dictionary, "@sum.price", 3)
    A.get(dictionary, "a").price = 5           --> 1
    t.is(dictionary, "@sum.price", 7)
    A.set(dictionary, "b", nil)                --> 1
    A.set(dictionary, "b", A.new {price = 0})  --> 0
    t.is(dictionary, "@max.price", 5)
  ]], only = "has_size"},
  {"C10", "reports its edits by key", [[
    local dictionary = A.make {a = 1, b = 2}
    obs.observe_edits(dictionary, function(collection, edits)
      assert(collection == dictionary)
      for _, edit in ipairs(edits) do note(edit.kind, edit.at, edit.old, edit.new) end
    end)
    A.set(dictionary, "c", 3)    --> insert c nil 3
    A.set(dictionary, "a", 4)    --> replace a 1 4
    A.set(dictionary, "b", nil)  --> remove b 2 nil
    A.set(dictionary, "a", 5)
    A.set(dictionary, "a", 4)
    A.set(dictionary, "x", 1)
    A.set(dictionary, "x", nil)  --> 0
  ]]},
  {"C5", "is made equal to another by writing only differences", [[
    local dictionary = A.make {a = 1, b = 2, c = 3}
    for _, key in ipairs {"a", "b", "c", "d"} do watch(dictionary, key) end
    obs.assign(dictionary, {a = 1, b = 5, d = 4})  --> b, c, d
    t.eq(A.get(dictionary, "c"), nil)
    t.eq(A.get(dictionary, "d"), 4)
    obs.assign(dictionary, {a = 1, b = 5, d = 4})  --> 0
  ]]},
  {"C5", "reports named keys with old and new value", [[
    local dictionary = A.make {a = 1, b = 2, c = 3}
    obs.observe_keys(dictionary, {"a", "b", "d"}, function(key, old, new, collection)
      assert(collection == dictionary)
      note(key, old, new)
    end)
    A.set(dictionary, "c", 9)  --> 0
    A.set(dictionary, "d", 4)
    A.set(dictionary, "a", 5)
    A.set(dictionary, "a", 6)  --> a 1 6, d nil 4
    A.set(dictionary, "b", nil)
    A.set(dictionary, "a", 7)
    A.set(dictionary, "a", 6)  --> b 2 nil
  ]]},
}
