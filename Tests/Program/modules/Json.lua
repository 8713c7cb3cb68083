local json, show = require "cjson", require "show"

local function same(value) return json.decode(json.encode(value)) end

show("list", json.encode(O { 1, 2.5, "three", true, false, json.null }))
show("empty", json.encode(O {}), same(O { a = {}, b = { {} } }))
show("object", same(O { name = "Ada", age = 36, tags = { "a", "b" }, nested = { deep = { 1 } } }))
show("numeric keys", same(O { [1] = "a", [3] = "c" }), same(O { [10] = "x", y = 1 }))
json.encode_sparse_array(true, 2, 3)
show("sparse", json.encode(O { [1] = "a", [4] = "d" }), same(O { [1] = "a", [50] = "z" }))
show("inner", same { outer = O { inner = { 1, 2, 3 } }, plain = { x = O { y = "z" } } })
show("shared", (function()
  local part = O { 1, 2 }
  return same { part, part, { part } }
end)())
local cycle = { 1 }
cycle[2] = cycle
show("cycle", pcall(json.encode, O(cycle)))
show("function", pcall(json.encode, O { print }))
show("bad key", pcall(json.encode, O { [true] = 1 }))
show("metatable", same(setmetatable(O { a = 1 }, { __index = { b = 2 } })))
local object = setmetatable({ a = 1 }, { __index = { b = 2 }, __len = function() return 7 end })
show("object of a class", same(O(object)), object.b, #object)
local big = {}
for i = 1, 500 do big[i] = { id = i, name = "n" .. i, flags = { i % 2 == 0 } } end
local text = json.encode(O(big))
show("many", #json.decode(text), json.decode(text)[500])
