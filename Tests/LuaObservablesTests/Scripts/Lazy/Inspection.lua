-- Rule W2 for lazy properties: the output of `describe` and `graph`, which change nothing.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/examples.lua")

-- The output of `describe`, without the number or address of the table and the places.
function described(object)
  return (obs.describe(object):gsub("0x%x+", "ADDRESS"):gsub("#%d+", "#N")
    :gsub(" at [^\n]*:%d+", " at PLACE"))
end

function person(first, last)
  local t = { first = first, last = last }
  obs.computed(t, "full", { "first", "last" }, function(self)
    return self.first .. " " .. self.last
  end)
  obs.computed(t, "shout", function(self) return self.full:upper() end)
  return t
end

-- describe
check("W2: describe shows validity, dependencies and dependents of lazy properties", function()
  local t = person("Ada", "Lovelace")
  obs.lazy(t, "photo", function() return {} end)
  eq(described(t), [[
table #N is not observed, and has these keys:
  full (computed, invalid), declared at PLACE
    depends on: 'first', 'last'
  photo (lazy, invalid), declared at PLACE
  shout (computed, invalid), declared at PLACE
    depends on properties it will read]])
  obs.observe(t, "shout", nothing, { name = "poster" })
  eq(described(t), [[
table #N is observed:
  first
    'full' depends on it
  full (computed, valid), declared at PLACE
    depends on: 'first', 'last'
    'shout' depends on it
  last
    'full' depends on it
  photo (lazy, invalid), declared at PLACE
  shout (computed, valid), declared at PLACE
    depends on properties it read: 'full'
    poster on 'shout', registered at PLACE]])
  t.first = "Augusta"
  assert(described(t):find("full (computed, invalid)", 1, true))
end)
check("W2: it shows where a getter is declared", function()
  local t = { n = 1 }
  obs.computed(t, "twice", { "n" }, function(self) return 2 * self.n end); local twice = here()
  obs.lazy(t, "made", { create = function() return {} end }); local made = here()
  obs.copy_of(t, "copy", "list"); local copy = here()
  obs.backed(t, "stored", {}); local stored = here()
  local text = obs.describe(t)
  for name, place in pairs { twice = twice, made = made, copy = copy, stored = stored } do
    local found = text:match("  " .. name .. " %(%l+, invalid%), declared at ([^\n]+)")
    eq(found, place)
  end
end)
check("W2: it names the objects of dependencies that are rooted elsewhere", function()
  local settings = setmetatable({ zoom = 2 }, { __name = "Settings" })
  local view = setmetatable({ width = 3 }, { __name = "View" })
  obs.computed(view, "scaled", { { settings, "zoom" }, "width" },
    function(self) return self.width * settings.zoom end)
  eq(view.scaled, 6)
  eq(described(view), [[
View #N is not observed, and has these keys:
  scaled (computed, valid), declared at PLACE
    depends on: 'zoom' of Settings, 'width'
  width
    'scaled' depends on it]])
end)
example("W2: uncached properties, those of models before their use, and removed declarations", nil,
  [[
  local t, runs = { n = 1 }, 0
  obs.lazy(t, "now", { get = function(self) return self.n end, deps = { "n" }, cached = false })
  has(described(t), "now (computed, uncached)")
  local box = obs.model("Box", { side = 2, area = obs.computed({ "side" }, function(self)
    runs = runs + 1
    return self.side ^ 2
  end) }) {}
  has(described(box), "area (computed, invalid)")
  has(obs.graph(box), "area (invalid)")
  = runs                                --> 0
  t = person("Ada", "Lovelace")
  = t.shout                             --> ADA LOVELACE
  obs.forget(t)
  = described(t)                        --> table #N is not observed
]])

-- graph
local function invoice()
  local t = setmetatable({
    customer = { name = "Ada" },
    lines = obs.array { { amount = 3 }, { amount = 4 } },
    rate = 50,
  }, { __name = "Invoice" })
  obs.computed(t, "net", { "lines.@sum.amount" }, function(self)
    return obs.get(self, "lines.@sum.amount")
  end)
  obs.computed(t, "gross", function(self) return self.net * (100 + self.rate) // 100 end)
  obs.observe(t, { "gross", "customer.name" }, nothing, { name = "printer" })
  obs.observe(t.lines, "*", nothing, { name = "lines", immediate = true })
  return t
end

check("W2: a graph has the objects, their keys, watchers and connections", function()
  eq(obs.graph(invoice()), [[
digraph observation {
  rankdir=LR;
  node [fontname="Helvetica", fontsize=11];
  edge [fontname="Helvetica", fontsize=9];
  o1 [shape=record, label="<t> Invoice | <k1> customer | <k2> gross (valid) | <k3> lines | ]] .. [[
<k4> net (valid) | <k5> rate"];
  o2 [shape=record, label="<t> customer: table | <k1> name"];
  o3 [shape=record, label="<t> lines: array | <k1> * | <k2> @sum.amount"];
  o4 [shape=record, label="<t> lines.#1: table | <k1> amount"];
  o5 [shape=record, label="<t> lines.#2: table | <k1> amount"];
  w1 [shape=ellipse, label="printer"];
  w2 [shape=ellipse, label="lines (immediate)"];
  w1 -> o1:k2 [label="gross"];
  w1 -> o2:k1 [label="customer.name"];
  w2 -> o3:k1 [label="*"];
  o1:k4 -> o3:k2 [label="lines.@sum.amount", color=blue];
  o1:k2 -> o1:k4 [color=blue];
  o1:k2 -> o1:k5 [color=blue];
  o1:k1 -> o2:t [arrowhead=odiamond, color=gray];
  o1:k3 -> o3:t [arrowhead=odiamond, color=gray];
  o3:k1 -> o4:t [arrowhead=odiamond, color=gray];
  o3:k1 -> o5:t [arrowhead=odiamond, color=gray];
  o3:k2 -> o4:t [arrowhead=odiamond, color=gray];
  o3:k2 -> o5:t [arrowhead=odiamond, color=gray];
}
]])
end)
check("W2: the same as JSON, with places", function()
  local t = { n = 1 }
  obs.computed(t, "twice", function(self) return 2 * self.n end)
  local getter = here(-1)
  local w = obs.observe(t, "twice", nothing, { name = "w" })
  local place = here(-1)
  w:pause()
  t.n = 2
  eq(obs.graph(t, "json"), ([[
{
  "objects": [
    {"id": "o1", "type": "table", "place": "", "keys": [{"id": "o1k1", "name": "n"}, ]] .. [[
{"id": "o1k2", "name": "twice", "lazy": "invalid", "tracked": true, "site": "GETTER"}]}
  ],
  "watchers": [
    {"id": "w1", "name": "w", "site": "PLACE", "notes": ["paused", "pending"]}
  ],
  "edges": [
    {"kind": "watches", "from": "w1", "to": "o1k2", "path": "twice"},
    {"kind": "depends", "from": "o1k2", "to": "o1k1", "path": "n"}
  ]
}
]]):gsub("GETTER", (getter:gsub("%%", "%%%%"))):gsub("PLACE", (place:gsub("%%", "%%%%"))))
end)
check("W2: nothing observed is one box", function()
  eq(obs.graph({}, "mermaid"), 'flowchart LR\n  o1["table"]\n')
  eq(obs.graph({}, "json"):gsub("%s+", " "), '{ "objects": [ '
    .. '{"id": "o1", "type": "table", "place": "", "keys": []} ], "watchers": [], "edges": [] } ')
end)
check("W2: text with a meaning is escaped, and edges of incomplete paths are dashed", function()
  local t = { ['"{a|b}<c>&\\\n'] = 1 }
  obs.observe(t, obs.path '"{a|b}<c>&\\\n', nothing, { name = '*"x"' })
  has(obs.graph(t), [[<k1> \"\{a\|b\}\<c\>&amp;\\␊"];]])
  has(obs.graph(t), [[label="*\"x\""];]])
  has(obs.graph(t, "json"), [["name": "\"{a|b}<c>&\\\n"]])
  has(obs.graph(t, "mermaid"), [=[["#34;{a|b}#60;c#62;#38;\␊"]]=])
  has(obs.graph(t, "mermaid"), [=[(["#42;#34;x#34;"])]=])
  t = {}
  obs.observe(t, "user.name", nothing, { name = "w" })
  has(obs.graph(t), [[label="<t> table | <k1> user"];]])
  has(obs.graph(t), [[w1 -> o1:k1 [label="user.name", style=dashed];]])
end)
check("W2: a property that was never computed shows its declared dependencies", function()
  local settings = { zoom = 1 }
  obs.observe(settings, "zoom", nothing, { name = "w" })
  local t = {}
  obs.computed(t, "size", { "width", "frame.border", { settings, "zoom" } }, nothing)
  eq(obs.graph(t, "mermaid"), [[
flowchart LR
  subgraph o1["table"]
    o1k1["frame"]
    o1k2("size (invalid)")
    o1k3["width"]
  end
  subgraph o2["table"]
    o2k1["zoom"]
  end
  w1(["w"])
  w1 -->|"zoom"| o2k1
  o1k2 -.->|"width"| o1k3
  o1k2 -.->|"frame.border"| o1k1
  o1k2 -.->|"zoom"| o2k1
]])
end)
check("W2: dependents are found from their dependencies, wherever they are", function()
  local settings = setmetatable({ zoom = 1 }, { __name = "Settings" })
  local view = setmetatable({}, { __name = "View" })
  obs.computed(view, "scale", { { settings, "zoom" } }, function() return settings.zoom end)
  obs.observe(view, "scale", nothing, { name = "w" })
  eq(obs.graph(settings, "mermaid"), [[
flowchart LR
  subgraph o1["Settings"]
    o1k1["zoom"]
  end
  subgraph o2["View"]
    o2k1("scale (valid)")
  end
  w1(["w"])
  w1 -->|"scale"| o2k1
  o2k1 -->|"zoom"| o1k1
]])
end)
check("W2: objects in a circle, and one that holds itself", function()
  local a, b = { x = 1 }, { y = 1 }
  a.other, b.other, a.self = b, a, a
  obs.observe(a, { "other.other.other.y", "self.self.x" }, nothing, { name = "w" })
  eq(obs.graph(a, "mermaid"), [[
flowchart LR
  subgraph o1["table"]
    o1k1["other"]
    o1k2["self"]
    o1k3["x"]
  end
  subgraph o2["other: table"]
    o2k1["other"]
    o2k2["y"]
  end
  w1(["w"])
  w1 -->|"other.other.other.y"| o2k2
  w1 -->|"self.self.x"| o1k3
  o1k1 --- o2
  o1k2 --- o1k2
  o2k1 --- o1
]])
end)
check("W2: an unobserved list is replaced by its objects, an observed one is an object", function()
  local a, b = { x = 1 }, { y = 1 }
  obs.observe(a, "x", nothing, { name = "a" })
  obs.observe(b, "y", nothing, { name = "b" })
  local list = { a, b }
  has(obs.graph(list), 'o1 [shape=record, label="<t> table | <k1> x"];')
  has(obs.graph(list), 'o2 [shape=record, label="<t> table | <k1> y"];')
  obs.observe(list, "#1", nothing, { name = "list" })
  has(obs.graph(list), 'o1 [shape=record, label="<t> table | <k1> #1"];')
  eq(obs.graph(list):find('label="b"', 1, true), nil)
end)
check("W2: twice the same, whatever the order of the keys in a table", function()
  local function graph(from, to, step)
    local t = {}
    for i = from, to, step do t["k" .. i] = { v = i } end
    obs.observe(t, "*.v", nothing, { name = "all" })
    return obs.graph(t)
  end
  eq(graph(1, 40, 1), graph(40, 1, -1))
end)
check("W2: no getter runs for a graph, nor depends on one that it requests", function()
  local runs, t = 0, { user = { name = "Ada" } }
  obs.computed(t, "current", { "user" }, function(self)
    runs = runs + 1
    return self.user
  end)
  obs.lazy(t, "slow", function() runs = runs + 1 end)
  setmetatable(t, { __index = function() error "read" end })
  obs.observe(t, "current.name", nothing)
  local before = runs
  t.user = { name = "Bob" }
  for _, format in ipairs { "dot", "json", "mermaid" } do obs.graph(t, format) end
  eq(runs, before)
  eq(obs.is_valid(t, "current"), false)
  obs.flush()
  eq(runs, before + 1)
  obs.computed(t, "size", function(self) return #obs.graph(self) end)
  local size = t.size
  obs.observe(t, "n", nothing)
  eq(obs.is_valid(t, "size"), true)
  eq(t.size, size)
end)
check("W2: a chain of 20,000 objects, and one of 5,000 computed properties", function()
  local head = {}
  local object = head
  for _ = 1, 20000 do
    object.next = {}
    obs.observe(object, "next.x", nothing)
    object = object.next
  end
  assert(#obs.graph(head) > 1000000)
  local t = { c0 = 1 }
  for i = 1, 5000 do
    local before = "c" .. i - 1
    obs.computed(t, "c" .. i, { before }, function(self) return self[before] end)
  end
  obs.observe(t, "c5000", nothing)
  local _, edges = obs.graph(t, "json"):gsub('"depends"', "")
  eq(edges, 5000)
end)
turns("W2: a graph keeps nothing alive, and leaves nothing observed", function()
  collectgarbage() collectgarbage()
  turn()
  local before = obs.stats().observed
  local dead = setmetatable({}, { __mode = "k" })
  do
    local t = invoice()
    dead[t] = true
    obs.graph(t)
    obs.graph { t, {} }
  end
  obs.graph {}
  collectgarbage() collectgarbage()
  turn()
  collectgarbage() collectgarbage()
  turn()
  eq(next(dead), nil)
  eq(obs.stats().observed, before)
end)
example("W2: wrong arguments are named", nil, [[
  obs.graph()                           --! #1 to 'graph'.*got no value
  obs.graph(5)                          --! #1 to 'graph'.*got number
  obs.graph(io.stdout)                  --! #1 to 'graph'.*got userdata
  obs.graph({ {}, io.stdout })          --! #1 to 'graph'.*got userdata
  obs.graph({}, "jsn")
    --! #2 to 'graph'.*unknown format 'jsn' %(did you mean 'json'%?%)
  obs.graph({}, "svg")                  --! #2 to 'graph'.*there are 'dot', 'json' and 'mermaid'
  obs.graph({}, {})                     --! #2 to 'graph'.*name of a format expected, got table
  obs.describe(5)                       --! #1 to 'describe'.*got number
]])
finish()
