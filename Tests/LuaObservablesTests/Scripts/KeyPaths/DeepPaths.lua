-- Rule X1: `**` in a path.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/stories.lua")

story("X1: ** hears any change below, and of the object itself", [[
  local scene = { node = { child = { hp = 1 } }, list = { { hp = 1 } } }
  watch(scene, "**")
  scene.node.child.hp = 2                    --> 1
  scene.node.child.other = 2                 --> 1
  scene.list[1].hp = 2                       --> 1
  scene.title = "x"                          --> 1
  scene.node.child.hp, scene.title = 3, "y"  --> 1
  scene.title = "y"                          --> 0
]])
story("X1: added objects are followed, removed ones are not", [[
  local scene = {}
  watch(scene, "**")
  local child = { deep = { x = 1 } }
  scene.child = child  --> 1
  child.deep.x = 2     --> 1
  scene.child = nil    --> 1
  child.deep.x = 3     --> 0
  eq(#obs.observed_keys(child.deep), 0)
]])
story("X1: ** keeps no value that was replaced, after its flush", [[
  local scene, former = {}, setmetatable({}, { __mode = "k" })
  for i = 1, 100 do scene["key" .. i] = i end
  watch(scene, "**")
  scene.key1 = function() return former end
  former[scene.key1] = true  --> 1
  scene.key1 = 1             --> 1
  collectgarbage()
  eq(next(former), nil)
]])
story("X1: names behind ** are heard at any depth, the object itself included", [[
  local scene = { nodes = { hp = 1, a = { hp = 1, b = { hp = 1 } } } }
  watch(scene, "nodes.**.hp")
  scene.nodes.hp = 2        --> 1
  scene.nodes.a.b.hp = 2    --> 1
  scene.nodes.a.other = 2   --> 0
  scene.nodes.a.b.c = {}    --> 1
  scene.nodes.a.b.c.hp = 1  --> 1
  scene.nodes = {}          --> 1
  scene.other = {}          --> 0
]])
story("X1: an object that moves, or has two routes, is neither added nor removed", [[
  local child = { hp = 1 }
  local scene = { a = child, b = {} }
  watch(scene, "**.hp")
  scene.b.child = child                --> 0
  scene.a = nil                        --> 0
  child.hp = 2                         --> 1
  scene.b.child, scene.c = nil, child  --> 0
  child.hp = 3                         --> 1
  scene.c = nil                        --> 1
  child.hp = 4                         --> 0
]])
story("X1: cycles count once, and leave when nothing leads to them", [[
  local a, b = { hp = 1 }, { hp = 1 }
  a.next, b.next, a.self = b, a, a
  local scene = { a = a }
  scene.scene = scene
  local m = 0
  watch(scene, "**")
  obs.observe(scene, "**", function() m = m + 1 end, { immediate = true })
  b.hp = 2           --> 1
  eq(m, 1)
  scene.a = nil      --> 1
  a.hp, b.hp = 3, 3  --> 0
  eq(m, 2)
]])
story("X1: arrays, sets and dictionaries are traversed", [[
  local unit = { hp = 1 }
  local member = { hp = 1 }
  local scene = { array = obs.array { { hp = 1 } }, set = obs.set_of { member } }
  watch(scene, "**.hp")
  scene.array[1].hp = 2     --> 1
  member.hp = 2             --> 1
  scene.set:remove(member)  --> 1
  member.hp = 3             --> 0
  scene.array:append(unit)  --> 1
  unit.hp = 2               --> 1
  scene.array:move(1, 2)    --> 0
  scene.array:remove(1)     --> 1
  unit.hp = 3               --> 0
]])
story("X1: long lists are followed through their edits", [[
  local list = {}
  for i = 1, 200 do list[i] = { hp = i } end
  local scene = { list = list }
  watch(scene, "**.hp")
  local first = list[1]
  table.remove(list, 1)           --> 1
  first.hp = 0                    --> 0
  table.insert(list, 100, first)  --> 1
  first.hp = 1                    --> 1
  list[5] = 7                     --> 1
  list[200].hp = 7                --> 1
]])
story("X1: ** may be followed by count and slots", [[
  local scene = { a = obs.array {}, b = { c = obs.array {} } }
  watch(scene, "**.count")
  scene.b.c:append(1)  --> **.count
  scene.b.c[1] = 2     --> 0
  watch(scene, "**.#1")
  scene.b.c[1] = 3     --> **.#1
  scene.b.c:append(3)  --> **.count
]])
story("X1: C8 does not apply behind **", [[
  local scene = { list = obs.array { { hp = 1 } } }
  watch(scene, "**.hp")
  scene.list[1].hp = 2  --> 1
  scene.list:append(5)  --> 0
]])
story("X1: several ** are one path", [[
  local scene = { a = { items = { b = { price = 1 } } } }
  watch(scene, "**.items.**.price")
  scene.a.items.b.price = 2            --> 1
  scene.a.price = 2                    --> 0
  scene.a.items.price = 2              --> 1
  scene.c = { items = { price = 1 } }  --> 1
  scene.c.items.price = 2              --> 1
]])
story("X1: an object that leaves one ** and comes below another is heard", [[
  local child, made = { c = 1 }, {}
  local scene = { child = child }
  obs.computed(scene, "b", function() return made end)
  local _ = scene.b
  watch(scene, "**.b.**.c")
  made.child, scene.child = child, nil  --> 1
]])
story("X1: * and names may follow **", [[
  local scene = { a = { items = { { price = 1 } } } }
  watch(scene, "**.items.*.price")
  scene.a.items[1].price = 2        --> 1
  scene.a.items[2] = { price = 1 }  --> 1
  scene.a.items[2].price = 3        --> 1
  scene.a.items[2].name = 3         --> 0
]])
story("X1: computed values, inherited values and keys are not followed", [[
  local hidden, key = { hp = 1 }, { hp = 1 }
  local scene = setmetatable({ [key] = true }, { __index = { hidden = hidden } })
  obs.computed(scene, "made", function() return hidden end)
  assert(scene.made == hidden)
  scene[key] = { hp = 1 }
  watch(scene, "**")
  hidden.hp = 2       --> 0
  key.hp = 2          --> 0
  scene[key].hp = 2   --> 0
  scene[key] = false  --> 1
]])
story("X1: a computed property is not a change", [[
  local scene = { a = 1, model = {} }
  obs.computed(scene.model, "double", { "n" }, function(self) return (self.n or 0) * 2 end)
  watch(scene, "**")
  local _ = scene.model.double
  obs.invalidate(scene.model, "double")  --> 0
  scene.model.n = 2                      --> 1
]])
story("X1: an opaque object is a leaf, from the flush after it was marked", [[
  local cache = { data = { x = 1 } }
  local scene = { cache = cache }
  watch(scene, "**")
  eq(obs.opaque(cache), cache)
  cache.data.x = 2              --> 1
  cache.data.x, cache.y = 3, 2  --> 0
  eq(#obs.observed_keys(cache.data), 0)
  scene.cache = nil             --> 1
  scene.cache = cache           --> 1
  cache.y = 3                   --> 0
  -- As the root, it is watched one level.
  watch(cache, "**")
  cache.y = 4                   --> 1
  cache.data.x = 4              --> 0
  cache.other = { x = 1 }       --> 1
  cache.other.x = 2             --> 0
]])
check("X1: digits, operators and members behind ** are errors, as is reading", function()
  for _, case in ipairs {
    { "a.**.1", "'1'" }, { "**.@sum", "'@sum'" }, { "**.&x", "'&x'" },
  } do
    local message = fails("observe", function() obs.observe({}, case[1], nothing) end)
    assert(message:find("can follow '**'", 1, true) and message:find(case[2], 1, true), message)
  end
  has(fails("get", function() obs.get({ a = {} }, "a.**") end), "'**' matches many values")
end)
story("X1: a key named ** is escaped", [[
  local t = { ["**"] = 1, a = {} }
  watch(t, "\\**")
  t["**"] = 2  --> 1
  t.a.x = 2    --> 0
]])
story("X1: an object counts one observer for each watcher, and none after its end", [[
  local scene = { a = { b = { c = {} } } }
  local w = watch(scene, "**")
  eq(obs.observer_count(scene.a, "*"), 1)
  w:pause()
  scene.a.hp = 2
  scene.a.d = {}   --> 0
  w:resume()       --> 1
  scene.a.d.x = 1  --> 1
  w:stop()
  obs.flush()
  eq(#obs.observed_keys(scene) + #obs.observed_keys(scene.a.b.c), 0)
]])
story("X1: an immediate watcher hears each change, with key and values", [[
  local scene = { a = { hp = 1 } }
  watch(scene, "**.hp", { immediate = true })
  scene.a.hp = 2        --= **.hp: hp 1>2
  scene.b = { hp = 3 }  --= 1
  scene.b.hp = 4        --= **.hp: hp 3>4
  scene.a = nil         --= 1
]])
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
