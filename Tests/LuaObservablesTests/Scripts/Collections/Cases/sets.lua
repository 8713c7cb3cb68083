-- C6: sets.
local obs = require "obs"

-- The members as text, sorted.
local function members(set)
  local texts = {}
  for member in set:values() do
    texts[#texts + 1] = type(member) == "table" and member.name or tostring(member)
  end
  table.sort(texts)
  return table.concat(texts, " ")
end

return {
  {"C6", "is silent when a present member is added or an absent one removed", function(S, t)
    local set = S.make {"a", "b"}
    local n, size = t.watch(set, "*"), t.watch(set, "count")
    t.eq(set:add "a", false)
    set:remove "c"
    t.eq(n() + size(), 0)
    t.eq(set:add "c", true)
    t.eq(n(), 1)
    t.eq(size(), 1)
    set:remove "a"
    t.eq(n(), 1)
    t.eq(size(), 1)
    t.eq(members(set), "b c")
    t.eq(set.count, 2)
    t.eq(#set, 2)
    t.eq(set:contains "b", true)
    t.eq(set:contains "a", false)
  end},
  {"C6", "calls watchers of the size only if it has changed", function(S, t)
    local set = S.make {"a"}
    local n, size = t.watch(set, "*"), t.watch(set, "count")
    set:remove "a"
    set:add "b"
    t.eq(n(), 1)
    t.eq(size(), 0)
  end},
  {"C6", "names a member, present or not", function(S, t)
    local set = S.make {"a"}
    local key = set:key_of "b"
    t.eq(key:sub(1, 1), "&")
    t.eq(key, set:key_of "b")
    local n = t.watch(set, key)
    set:add "c"
    t.eq(n(), 0)
    set:add "b"
    t.eq(n(), 1)
    t.eq(key, set:key_of "b")
    set:remove "a"
    t.eq(n(), 0)
    set:clear()
    t.eq(n(), 1)
  end},
  {"C6", "has keys that do not collide, and returns their members", function(S, t)
    local set = S.make {}
    local seen = {}
    local values = {"", "1", "a.b", "a\\.b", "&", "true", "1.5", "\0", "nil", " ", "#1", "*", "é"}
    if S.is_mixed then
      for _, value in ipairs {1, 1.5, true, false, -1, math.huge, math.mininteger, set, print} do
        values[#values + 1] = value
      end
      for _ = 1, 100 do values[#values + 1] = {} end
    end
    for _, value in ipairs(values) do
      local key = set:key_of(value)
      assert(not seen[key], key)
      seen[key] = true
      set:add(value)
      t.eq(set:object_for(key), value)
      t.eq(set:key_of(value), key)
      -- The keys can be used in paths.
      t.watch(set, key)
      t.eq(t.watch({set = set}, "set." .. key)(), 0)
    end
    t.eq(set.count, #values)
  end},
  {"C6", "hears changes behind a member while it is in the set", function(S, t)
    local a = S.new {name = "a"}
    local set = S.make {}
    local n = t.watch(set, set:key_of(a) .. ".name")
    a.name = "x"
    t.eq(n(), 0)
    set:add(a)
    t.eq(n(), 1)
    a.name = "y"
    t.eq(n(), 1)
    set:remove(a)
    t.eq(n(), 1)
    a.name = "z"
    t.eq(n(), 0)
  end, only = "new"},
  {"C7", "hears a property of every member, also by its name alone", function(S, t)
    local a, b = S.new {name = "a", price = 1}, S.new {name = "b", price = 2}
    local set = S.make {a}
    local star, spread = t.watch(set, "*.name"), t.watch(set, "name")
    local sum = t.watch(set, "@sum.price")
    a.name = "x"
    t.eq(star() + spread(), 2)
    set:add(b)
    t.eq(star() + spread(), 2)
    b.name = "y"
    t.eq(star() + spread(), 2)
    t.eq(sum(), 1)
    t.is(set, "@sum.price", 3)
    set:remove(a)
    t.eq(star() + spread() + sum(), 3)
    a.name = "z"
    t.eq(star() + spread() + sum(), 0)
  end, only = "new"},
  {"C6", "unites, intersects and subtracts in place, in one turn", function(S, t)
    local set = S.make {"a", "b", "c"}
    local n = t.watch(set, "*")
    set:union(S.make {"c", "d"})
    t.eq(members(set), "a b c d")
    t.eq(n(), 1)
    set:intersect(S.make {"b", "c", "x"})
    t.eq(members(set), "b c")
    t.eq(n(), 1)
    set:subtract(S.make {"b", "y"})
    t.eq(members(set), "c")
    t.eq(n(), 1)
    set:union(S.make {"c"})
    set:intersect(S.make {"c", "d"})
    set:subtract(S.make {"x"})
    t.eq(n(), 0)
    set:union(set)
    set:intersect(set)
    t.eq(members(set), "c")
    set:subtract(set)
    t.eq(set.count, 0)
  end},
  {"C10", "reports its edits by member", function(S, t)
    local set = S.make {"a", "b"}
    local log = {}
    obs.observe_edits(set, function(_, edits)
      for _, edit in ipairs(edits) do log[#log + 1] = edit.kind .. " " .. tostring(edit.at) end
    end)
    set:add "c"
    obs.flush()
    set:remove "a"
    obs.flush()
    set:add "x"
    set:remove "x"
    set:remove "b"
    set:add "b"
    obs.flush()
    t.eq(table.concat(log, "; "), "insert c; remove a")
  end},
  {"C5", "is made equal to another by writing only differences", function(S, t)
    local set = S.make {"a", "b"}
    local a, c = t.watch(set, set:key_of "a"), t.watch(set, set:key_of "c")
    obs.assign(set, {"a", "c"})
    t.eq(a(), 0)
    t.eq(c(), 1)
    t.eq(members(set), "a c")
  end},
  {"L7", "can be traversed by pairs", function(S, t)
    local set, seen = S.make {"a", "b"}, {}
    for member in pairs(set) do seen[#seen + 1] = member end
    table.sort(seen)
    t.eq(table.concat(seen, " "), "a b")
  end},
}
