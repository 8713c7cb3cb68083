-- C11: a public copy of a collection, taken at most once per change of it.
local obs = require "obs"

local folder = debug.getinfo(1, "S").source:match "^@(.*/)"
local checking = dofile(folder .. "../Support/checking.lua")
local check, counter, fails, eq = checking.check, checking.counter, checking.fails, checking.eq

local function texts(list)
  local all = {}
  for i = 1, #list do all[i] = tostring(list[i]) end
  return table.concat(all, " ")
end

for _, kind in ipairs {"array", "plain"} do
  local function make(list) return kind == "array" and obs.array(list) or list end
  local function copied(list)
    local object = {items = make(list)}
    obs.copy_of(object, "copy", "items")
    return object
  end

  check(kind .. ": the copy has the elements, and is another collection", function()
    local object = copied {1, 2, 3}
    eq(texts(object.copy), "1 2 3")
    assert(object.copy ~= object.items)
  end)
  check(kind .. ": it is the same until the collection changes", function()
    local object = copied {1, 2}
    local first = object.copy
    eq(object.copy, first)
    obs.flush()
    eq(object.copy, first)
    table.insert(object.items, 3)
    assert(object.copy ~= first)
    eq(texts(first), "1 2")
    eq(texts(object.copy), "1 2 3")
    -- At once, not at the end of the turn.
    object.items[1] = 7
    eq(texts(object.copy), "7 2 3")
    local second = object.copy
    object.items[1] = 7
    eq(object.copy, second)
  end)
  check(kind .. ": its watchers are called when the collection changed", function()
    local object = copied {1, 2}
    local n = counter(object, "copy")
    table.insert(object.items, 3)
    eq(n(), 1)
    table.insert(object.items, 4)
    table.insert(object.items, 5)
    eq(n(), 1)
    eq(n(), 0)
    eq(texts(object.copy), "1 2 3 4 5")
  end)
  check(kind .. ": a replaced collection gives another copy", function()
    local object = copied {1, 2}
    local n = counter(object, "copy")
    local old, first = object.items, object.copy
    object.items = make {5}
    eq(texts(object.copy), "5")
    eq(n(), 1)
    table.insert(old, 9)
    local second = object.copy
    eq(n(), 0)
    eq(object.copy, second)
    object.items = nil
    eq(object.copy, nil)
    eq(n(), 1)
    object.items = make {6, 7}
    eq(texts(object.copy), "6 7")
    eq(n(), 1)
    eq(texts(first), "1 2")
  end)
  check(kind .. ": the copy carries no observations, nor does it change the collection", function()
    local object = copied {1, 2}
    local calls = 0
    obs.observe(object.items, {"*", "#1"}, function() calls = calls + 1 end)
    pcall(table.insert, object.copy, 3)
    pcall(table.remove, object.copy, 1)
    obs.flush()
    eq(calls, 0)
    eq(texts(object.items), "1 2")
  end)
  check(kind .. ": it is read-only", function()
    local object = copied {1, 2}
    fails("read%-only", function() object.copy = {} end)
    eq(texts(object.copy), "1 2")
  end)
end

check("a set and a dictionary can be copied", function()
  local object = {set = obs.set_of {1, 2}, dictionary = obs.dictionary {a = 1}}
  obs.copy_of(object, "members", "set")
  obs.copy_of(object, "entries", "dictionary")
  local members, entries = object.members, object.entries
  object.set:add(3)
  object.dictionary.b = 2
  assert(object.members ~= members and object.entries ~= entries)
  eq(entries.b, nil)
  eq(object.entries.b, 2)
  eq(object.entries.a, 1)
end)
checking.finish()
