-- Prints everything that follows from addresses, seeds and the memory in use.

local function print_pairs(t)
  local texts = {}
  for k, v in pairs(t) do texts[#texts + 1] = tostring(k) .. "=" .. tostring(v) end
  print(#texts, table.concat(texts, " "))
end

-- Values and their addresses.
print(print, {}, print_pairs, coroutine.create(print), io.stdout, coroutine.running())
print(string.format("%p %p", print, "a string of more than forty bytes, which is never shared"))

-- Keys of all kinds, among them functions of C.
local keys = { [true] = 1, [1.5] = 2 }
for i = 1, 100 do
  keys["key" .. i] = i
  keys[{}] = i
  keys[function() return i end] = i
end
for _, library in ipairs { _G, string, table, math, io, os, debug, coroutine, utf8, package } do
  for name, value in pairs(library) do keys[value] = name end
end
print_pairs(keys)
print_pairs(debug.getregistry())

-- Random numbers.
print(math.random(), math.random(1 << 40), math.randomseed)
print(math.randomseed())
print(math.random(), pcall(math.randomseed, {}))

-- Weak tables, and the order of finalizers.
local ended, weak = {}, setmetatable({}, { __mode = "k" })
local finalized = { __gc = function(object) ended[#ended + 1] = object[1] end }
for i = 1, 20000 do
  local object = setmetatable({ i }, finalized)
  if i % 100 == 0 then weak[object] = i end
end
print_pairs(weak)
collectgarbage()
print(table.concat(ended, " "))

-- Memory: many objects, large blocks, long strings with the same C string.
print(collectgarbage "count")
local objects = {}
for i = 1, 100000 do objects[i] = { i } end
print(collectgarbage "count", objects[1], objects[100000])
objects = nil
for i = 1, 300 do
  load("return 'a chunk whose name, which is its text, is longer than forty bytes' --" .. i % 3)()
  debug.getinfo(1, "S")
  os.getenv "PATH"
  assert(#("y"):rep(i * 500) == i * 500)
end
print(collectgarbage "count", collectgarbage(), collectgarbage "count")
print(string.format("%p", ("abc"):rep(1000000)))

-- Modules in C, as far as they are installed.
local modules = { "cjson", "lpeg", "lfs", "socket", "lxp", "zlib", "luasql.sqlite3" }
for _, name in ipairs(modules) do
  local found, module = pcall(require, name)
  if found then
    local functions = {}
    for key, value in pairs(module) do functions[value] = key end
    print(name, module)
    print_pairs(functions)
  end
end

-- Observed objects.
local obs = require "obs"
local root = { list = obs.array {}, set = obs.set_of {}, map = obs.dictionary {} }
for i = 1, 50 do
  local object = { name = "n" .. i, child = { value = i } }
  obs.observe(object, "child.value", function() io.write(i, " ") end)
  root.list:append(object)
  root.set:add(object)
  root.map["k" .. i] = object
end
for _, path in ipairs { "list.*.child.value", "set.*.name", "map.@sum.child.value" } do
  obs.observe(root, path, function() print(path) end)
end
for i = 50, 1, -3 do
  root.list[i].child = { value = -i }
  root.list[i].name = "m"
end
root.map.k7 = nil
obs.flush()
for object in pairs(root.set) do io.write(tostring(object), " ") end
print_pairs(root.map)
print(obs.describe(root))
print(obs.graph(root))
print_pairs(obs.stats())
print(debug.traceback "end")
obs.after(0, function() print(collectgarbage "count", {}) end)
