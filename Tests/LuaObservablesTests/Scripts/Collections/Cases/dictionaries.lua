-- C5: dictionaries.
local obs = require "obs"

return {
  {"C5", "watches a key before it exists", function(D, t)
    local dictionary = D.make {}
    local n = t.watch(dictionary, "key")
    D.set(dictionary, "key", 1)
    t.eq(n(), 1)
    D.set(dictionary, "key", 1)
    D.set(dictionary, "other", 2)
    t.eq(n(), 0)
    D.set(dictionary, "key", 2)
    t.eq(n(), 1)
    D.set(dictionary, "key", nil)
    t.eq(n(), 1)
    D.set(dictionary, "key", nil)
    D.set(dictionary, "none", nil)
    t.eq(n(), 0)
  end},
  {"P5", "follows a key to its object", function(D, t)
    local a, b = D.new {name = "a"}, D.new {name = "a"}
    local dictionary = D.make {key = a}
    local n = t.watch(dictionary, "key.name")
    a.name = "x"
    t.eq(n(), 1)
    D.set(dictionary, "key", b)
    t.eq(n(), 1)
    a.name = "y"
    t.eq(n(), 0)
    b.name = "y"
    t.eq(n(), 1)
    D.set(dictionary, "key", nil)
    t.eq(n(), 1)
  end},
  {"C1", "calls `*` for added, removed and changed entries", function(D, t)
    local dictionary = D.make {a = D.new {name = "a"}}
    local n = t.watch(dictionary, "*")
    D.set(dictionary, "b", D.new {name = "b"})
    t.eq(n(), 1)
    D.set(dictionary, "b", D.get(dictionary, "b"))
    D.get(dictionary, "a").name = "x"
    t.eq(n(), 0)
    D.set(dictionary, "a", D.new {name = "c"})
    t.eq(n(), 1)
    D.set(dictionary, "a", nil)
    t.eq(n(), 1)
  end},
  {"C1", "has a size that is observed", function(D, t)
    local dictionary = D.make {a = 1, b = 2}
    local n = t.watch(dictionary, "count")
    D.set(dictionary, "c", 3)
    t.eq(n(), 1)
    D.set(dictionary, "c", 4)
    t.eq(n(), 0)
    D.set(dictionary, "a", nil)
    D.set(dictionary, "d", 5)
    t.eq(n(), 0)
    obs.clear(dictionary)
    t.eq(n(), 1)
    t.is(dictionary, "@count", 0)
  end, only = "has_size"},
  {"C7", "hears a property of every value", function(D, t)
    local a = D.new {name = "a"}
    local dictionary = D.make {x = a, y = a}
    local n = t.watch(dictionary, "*.name")
    a.name = "b"
    t.eq(n(), 1)
    D.set(dictionary, "x", nil)
    t.eq(n(), 1)
    a.name = "c"
    t.eq(n(), 1)
    D.set(dictionary, "y", D.new {name = "d"})
    t.eq(n(), 1)
    a.name = "e"
    t.eq(n(), 0)
    D.get(dictionary, "y").name = "e"
    t.eq(n(), 1)
  end},
  {"C9", "has operators over its values", function(D, t)
    local dictionary = D.make {a = D.new {price = 1}, b = D.new {price = 2}}
    local n = t.watch(dictionary, "@sum.price")
    t.is(dictionary, "@sum.price", 3)
    D.get(dictionary, "a").price = 5
    t.eq(n(), 1)
    t.is(dictionary, "@sum.price", 7)
    D.set(dictionary, "b", nil)
    t.eq(n(), 1)
    D.set(dictionary, "b", D.new {price = 0})
    t.eq(n(), 0)
    t.is(dictionary, "@max.price", 5)
  end, only = "has_size"},
  {"C10", "reports its edits by key", function(D, t)
    local dictionary = D.make {a = 1, b = 2}
    local log = {}
    obs.observe_edits(dictionary, function(collection, edits)
      assert(collection == dictionary)
      for _, edit in ipairs(edits) do
        log[#log + 1] = ("%s %s %s %s"):format(edit.kind, edit.at, edit.old, edit.new)
      end
    end)
    D.set(dictionary, "c", 3)
    obs.flush()
    D.set(dictionary, "a", 4)
    obs.flush()
    D.set(dictionary, "b", nil)
    obs.flush()
    D.set(dictionary, "a", 5)
    D.set(dictionary, "a", 4)
    D.set(dictionary, "x", 1)
    D.set(dictionary, "x", nil)
    obs.flush()
    t.eq(table.concat(log, "; "), "insert c nil 3; replace a 1 4; remove b 2 nil")
  end},
  {"C5", "is made equal to another by writing only differences", function(D, t)
    local dictionary = D.make {a = 1, b = 2, c = 3}
    local a, b, c, d = t.watch(dictionary, "a"), t.watch(dictionary, "b"), t.watch(dictionary, "c"),
      t.watch(dictionary, "d")
    obs.assign(dictionary, {a = 1, b = 5, d = 4})
    t.eq(a(), 0)
    t.eq(b(), 1)
    t.eq(c(), 1)
    t.eq(d(), 1)
    t.eq(D.get(dictionary, "c"), nil)
    t.eq(D.get(dictionary, "d"), 4)
    obs.assign(dictionary, {a = 1, b = 5, d = 4})
    t.eq(a() + b() + c() + d(), 0)
  end},
  {"C5", "reports named keys with old and new value", function(D, t)
    local dictionary = D.make {a = 1, b = 2, c = 3}
    local log = {}
    obs.observe_keys(dictionary, {"a", "b", "d"}, function(key, old, new, collection)
      assert(collection == dictionary)
      log[#log + 1] = ("%s %s %s"):format(key, old, new)
    end)
    D.set(dictionary, "c", 9)
    obs.flush()
    D.set(dictionary, "d", 4)
    D.set(dictionary, "a", 5)
    D.set(dictionary, "a", 6)
    obs.flush()
    D.set(dictionary, "b", nil)
    D.set(dictionary, "a", 7)
    D.set(dictionary, "a", 6)
    obs.flush()
    t.eq(table.concat(log, "; "), "a 1 6; d nil 4; b 2 nil")
  end},
}
