-- Rule C11: public copies of private collections.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

local function list(values) return table.concat(values, " ") end
local function plain(t) return t end

for name, make in pairs { ["a plain list"] = plain, ["an obs.array"] = obs.array } do
  check(name .. ": taken at the read, once for each change", function()
    local t = { items = make { 1, 2 } }
    obs.copy_of(t, "public", "items")
    local first = t.public
    eq(list(first), "1 2")
    assert(first ~= t.items)
    eq(t.public, first)
    table.insert(t.items, 3)
    local second = t.public
    assert(second ~= first)
    eq(list(second), "1 2 3")
    eq(list(first), "1 2")
    eq(t.public, second)
    t.items[1] = t.items[1]
    eq(t.public, second)
    t.other = 1
    eq(t.public, second)
  end)
  check(name .. ": also where the whole is replaced, by nil too", function()
    local t = { items = make { 1 } }
    obs.copy_of(t, "public", "items")
    eq(#t.public, 1)
    local old = t.items
    t.items = make { 1, 2 }
    eq(#t.public, 2)
    table.insert(old, 9)
    eq(#t.public, 2)
    table.insert(t.items, 3)
    eq(#t.public, 3)
    t.items = nil
    eq(t.public, nil)
    t.items = make { 7 }
    eq(t.public[1], 7)
  end)
  check(name .. ": its watchers are called when the source changed, once", function()
    local t = { items = make { 1 } }
    obs.copy_of(t, "public", "items")
    local n = counter(t, "public")
    table.insert(t.items, 2)
    table.insert(t.items, 3)
    eq(n(), 1)
    eq(n(), 0)
    table.remove(t.items)
    eq(n(), 1)
    t.items = nil
    eq(n(), 1)
  end)
  check(name .. ": never stale, not even inside a batch", function()
    local t = { items = make { 1 } }
    obs.copy_of(t, "public", "items")
    obs.batch(function()
      eq(#t.public, 1)
      table.insert(t.items, 2)
      eq(#t.public, 2)
    end)
    local seen
    obs.observe(t.items, "*", function() seen = #t.public end, { immediate = true })
    table.insert(t.items, 3)
    eq(seen, 3)
  end)
end
check("the copy is of the same kind and independent", function()
  local t = { tags = obs.set_of { "a" }, stock = obs.dictionary { pen = 1, count = 2 } }
  obs.copy_of(t, "publicTags", "tags")
  obs.copy_of(t, "publicStock", "stock")
  eq(t.publicTags:contains "a", true)
  eq(t.publicStock.pen, 1)
  local tags, stock = t.publicTags, t.publicStock
  t.tags:add "c"
  t.stock.pen = 3
  eq(tags:contains "c", false)
  eq(stock.pen, 1)
  eq(t.publicTags.count, 2)
  eq(t.publicStock.pen, 3)
end)
check("the property is read-only", function()
  local t = { items = { 1 } }
  obs.copy_of(t, "public", "items")
  fails("Copies.lua:%d+: .*public.* read%-only", function() t.public = 1 end)
  eq(#t.public, 1)
end)
check("it shows as little as any other lazy property", function()
  local t = { items = { 1 } }
  obs.copy_of(t, "public", "items")
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  eq(list(keys), "items")
  eq(#obs.observed_keys(t), 0)
  eq(#obs.observed_keys(t.items), 0)
  eq(obs.stop(t), 0)
  table.insert(t.items, 2)
  eq(#t.public, 2)
end)
check("names with dots, and impossible names", function()
  local t = { ["a.b"] = { 1 } }
  obs.copy_of(t, "x", "a.b")
  table.insert(t["a.b"], 2)
  eq(#t.x, 2)
  fails("Copies.lua:%d+: bad argument #1 to 'copy_of'", function() obs.copy_of(3, "a", "b") end)
  fails("Copies.lua:%d+: bad argument #2 to 'copy_of'", function() obs.copy_of({}, nil, "b") end)
  fails("Copies.lua:%d+: bad argument #3 to 'copy_of'", function() obs.copy_of({}, "a") end)
  fails("itself", function() obs.copy_of({}, "a", "a") end)
  fails("arrays and sets", function() obs.copy_of(obs.array {}, "a", "b") end)
  fails("__index", function() obs.copy_of({}, "a", "__index") end)
end)
check("paths continue through the copy", function()
  local item = { name = "a" }
  local t = { items = { item } }
  obs.copy_of(t, "public", "items")
  local n = counter(t, "public.*.name")
  item.name = "b"
  eq(n(), 1)
  table.insert(t.items, { name = "c" })
  eq(n(), 1)
  t.items[2].name = "d"
  eq(n(), 1)
end)
check("L6: the copy keeps neither the object nor the collection alive", function()
  local t = { items = { {} } }
  obs.copy_of(t, "public", "items")
  local weak = setmetatable({ t, t.items, t.public, t.items[1] }, { __mode = "v" })
  t.items = nil
  collectgarbage()
  collectgarbage()
  eq(weak[2], nil)
  eq(weak[3], nil)
  eq(weak[4], nil)
  t = nil
  collectgarbage()
  collectgarbage()
  eq(weak[1], nil)
end)
check("a copy is read-only, whatever makes the attempt", function()
  local t = { items = { 3, 1 } }
  obs.copy_of(t, "public", "items")
  local copy = t.public
  local message = "a copy made by obs.copy_of is read%-only; change the original"
  fails(message, function() copy[3] = 1 end)
  fails(message, function() copy[1] = 2 end)
  fails(message, function() copy.name = 1 end)
  fails(message, rawset, copy, 1, 2)
  fails(message, table.insert, copy, 1)
  fails(message, table.remove, copy)
  fails(message, table.sort, copy)
  fails(message, table.move, copy, 1, 2, 2)
  fails(message, obs.clear, copy)
  fails(message, obs.assign, copy, { 1 })
  eq(list(copy), "3 1")
  eq(#copy, 2)
  t.items = obs.array { 3, 1 }
  copy = t.public
  for _, method in ipairs { "append", "remove_value" } do fails(message, copy[method], copy, 3) end
  for _, method in ipairs { "remove", "sort", "reverse", "clear" } do
    fails(message, copy[method], copy)
  end
  for _, method in ipairs { "insert", "replace", "move", "swap" } do
    fails(message, copy[method], copy, 1, 2)
  end
  fails(message, copy.set, copy, {})
  fails(message, function() copy[1] = 2 end)
  t.items = obs.set_of { 1 }
  copy = t.public
  for _, method in ipairs { "add", "remove" } do fails(message, copy[method], copy, 1) end
  for _, method in ipairs { "union", "intersect", "subtract" } do
    fails(message, copy[method], copy, {})
  end
  fails(message, copy.clear, copy)
  t.items = obs.dictionary { a = 1 }
  copy = t.public
  fails(message, function() copy.b = 1 end)
  fails(message, obs.clear, copy)
  eq(copy.a, 1)
end)
check("a copy stays read-only while watchers of it come and go", function()
  local t = { items = { { n = 1 } } }
  obs.copy_of(t, "public", "items")
  local copy = t.public
  local watcher = obs.observe(copy, "*.n", function() end)
  watcher:stop()
  obs.flush()
  fails("read%-only", function() copy[2] = 1 end)
  eq(copy[1].n, 1)
end)
check("C13: lazy keys are not part of the copy", function()
  local t = { items = { a = 1 } }
  obs.computed(t.items, "b", { "a" }, function(self) return self.a + 1 end)
  eq(t.items.b, 2)
  obs.copy_of(t, "public", "items")
  eq(t.public.a, 1)
  eq(t.public.b, nil)
end)
check("C13: the copy stays the same when lazy keys of the collection change", function()
  local t, other = { items = { a = 1 } }, { x = 1 }
  obs.computed(t.items, "b", { { other, "x" } }, function() return other.x end)
  eq(t.items.b, 1)
  obs.copy_of(t, "public", "items")
  local n = counter(t, "public")
  local copy = t.public
  other.x = 2
  eq(t.items.b, 2)
  eq(n(), 0)
  assert(rawequal(t.public, copy))
  t.items.c = 1
  eq(n(), 1)
  assert(not rawequal(t.public, copy))
end)

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
check("an immediate watcher hears an element's copy after another was replaced", function()
  local element, other = {}, {}
  element.items = obs.array { {}, element }
  obs.copy_of(element, "public", "items")
  local keys = {}
  obs.observe({ list = element.items }, "list.*.public.#1.*.x", function(_, _, change)
    keys[#keys + 1] = change.key
  end, { immediate = true })
  element.items:replace(1, other)
  eq(list(keys), "1")
  element.items = {}
  eq(list(keys), "1 public")
end)
finish()
