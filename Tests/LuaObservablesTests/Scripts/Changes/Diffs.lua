-- Rules X3 and X4, as a script sees them.
local obs = require "obs"
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
dofile(folder .. "Support/watching.lua")

local Point, shared = obs.model("DiffPoint", { x = 0 }), { n = 1 }
local leaf, twin = { n = 1 }, { n = 1 }
shared.self = shared
local lazy = { first = "A", last = "B" }
obs.computed(lazy, "full", { "first", "last" }, function(self) return self.first .. self.last end)
eq(lazy.full, "AB")

-- Two objects, and their difference.
for sentence, cases in pairs {
  ["X4: diff gives the keys that differ, in order"] = {
    { { a = 1, b = 2, c = 3 }, { a = 1, b = 5, d = 4 }, "set b 2>5, set c 3>nil, set d nil>4" },
    { { a = 1, b = { c = 2 } }, { a = 1, b = { c = 2 } }, "" }, { { a = 1 }, { a = 1.0 }, "" },
  },
  ["X4: elements of lists come as edits, one that went elsewhere as a move"] = {
    { { 1, 2, 3 }, { 1, 3 }, "remove 2 2" }, { { 1, 3 }, { 1, 2, 3 }, "insert 2 2" },
    { { 1, 2, 3 }, { 1, 5, 3 }, "set 2 2>5" },
    { obs.array { 1, 2, 3, 4 }, obs.array { 4, 1, 2, 3 }, "move 1 from 4" },
    { { { id = 1 }, { id = 2 } }, { { id = 0 }, { id = 1 }, { id = 2 } }, "insert 1 {id=0}" },
  },
  ["X2: a new object comes whole once, and by reference at its other paths"] = {
    { {}, { a = shared, b = shared }, "set a nil>{n=1}, set a.self nil>@@a, set b nil>@@a" },
  },
  ["X2: equal objects are a difference if only one tree shares them"] = {
    { { a = leaf, b = leaf }, { a = { n = 1 }, b = { n = 1 } }, "set b @@a>{n=1}" },
    { { a = { n = 1 }, b = { n = 1 } }, { a = leaf, b = leaf }, "set b {n=1}>@a" },
    { { a = leaf, b = leaf }, { a = twin, b = twin }, "" },
  },
  ["T5: the same values are no difference, and keys that are objects hold values"] = {
    { { a = 0 / 0, [leaf] = leaf }, { a = 0 / 0, [leaf] = leaf }, "" },
    { { a = 1, b = { [leaf] = leaf } }, { a = 2, b = { [leaf] = leaf } }, "set a 1>2" },
  },
  ["X2: members of sets are at the path of the set"] = {
    {
      { tags = obs.set_of { "x", "y" } }, { tags = obs.set_of { "y", "z" } },
      'remove tags "x", insert tags "z"',
    },
  },
  ["X2: collections come with their type, instances with their model"] = {
    { {}, { a = obs.array { 1 } }, "set a nil>{1} as array" },
    { {}, { a = obs.dictionary { k = 1 } }, "set a nil>{k=1} as dictionary" },
    { {}, { a = Point { x = 2 } }, "set a nil>{x=2} as DiffPoint" },
    { {}, { a = obs.set_of { 1 } }, "set a nil>{1} as set" },
  },
  ["C13: lazy keys are no part of a difference"] = {
    { lazy, { first = "A", last = "B" }, "" },
    { lazy, { first = "A", last = "B", full = "AB" }, 'set full nil>"AB"' },
    -- The number of stored keys is the same.
    { { first = "A", full = "AB" }, lazy, 'set full "AB">nil, set last nil>"B"' },
  },
} do
  check(sentence, function()
    for _, case in ipairs(cases) do eq(spell(obs.diff(case[1], case[2])), case[3]) end
  end)
end

story("X3: changes are applied as the writes of one turn", [[
  local t = { a = 1, b = { 1, 2, 3 } }
  watch(t, { "a", "b.#1", "b.*" })
  local immediate = 0
  obs.observe(t, "a", function() immediate = immediate + 1 end, { immediate = true })
  eq(obs.apply(t, obs.diff(t, { a = 2, b = { 0, 1, 3 } })), 0)  --> 1
  eq(immediate, 1)
  eq(text(t), "{a=2 b={0 1 3}}")
]])
check("X3: a change that does not fit is named, and nothing is applied", function()
  local t = { a = 1, list = { 1, 2 }, set = obs.set_of { "x" }, array = obs.array { 1, 2 } }
  for _, case in ipairs {
    { { path = { "array", 1 }, kind = "set", old = 1 }, "nil at position 1 would leave a hole" },
    { { path = { "array", 4 }, kind = "set", new = 1 }, "position 4 is out of range" },
    { { path = { "a" }, kind = "set", old = 5, new = 6 },
      "change 2 %(set a%) does not fit: 5 was" },
    { { path = { "a" }, kind = "set", new = 6 }, "nothing was there, now it is 1" },
    { { path = { "x", "y" }, kind = "set", new = 6 }, "there is no object at 'x'" },
    { { path = { "list", 4 }, kind = "insert", new = 6 },
      "position 4 is out of range, the list has 1" },
    { { path = { "list", 1 }, kind = "remove", old = 1 }, "1 was there, now it is 2" },
    { { path = { "list", 1 }, kind = "move", from = 3 }, "position 3 is out of range" },
    { { path = { "list", 1 }, kind = "move" }, "a move needs a position as 'from', not nothing" },
    { { path = { "set" }, kind = "insert", new = "x" }, "'x' is in the set already" },
    { { path = { "set" }, kind = "remove", old = "y" }, "'y' is not in the set" },
    { { path = { "b" }, kind = "set", ref = { "none" } }, "its ref, 'none', leads to no object" },
    { { path = { "b" }, kind = "set", ref = { after = { "b" } } },
      "its ref leads to no object: 'b'" },
    { { path = { "b" }, kind = "set", new = {}, model = "Nobody" },
      "there is no model 'Nobody' here" },
    { { path = { "b" }, kind = "put" },
      "its kind must be 'set', 'insert', 'remove' or 'move', not 'put'" },
    { { kind = "set" }, "its path must be a list of keys, not nothing" },
    { 7, "a table expected, got a number" },
    { { path = {}, kind = "set", new = 1 }, "its path is empty" },
  } do
    fails(case[2], obs.apply, t, { { path = { "list", 1 }, kind = "remove", old = 1 }, case[1] })
    eq(text(t.list), "{1 2}")
    eq(t.a, 1)
  end
end)
check("X3: a failed write takes the earlier writes back", function()
  local t = { a = 1, list = { 1, 2 } }
  obs.lazy(t, "size", { get = function() return 1 end, readonly = true })
  fails("change 3 %(set size%) does not fit: .*'size' is read%-only", obs.apply, t, {
    { path = { "a" }, kind = "set", old = 1, new = 2 },
    { path = { "list", 1 }, kind = "remove", old = 1 },
    { path = { "size" }, kind = "set", new = 2 },
  })
  eq(t.a, 1)
  eq(text(t.list), "{1 2}")
end)
check("X3: with force, changes that do not fit are skipped and counted", function()
  local t = { a = 1 }
  eq(obs.apply(t, {
    { path = { "a" }, kind = "set", old = 5, new = 6 },
    { path = { "b" }, kind = "set", new = 2 },
    { path = { "c" }, kind = "set", ref = { after = { "d" } } },
  }, { force = true }), 2)
  eq(text(t), "{a=1 b=2}")
  fails("unknown option 'fource' %(did you mean 'force'%?%)", obs.apply, t, {}, { fource = true })
end)
check("X3: a change with two misfits is skipped once", function()
  local change = { path = { "a" }, kind = "set", ref = { "nowhere" } }
  change.old_ref = { after = { "b" } }
  eq(obs.apply({ a = {} }, { change }, { force = true }), 1)
end)
check("X3: references are resolved before the first write, so values can be swapped", function()
  local x, y = { n = 1 }, { n = 2 }
  local t = { a = x, b = y }
  obs.apply(t, {
    { path = { "a" }, kind = "set", old_ref = { "a" }, ref = { "b" } },
    { path = { "b" }, kind = "set", old_ref = { "b" }, ref = { "a" } },
  })
  eq(t.a, y)
  eq(t.b, x)
end)
check("X3: an instance comes with its model and its undeclared keys", function()
  local M = obs.model("Marked", { a = 1 })
  for _, key in ipairs { "other", 7, true } do
    local t, twin, changes = {}, {}, nil
    obs.changes(t, function(_, found) changes = found end)
    t.m = M {}
    t.m[key] = 5
    obs.flush()
    obs.apply(twin, changes)
    eq(twin.m[key], 5)
    eq(twin.m.a, 1)
    eq(getmetatable(twin.m), getmetatable(t.m))
    obs.merge(twin.m, { a = 2, [key] = 6 })
    eq(twin.m[key], 6)
    eq(twin.m.a, 2)
  end
end)
check("X4: diff compares only objects of the same kind", function()
  fails("%(an array expected", obs.diff, obs.array(), {})
  fails("%(a set expected", obs.diff, obs.set_of(), {})
  fails("%(a dictionary expected", obs.diff, obs.dictionary(), {})
  fails("%(a table that is not a collection expected", obs.diff, {}, obs.array())
end)
check("X3: apply and invert copy the given data", function()
  local changes = { { path = { "a" }, kind = "set", new = { list = { 1 } } } }
  local t, back = {}, obs.invert(changes)
  obs.apply(t, changes)
  changes[1].new.list[1] = 2
  eq(t.a.list[1], 1)
  eq(back[1].old.list[1], 1)
end)
check("X3: invert reverses each change, and their order", function()
  eq(text(obs.invert {
    { path = { "l", 1 }, kind = "insert", new = 1 },
    { path = { "l", 3 }, kind = "move", from = 1 },
    { path = { "a" }, kind = "set", old = 1, new = 2 },
  }), '{{kind="set" new=1 old=2 path={"a"}} {from=3 kind="move" path={"l" 1}}'
    .. ' {kind="remove" old=1 path={"l" 1}}}')
  fails("change 1: a table expected, got a number", obs.invert, { 1 })
  fails("bad argument #1 to 'invert' %(list of changes expected, got no value%)", obs.invert)
  local change = { path = { "a" }, kind = "set", new = 1 }
  fails("bad argument #2 to 'apply' %(list of changes expected, got one change%)", obs.apply, {},
    change)
  fails("list of changes expected, got a table with the key 'changes'", obs.apply, {},
    { changes = {} })
  fails("bad argument #1 to 'invert' %(list of changes expected, got one change%)", obs.invert,
    change)
end)

check("X4: merge makes a tree equal with the fewest writes, and keeps its objects", function()
  local server = { name = "a", port = 80 }
  local config = { server = server, paths = { "x", "y", "z" }, old = true }
  local writes = {}
  for _, object in ipairs { config, server, config.paths } do
    obs.observe(object, "*", function(_, _, change) writes[#writes + 1] = tostring(change.key) end,
      { immediate = true })
  end
  obs.batch(nothing)
  obs.merge(config, { server = { name = "a", port = 81 }, paths = { "x", "y", "z" } })
  eq(config.server, server)
  eq(server.port, 81)
  eq(config.old, nil)
  table.sort(writes)
  eq(table.concat(writes, " "), "old port")
end)
check("X4: merge matches elements by a key", function()
  local a, b = { id = 1, n = 1 }, { id = 2, n = 1 }
  local t = { list = { a, b } }
  obs.merge(t, { list = { { id = 2, n = 5 }, { id = 3 }, { id = 1, n = 1 } } }, { key = "id" })
  eq(t.list[1], b)
  eq(t.list[3], a)
  eq(b.n, 5)
  eq(text(t), "{list={{id=2 n=5} {id=3} {id=1 n=1}}}")
end)
check("X4: merge makes many edits of a list at once", function()
  local t, data, kept = { list = { name = "a" } }, { list = { name = "b" } }, {}
  for i = 1, 100 do t.list[i] = { id = i } end
  for i = 100, 1, -3 do
    kept[#kept + 1], data.list[#data.list + 1] = t.list[i], { id = i }
  end
  local before = text(t)
  local ok = obs.transaction({ t }, function()
    obs.merge(t, data, { key = "id" })
    eq(text(t), text(data))
    for i, element in ipairs(kept) do eq(t.list[i], element) end
    error "taken back"
  end)
  eq(ok, false)
  eq(text(t), before)
end)
check("X4: merge matches elements without the key, or with a repeated one, by position", function()
  local data = { grid = { { 1, 2 }, { 3, 4 } }, list = { { id = 1 }, { id = 1 }, { n = 1 } } }
  local t = {}
  obs.merge(t, data, { key = "id" })
  local row, second, last = t.grid[1], t.list[2], t.list[3]
  data.grid[1][1], data.list[2].n, data.list[3].n = 5, 6, 7
  obs.merge(t, data, { key = "id" })
  eq(t.grid[1], row)
  eq(t.list[2], second)
  eq(t.list[3], last)
  eq(text(t), text(data))
end)
check("X4: merge with add_only keeps keys, members and elements that the data lacks", function()
  local server = { host = "a", port = 80, timeout = 5 }
  local t = { server = server, debug = true, paths = { "x", "y", "z" }, tags = obs.set_of { "a" } }
  local writes = {}
  for _, object in ipairs { t, server, t.paths, t.tags } do
    obs.observe(object, "*", function(_, _, change) writes[#writes + 1] = tostring(change.key) end,
      { immediate = true })
  end
  obs.batch(nothing)
  local data = {
    server = { port = 81, tls = {} }, paths = { "x", "q" }, tags = { "b" }, debug = false,
  }
  for _ = 1, 2 do obs.merge(t, data, { add_only = true }) end
  eq(t.server, server)
  eq(text(server), '{host="a" port=81 timeout=5 tls={}}')
  eq(text(t.paths), '{"x" "q" "z"}')
  eq(t.debug, false)
  eq(t.tags:contains "a" and t.tags:contains "b" and t.tags.count, 2)
  table.sort(writes)
  eq(table.concat(writes, " "), "2 b debug port")
end)
check("X4: merge with add_only and a key puts elements of the data before others", function()
  local a, b, c = { id = 1, n = 1 }, { id = 2, n = 2, extra = true }, { id = 3 }
  local t = { list = { a, b, c }, names = { "x", "y", "y" }, points = { { x = 1 } } }
  local data = {
    list = { { id = 4 }, { id = 2, n = 5 } }, names = { "y", "z" }, points = { { y = 2 } },
  }
  for _ = 1, 2 do obs.merge(t, data, { key = "id", add_only = true }) end
  eq(t.list[2], b)
  eq(t.list[3], a)
  eq(t.list[4], c)
  eq(text(t), '{list={{id=4} {extra=true id=2 n=5} {id=1 n=1} {id=3}} names={"y" "z" "x" "y"}'
    .. " points={{x=1 y=2}}}")
end)
check("X4: merge with add_only extends dictionaries and instances", function()
  local M = obs.model("Extended", { a = 1, b = 2 })
  local t = { d = obs.dictionary { one = 1 }, l = obs.array { { 1, 2 }, 3 }, m = M { a = 5 } }
  obs.merge(t, { d = { two = 2 }, l = { { 9 } }, m = { b = 7 } }, { add_only = true })
  eq(text(obs.raw(t)), "{d={one=1 two=2} l={{9 2} 3} m={a=5 b=7}}")
end)
check("X4: merge refuses unknown options", function()
  fails("unknown option 'addonly' %(did you mean 'add_only'%?%)", obs.merge, {}, {},
    { addonly = true })
end)
check("X4: merge copies the data, and leaves lazy keys alone", function()
  local t = { first = "A" }
  obs.computed(t, "twice", { "first" }, function(self) return self.first .. self.first end)
  local data = { first = "B", twice = "?", list = { { 1 } } }
  obs.merge(t, data)
  eq(t.twice, "BB")
  data.list[1][1] = 2
  eq(t.list[1][1], 1)
  fails("bad argument #2 to 'merge' %(table of plain data expected, got number%)", obs.merge, t, 1)
end)

finish()
