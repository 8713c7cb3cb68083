-- Rule X1: `**` in a path.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

-- The number of calls of the watcher caused by `body`.
local function calls(n, body)
  obs.flush()
  body()
  return n()
end

check("X1: ** hears any change below, and of the object itself", function()
  local scene = { node = { child = { hp = 1 } }, list = { { hp = 1 } } }
  local n = counter(scene, "**")
  eq(calls(n, function() scene.node.child.hp = 2 end), 1)
  eq(calls(n, function() scene.node.child.other = 2 end), 1)
  eq(calls(n, function() scene.list[1].hp = 2 end), 1)
  eq(calls(n, function() scene.title = "x" end), 1)
  eq(calls(n, function() scene.node.child.hp, scene.title = 3, "y" end), 1)
  eq(calls(n, function() scene.title = "y" end), 0)
end)
check("X1: added objects are followed, removed ones are not", function()
  local scene = {}
  local n = counter(scene, "**")
  local child = { deep = { x = 1 } }
  eq(calls(n, function() scene.child = child end), 1)
  eq(calls(n, function() child.deep.x = 2 end), 1)
  eq(calls(n, function() scene.child = nil end), 1)
  eq(calls(n, function() child.deep.x = 3 end), 0)
  eq(#obs.observed_keys(child.deep), 0)
end)
check("X1: names behind ** are heard at any depth, the object itself included", function()
  local scene = { nodes = { hp = 1, a = { hp = 1, b = { hp = 1 } } } }
  local n = counter(scene, "nodes.**.hp")
  eq(calls(n, function() scene.nodes.hp = 2 end), 1)
  eq(calls(n, function() scene.nodes.a.b.hp = 2 end), 1)
  eq(calls(n, function() scene.nodes.a.other = 2 end), 0)
  eq(calls(n, function() scene.nodes.a.b.c = {} end), 1)
  eq(calls(n, function() scene.nodes.a.b.c.hp = 1 end), 1)
  eq(calls(n, function() scene.nodes = {} end), 1)
  eq(calls(n, function() scene.other = {} end), 0)
end)
check("X1: an object that moves, or has two routes, is neither added nor removed", function()
  local child = { hp = 1 }
  local scene = { a = child, b = {} }
  local n = counter(scene, "**.hp")
  eq(calls(n, function() scene.b.child = child end), 0)
  eq(calls(n, function() scene.a = nil end), 0)
  eq(calls(n, function() child.hp = 2 end), 1)
  eq(calls(n, function() scene.b.child, scene.c = nil, child end), 0)
  eq(calls(n, function() child.hp = 3 end), 1)
  eq(calls(n, function() scene.c = nil end), 1)
  eq(calls(n, function() child.hp = 4 end), 0)
end)
check("X1: cycles count once, and leave when nothing leads to them", function()
  local a, b = { hp = 1 }, { hp = 1 }
  a.next, b.next, a.self = b, a, a
  local scene = { a = a }
  scene.scene = scene
  local n, m = counter(scene, "**"), 0
  obs.observe(scene, "**", function() m = m + 1 end, { immediate = true })
  eq(calls(n, function() b.hp = 2 end), 1)
  eq(m, 1)
  eq(calls(n, function() scene.a = nil end), 1)
  eq(calls(n, function() a.hp, b.hp = 3, 3 end), 0)
  eq(m, 2)
end)
check("X1: arrays, sets and dictionaries are traversed", function()
  local unit = { hp = 1 }
  local member = { hp = 1 }
  local scene = { array = obs.array { { hp = 1 } }, set = obs.set_of { member } }
  local n = counter(scene, "**.hp")
  eq(calls(n, function() scene.array[1].hp = 2 end), 1)
  eq(calls(n, function() member.hp = 2 end), 1)
  eq(calls(n, function() scene.set:remove(member) end), 1)
  eq(calls(n, function() member.hp = 3 end), 0)
  eq(calls(n, function() scene.array:append(unit) end), 1)
  eq(calls(n, function() unit.hp = 2 end), 1)
  eq(calls(n, function() scene.array:move(1, 2) end), 0)
  eq(calls(n, function() scene.array:remove(1) end), 1)
  eq(calls(n, function() unit.hp = 3 end), 0)
end)
check("X1: long lists are followed through their edits", function()
  local list = {}
  for i = 1, 200 do list[i] = { hp = i } end
  local scene = { list = list }
  local n = counter(scene, "**.hp")
  local first = list[1]
  eq(calls(n, function() table.remove(list, 1) end), 1)
  eq(calls(n, function() first.hp = 0 end), 0)
  eq(calls(n, function() table.insert(list, 100, first) end), 1)
  eq(calls(n, function() first.hp = 1 end), 1)
  eq(calls(n, function() list[5] = 7 end), 1)
  eq(calls(n, function() list[200].hp = 7 end), 1)
end)
check("X1: ** may be followed by count and slots", function()
  local scene = { a = obs.array {}, b = { c = obs.array {} } }
  local n = counter(scene, "**.count")
  eq(calls(n, function() scene.b.c:append(1) end), 1)
  eq(calls(n, function() scene.b.c[1] = 2 end), 0)
  local m = counter(scene, "**.#1")
  eq(calls(m, function() scene.b.c[1] = 3 end), 1)
  eq(calls(m, function() scene.b.c:append(3) end), 0)
end)
check("X1: C8 does not apply behind **", function()
  local scene = { list = obs.array { { hp = 1 } } }
  local n = counter(scene, "**.hp")
  eq(calls(n, function() scene.list[1].hp = 2 end), 1)
  eq(calls(n, function() scene.list:append(5) end), 0)
end)
check("X1: several ** are one path", function()
  local scene = { a = { items = { b = { price = 1 } } } }
  local n = counter(scene, "**.items.**.price")
  eq(calls(n, function() scene.a.items.b.price = 2 end), 1)
  eq(calls(n, function() scene.a.price = 2 end), 0)
  eq(calls(n, function() scene.a.items.price = 2 end), 1)
  eq(calls(n, function() scene.c = { items = { price = 1 } } end), 1)
  eq(calls(n, function() scene.c.items.price = 2 end), 1)
end)
check("X1: an object that leaves one ** and comes below another is heard", function()
  local child, made = { c = 1 }, {}
  local scene = { child = child }
  obs.computed(scene, "b", function() return made end)
  local _ = scene.b
  local n = counter(scene, "**.b.**.c")
  eq(calls(n, function() made.child, scene.child = child, nil end), 1)
end)
check("X1: * and names may follow **", function()
  local scene = { a = { items = { { price = 1 } } } }
  local n = counter(scene, "**.items.*.price")
  eq(calls(n, function() scene.a.items[1].price = 2 end), 1)
  eq(calls(n, function() scene.a.items[2] = { price = 1 } end), 1)
  eq(calls(n, function() scene.a.items[2].price = 3 end), 1)
  eq(calls(n, function() scene.a.items[2].name = 3 end), 0)
end)
check("X1: computed values, inherited values and keys are not followed", function()
  local hidden, key = { hp = 1 }, { hp = 1 }
  local scene = setmetatable({ [key] = true }, { __index = { hidden = hidden } })
  obs.computed(scene, "made", function() return hidden end)
  assert(scene.made == hidden)
  scene[key] = { hp = 1 }
  local n = counter(scene, "**")
  eq(calls(n, function() hidden.hp = 2 end), 0)
  eq(calls(n, function() key.hp = 2 end), 0)
  eq(calls(n, function() scene[key].hp = 2 end), 0)
  eq(calls(n, function() scene[key] = false end), 1)
end)
check("X1: a computed property is not a change", function()
  local scene = { a = 1, model = {} }
  obs.computed(scene.model, "double", { "n" }, function(self) return (self.n or 0) * 2 end)
  local n = counter(scene, "**")
  local _ = scene.model.double
  eq(calls(n, function() obs.invalidate(scene.model, "double") end), 0)
  eq(calls(n, function() scene.model.n = 2 end), 1)
end)
check("X1: an opaque object is a leaf", function()
  local cache = obs.opaque { data = { x = 1 } }
  local scene = { cache = cache }
  local n = counter(scene, "**")
  eq(calls(n, function() cache.data.x = 2 end), 0)
  eq(calls(n, function() cache.y = 2 end), 0)
  eq(calls(n, function() scene.cache = nil end), 1)
  eq(calls(n, function() scene.cache = cache end), 1)
  eq(calls(n, function() cache.y = 3 end), 0)
end)
check("X1: marking an object takes effect at the next flush", function()
  local cache = { data = { x = 1 } }
  local scene = { cache = cache }
  local n = counter(scene, "**")
  eq(calls(n, function()
    eq(obs.opaque(cache), cache)
    cache.data.x = 2
  end), 1)
  eq(calls(n, function() cache.data.x = 3 end), 0)
  eq(#obs.observed_keys(cache.data), 0)
end)
check("X1: an opaque root is watched one level", function()
  local root = obs.opaque { child = { x = 1 }, y = 1 }
  local n = counter(root, "**")
  eq(calls(n, function() root.y = 2 end), 1)
  eq(calls(n, function() root.child.x = 2 end), 0)
  eq(calls(n, function() root.other = { x = 1 } end), 1)
  eq(calls(n, function() root.other.x = 2 end), 0)
end)
check("X1: digits, operators and members behind ** are errors, as is reading", function()
  for _, case in ipairs {
    { "a.**.1", "'1'" }, { "**.@sum", "'@sum'" }, { "**.&x", "'&x'" },
  } do
    local message = fails("observe", function() obs.observe({}, case[1], nothing) end)
    assert(message:find("can follow '**'", 1, true) and message:find(case[2], 1, true), message)
  end
  has(fails("get", function() obs.get({ a = {} }, "a.**") end), "'**' matches many values")
end)
check("X1: a key named ** is escaped", function()
  local t = { ["**"] = 1, a = {} }
  local n = counter(t, "\\**")
  eq(calls(n, function() t["**"] = 2 end), 1)
  eq(calls(n, function() t.a.x = 2 end), 0)
end)
check("X1: stopping leaves nothing observed", function()
  local scene = { a = { b = { c = {} } } }
  local watcher = obs.observe(scene, "**", nothing)
  assert(#obs.observed_keys(scene.a.b) > 0)
  watcher:stop()
  obs.flush()
  eq(#obs.observed_keys(scene), 0)
  eq(#obs.observed_keys(scene.a.b.c), 0)
end)
check("X1: an object counts one observer for each watcher", function()
  local scene = { a = {} }
  obs.observe(scene, "**", nothing)
  eq(obs.observer_count(scene.a, "*"), 1)
end)
check("X1: an immediate watcher hears each change, with key and values", function()
  local scene = { a = { hp = 1 } }
  local heard = {}
  obs.observe(scene, "**.hp", function(_, _, change)
    heard[#heard + 1] = change.key
  end, { immediate = true })
  scene.a.hp = 2
  scene.b = { hp = 3 }
  scene.b.hp = 4
  scene.a = nil
  eq(table.concat(heard, " "), "hp b hp a")
end)
check("X1: paused and batched watchers are called once", function()
  local scene = { a = { hp = 1 } }
  local n = 0
  local watcher = obs.observe(scene, "**", function() n = n + 1 end)
  watcher:pause()
  scene.a.hp = 2
  scene.a.b = {}
  obs.flush()
  eq(n, 0)
  watcher:resume()
  obs.flush()
  eq(n, 1)
  scene.a.b.x = 1
  obs.flush()
  eq(n, 2)
end)
check("X1: a computed property may depend on everything below an object", function()
  local scene = { a = { hp = 1 }, list = {} }
  local runs = 0
  obs.computed(scene, "total", { "list.**.hp" }, function(self)
    runs = runs + 1
    local sum = 0
    for _, unit in ipairs(self.list) do sum = sum + unit.hp end
    return sum
  end)
  eq(scene.total, 0)
  scene.list[1] = { hp = 5 }
  eq(scene.total, 5)
  scene.list[1].hp = 6
  eq(scene.total, 6)
  eq(runs, 3)
end)

finish()
