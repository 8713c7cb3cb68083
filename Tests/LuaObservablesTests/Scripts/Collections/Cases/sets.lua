-- C6: sets.

-- The members as text, sorted.
function members(set)
  local texts = {}
  for member in set:values() do
    texts[#texts + 1] = type(member) == "table" and member.name or tostring(member)
  end
  table.sort(texts)
  return table.concat(texts, " ")
end

return {
  {"C6", "is silent when a present member is added or an absent one removed", [[
    local set = A.make {"a", "b"}
    watch(set, "*")
    watch(set, "count")
    t.eq(set:add "a", false)
    set:remove "c"  --> 0
    t.eq(set:add "c", true)
                      --> *, count
    set:remove "a"  --> *, count
    t.eq(members(set), "b c")
    t.eq(set.count + #set, 4)
    t.eq(set:contains "b", true)
    t.eq(set:contains "a", false)
    set:remove "b"
    set:add "d"     --> *
  ]]},
  {"C6", "names a member, present or not", [[
    local set = A.make {"a"}
    local key = set:key_of "b"
    t.eq(key:sub(1, 1), "&")
    watch(set, key)
    set:add "c"     --> 0
    set:add "b"     --> 1
    t.eq(key, set:key_of "b")
    set:remove "a"  --> 0
    set:clear()     --> 1
  ]]},
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
      -- The keys can be used in paths.
      local n = t.watch({set = set}, "set." .. key)
      set:add(value)
      t.eq(n(), 1)
      t.eq(set:object_for(key), value)
      t.eq(set:key_of(value), key)
    end
    t.eq(set.count, #values)
  end},
  {"C6", "hears changes behind a member while it is in the set", [[
    local a, set = A.new {name = "a"}, A.make {}
    watch(set, set:key_of(a) .. ".name")
    a.name = "x"   --> 0
    set:add(a)     --> 1
    a.name = "y"   --> 1
    set:remove(a)  --> 1
    a.name = "z"   --> 0
  ]], only = "new"},
  {"C7", "hears a property of every member, also by its name alone", [[
    local a, b = A.new {name = "a", price = 1}, A.new {name = "b", price = 2}
    local set = A.make {a}
    for _, path in ipairs {"*.name", "name", "@sum.price"} do watch(set, path) end
    a.name = "x"   --> *.name, name
    set:add(b)     --> *.name, name, @sum.price
    b.name = "y"   --> *.name, name
    t.is(set, "@sum.price", 3)
    set:remove(a)  --> *.name, name, @sum.price
    a.name = "z"   --> 0
  ]], only = "new"},
  {"C6", "unites, intersects and subtracts in place, in one turn", [[
    local set = A.make {"a", "b", "c"}
    watch(set, "*")
    set:union(A.make {"c", "d"})           --> 1
    t.eq(members(set), "a b c d")
    set:intersect(A.make {"b", "c", "x"})  --> 1
    t.eq(members(set), "b c")
    set:subtract(A.make {"b", "y"})        --> 1
    t.eq(members(set), "c")
    set:union(A.make {"c"})
    set:intersect(A.make {"c", "d"})
    set:subtract(A.make {"x"})             --> 0
    set:union(set)
    set:intersect(set)
    t.eq(members(set), "c")
    set:subtract(set)
    t.eq(set.count, 0)
  ]]},
  {"C10", "reports its edits by member", [[
    local set = A.make {"a", "b"}
    obs.observe_edits(set, function(_, edits)
      for _, edit in ipairs(edits) do note(edit.kind, edit.at) end
    end)
    set:add "c"     --> insert c
    set:remove "a"  --> remove a
    set:add "x"
    set:remove "x"
    set:remove "b"
    set:add "b"     --> 0
  ]]},
  {"C5", "is made equal to another by writing only differences", [[
    local set = A.make {"a", "b"}
    for _, member in ipairs {"a", "c"} do watch(set, set:key_of(member), {name = member}) end
    obs.assign(set, {"a", "c"})  --> c
    t.eq(members(set), "a c")
  ]]},
  {"L7", "can be traversed by pairs", function(S, t)
    local set, seen = S.make {"a", "b"}, {}
    for member in pairs(set) do seen[#seen + 1] = member end
    table.sort(seen)
    t.eq(table.concat(seen, " "), "a b")
  end},
}
