-- Rule C11: public copies of private collections.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/stories.lua")

function list(values) return table.concat(values, " ") end
local function plain(t) return t end

for kind, maker in pairs { ["a plain list"] = plain, ["an obs.array"] = obs.array } do
  -- An object with a collection and its copy.
  function copied(elements)
    local t = { items = make(elements) }
    obs.copy_of(t, "public", "items")
    return t
  end
  local function of_kind(sentence, text)
    make = maker
    story(kind .. ": " .. sentence, text)
  end
  of_kind("taken at the read, once for each change, as another collection", [[
    local t = copied { 1, 2 }
    local first = t.public
    eq(list(first), "1 2")
    assert(first ~= t.items)
    obs.flush()
    eq(t.public, first)
    table.insert(t.items, 3)
    local second = t.public
    eq(list(second), "1 2 3")
    eq(list(first), "1 2")
    t.items[1] = t.items[1]
    t.other = 1
    eq(t.public, second)
    -- At once, not at the end of the turn or batch.
    t.items[1] = 7
    eq(list(t.public), "7 2 3")
    obs.batch(function()
      table.insert(t.items, 4)
      eq(#t.public, 4)
    end)
    obs.observe(t.items, "*", function() note(#t.public) end, { immediate = true })
    table.insert(t.items, 3)  --= 5
  ]])
  of_kind("its watchers are called when the source changed or was replaced, once", [[
    local t = copied { 1 }
    watch(t, "public")
    table.insert(t.items, 2)
    table.insert(t.items, 3)  --> 1
                              --> 0
    table.remove(t.items)     --> 1
    local old, copy = t.items, t.public
    t.items = make { 5 }      --> 1
    eq(list(t.public), "5")
    table.insert(old, 9)      --> 0
    eq(list(t.public), "5")
    table.insert(t.items, 3)  --> 1
    t.items = nil             --> 1
    eq(t.public, nil)
    t.items = make { 6, 7 }   --> 1
    eq(list(t.public), "6 7")
    eq(list(copy), "1 2")
  ]])
  of_kind("attempts to change the copy do not change the collection", [[
    local t = copied { 1, 2 }
    watch(t.items, { "*", "#1" })
    pcall(table.insert, t.public, 3)
    pcall(table.remove, t.public, 1)  --> 0
    eq(list(t.items), "1 2")
    fails("Copies.lua:%d+: .*public.* read%-only", function() t.public = 1 end)
    eq(list(t.public), "1 2")
  ]])
end
check("the copy is of the same kind and independent", function()
  local t = { tags = obs.set_of { "a" }, stock = obs.dictionary { pen = 1, count = 2 } }
  obs.copy_of(t, "publicTags", "tags")
  obs.copy_of(t, "publicStock", "stock")
  eq(t.publicTags:contains "a", true)
  eq(t.publicStock.pen, 1)
  local tags, stock = t.publicTags, t.publicStock
  t.tags:add "c"
  t.stock.pen, t.stock.ink = 3, 2
  eq(tags:contains "c", false)
  eq(stock.pen, 1)
  eq(stock.ink, nil)
  eq(t.publicTags.count, 2)
  eq(t.publicStock.pen + t.publicStock.ink, 5)
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
  for _, case in ipairs {
    { "bad argument #1 to 'copy_of'", 3, "a", "b" }, { "bad argument #3 to 'copy_of'", {}, "a" },
    { "bad argument #2 to 'copy_of'", {}, nil, "b" }, { "itself", {}, "a", "a" },
    { "arrays and sets", obs.array {}, "a", "b" },
    { "__index", {}, "a", "__index" },
  } do
    local message = fails(case[1], function() obs.copy_of(case[2], case[3], case[4]) end)
    if case[1]:find "^bad" then has(message, "Copies.lua:") end
  end
end)
story("paths continue through the copy", [[
  local item = { name = "a" }
  local t = { items = { item } }
  obs.copy_of(t, "public", "items")
  watch(t, "public.*.name")
  item.name = "b"                        --> 1
  table.insert(t.items, { name = "c" })  --> 1
  t.items[2].name = "d"                  --> 1
]])
check("L6: the copy keeps neither the object nor the collection alive", function()
  local t = { items = { {} } }
  obs.copy_of(t, "public", "items")
  local weak = setmetatable({ t, t.items, t.public, t.items[1] }, { __mode = "v" })
  t.items = nil
  collectgarbage()
  collectgarbage()
  eq(weak[2] or weak[3] or weak[4], nil)
  t = nil
  collectgarbage()
  collectgarbage()
  eq(weak[1], nil)
end)
check("a copy is read-only, whatever makes the attempt", function()
  local copy
  local function refused(f, ...)
    fails("a copy made by obs.copy_of is read%-only; change the original", f, ...)
  end
  local function assign(key, value) copy[key] = value end
  local t = { items = { 3, 1 } }
  obs.copy_of(t, "public", "items")
  copy = t.public
  refused(assign, 3, 1)
  refused(assign, 1, 2)
  refused(assign, "name", 1)
  refused(rawset, copy, 1, 2)
  refused(table.insert, copy, 1)
  for _, f in ipairs { table.remove, table.sort, obs.clear } do refused(f, copy) end
  refused(table.move, copy, 1, 2, 2)
  refused(obs.assign, copy, { 1 })
  eq(list(copy), "3 1")
  -- Methods with their arguments.
  for _, case in ipairs {
    { obs.array { 3, 1 }, append = { 3 }, remove_value = { 3 }, remove = {}, sort = {},
      reverse = {}, clear = {}, insert = { 1, 2 }, replace = { 1, 2 }, move = { 1, 2 },
      swap = { 1, 2 }, set = { {} } },
    { obs.set_of { 1 }, add = { 1 }, remove = { 1 }, union = { {} }, intersect = { {} },
      subtract = { {} }, clear = {} },
  } do
    t.items = table.remove(case, 1)
    copy = t.public
    for method, arguments in pairs(case) do refused(copy[method], copy, table.unpack(arguments)) end
  end
  t.items = obs.array { 1 }
  copy = t.public
  refused(assign, 1, 2)
  t.items = obs.dictionary { a = 1 }
  copy = t.public
  refused(assign, "b", 1)
  refused(obs.clear, copy)
  eq(copy.a, 1)
  -- The same while watchers of the copy come and go.
  t.items = { { n = 1 } }
  copy = t.public
  obs.observe(copy, "*.n", nothing):stop()
  obs.flush()
  refused(assign, 2, 1)
  eq(copy[1].n, 1)
end)
story("C13: lazy keys are not part of the copy, and their changes do not replace it", [[
  local t, other = { items = { a = 1 } }, { x = 1 }
  obs.computed(t.items, "b", { { other, "x" } }, function() return other.x end)
  eq(t.items.b, 1)
  obs.copy_of(t, "public", "items")
  watch(t, "public")
  local copy = t.public
  eq(copy.a, 1)
  eq(copy.b, nil)
  other.x = 2
  eq(t.items.b, 2)  --> 0
  assert(rawequal(t.public, copy))
  t.items.c = 1     --> 1
  assert(not rawequal(t.public, copy))
]])
story("an immediate watcher hears an element's copy after another was replaced", [[
  local element = {}
  element.items = obs.array { {}, element }
  obs.copy_of(element, "public", "items")
  obs.observe({ list = element.items }, "list.*.public.#1.*.x", function(_, _, change)
    note(change.key)
  end, { immediate = true })
  element.items:replace(1, {})  --= 1
  element.items = {}            --= public
]])

finish()
