-- Each library function that accesses a table directly.
local raw, show = require "rawaccess", require "show"

-- The pairs that a C loop visits. Their order is free outside of the list part.
local function all(t)
  local count, keys, values = raw.all(t)
  local pairs_seen = {}
  for i = 1, count do pairs_seen[keys[i]] = values[i] end
  return count, pairs_seen, keys[1]
end

local class = { __index = { inherited = 1 }, __tostring = function() return "an object" end,
  __name = "Class", __len = function() return 42 end }
local t = O { 10, 20, 30, name = "Ada", [2.5] = "float", [true] = "yes" }
show("get", raw.get(t, 2), raw.get(t, "name"), raw.get(t, 2.5), raw.get(t, true), raw.get(t, "no"))
show("geti", raw.geti(t, 1), raw.geti(t, 3), raw.geti(t, 4))
show("len", raw.len(t), raw.len("text"), raw.len(O {}))
show("all", all(t))
show("set", raw.set(t, "name", "Grace") == t, t.name, raw.get(t, "name"))
show("new", raw.set(t, "new", 1) == t, t.new, raw.set(t, "new", nil) == t, t.new)
show("seti", raw.seti(t, 4, 40) == t, #t, raw.len(t), t[4])
show("shorter", raw.seti(t, 4, nil) == t, #t, raw.len(t))
show("pointer", raw.getp(t), raw.setp(t, "light") == t, raw.getp(t), raw.setp(t, nil) == t)
show("nil", pcall(raw.set, t, nil, 1))
show("NaN", pcall(raw.set, t, 0 / 0, 1))
show("metatable", raw.getmetatable(t), select("#", raw.getmetatable(t)))
show("set metatable", raw.setmetatable(t, class) == t, raw.getmetatable(t) == class)
show("its fields", t.inherited, raw.get(t, "inherited"), #t, raw.len(t), raw.text(t))
show("metafield", raw.field(t, "__name"), raw.field(t, "__pairs"))
show("given by a script", raw.getmetatable(setmetatable(O { 1 }, class)) == class)
show("taken away", raw.setmetatable(t, nil) == t, getmetatable(t), t.inherited, #t)

local bound, put = raw.bind(t)
put("bound", 5)
put("name", "Edsger")
show("upvalue", bound("name"), bound(1), t.bound)

local references = O { kind = "references" }
local first, second = raw.ref(references, "a"), raw.ref(references, "b")
raw.unref(references, first)
show("references", references[second], raw.ref(references, "c") == first, references[first])

local seen = {}
raw.each(t, function(key, value)
  seen[tostring(key)] = value
  -- Existing fields may be assigned, cleared and observed in a loop.
  if key == "name" then t.name = "changed" end
  if key == 2 then t[2] = nil end
  O(t)
end)
show("in a loop", seen, t)
show("filled", (raw.fill(t, "x", "y", "z", "w")), t[1], t[4], #t)
raw.push_front(t, "front")
show("shifted", table.concat(t, " "), all(O { 1, 2, 3 }))
raw.fill(t)
show("emptied", #t, raw.len(t))
show("class as metatable", (function()
  local metatable = O { __index = { a = 1 } }
  local object = O(setmetatable({}, metatable))
  local before = object.a
  raw.set(metatable, "__index", { a = 2 })
  return before, object.a
end)())
