-- Rule W2 for lazy properties: the output of `describe` and `graph`, which change nothing.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

-- The output of `describe`, without the number or address of the table and the places.
local function described(object)
  return (obs.describe(object):gsub("0x%x+", "ADDRESS"):gsub("#%d+", "#N")
    :gsub(" at [^\n]*:%d+", " at PLACE"))
end

local function person(first, last)
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
  obs.computed(t, "twice", { "n" }, function(self) return 2 * self.n end)
  local place = here(-1)
  obs.lazy(t, "made", { create = function() return {} end })
  local other = here(-1)
  obs.copy_of(t, "copy", "list")
  local copy = here(-1)
  obs.backed(t, "stored", {})
  local stored = here(-1)
  local text = obs.describe(t)
  assert(text:find("twice (computed, invalid), declared at " .. place, 1, true), text)
  assert(text:find("made (lazy, invalid), declared at " .. other, 1, true), text)
  assert(text:find("copy %(.-, invalid%), declared at " .. copy:gsub("%p", "%%%0")), text)
  assert(text:find("stored %(.-, invalid%), declared at " .. stored:gsub("%p", "%%%0")), text)
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
  eq(described(settings),
    "Settings #N is not observed, but 'scaled' of View depends on its 'zoom'")
end)
check("W2: a property that keeps no value is described as uncached", function()
  local t = { n = 1 }
  obs.lazy(t, "now", { get = function(self) return self.n end, deps = { "n" }, cached = false })
  assert(described(t):find("now (computed, uncached)", 1, true), described(t))
end)
check("W2: the properties of a model are listed before their use, and none is computed", function()
  local runs = 0
  local Box = obs.model("Box", { side = 2, area = obs.computed({ "side" }, function(self)
    runs = runs + 1
    return self.side ^ 2
  end) })
  local box = Box {}
  assert(described(box):find("area (computed, invalid)", 1, true), described(box))
  assert(obs.graph(box):find("area (invalid)", 1, true))
  eq(runs, 0)
end)
check("W2: a removed declaration is not listed", function()
  local t = person("Ada", "Lovelace")
  eq(t.shout, "ADA LOVELACE")
  obs.forget(t)
  eq(described(t), "table #N is not observed")
end)

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
check("W2: the same as a flow chart", function()
  local t = { n = 1 }
  obs.computed(t, "twice", { "n" }, function(self) return 2 * self.n end)
  obs.observe(t, "twice", nothing, { name = "w" })
  eq(obs.graph(t, "mermaid"), [[
flowchart LR
  subgraph o1["table"]
    o1k1["n"]
    o1k2("twice (valid)")
  end
  w1(["w"])
  w1 -->|"twice"| o1k2
  o1k2 -->|"n"| o1k1
]])
end)
check("W2: and as JSON, with places", function()
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
  eq(obs.graph({}, "json"), [[
{
  "objects": [
    {"id": "o1", "type": "table", "place": "", "keys": []}
  ],
  "watchers": [],
  "edges": []
}
]])
end)
check("W2: text with a meaning in the format is escaped", function()
  local t = { ['"{a|b}<c>&\\\n'] = 1 }
  obs.observe(t, obs.path '"{a|b}<c>&\\\n', nothing, { name = '*"x"' })
  local dot = obs.graph(t)
  assert(dot:find([[<k1> \"\{a\|b\}\<c\>&amp;\\␊"];]], 1, true), dot)
  assert(dot:find([[label="*\"x\""];]], 1, true), dot)
  local json = obs.graph(t, "json")
  assert(json:find([["name": "\"{a|b}<c>&\\\n"]], 1, true), json)
  local chart = obs.graph(t, "mermaid")
  assert(chart:find([=[["#34;{a|b}#60;c#62;#38;\␊"]]=], 1, true), chart)
  assert(chart:find([=[(["#42;#34;x#34;"])]=], 1, true), chart)
end)
check("W2: an incomplete path leads to the last object that exists", function()
  local t = {}
  obs.observe(t, "user.name", nothing, { name = "w" })
  local text = obs.graph(t)
  assert(text:find([[label="<t> table | <k1> user"];]], 1, true), text)
  assert(text:find([[w1 -> o1:k1 [label="user.name", style=dashed];]], 1, true), text)
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
check("W2: an unobserved list is replaced by its objects", function()
  local a, b = { x = 1 }, { y = 1 }
  obs.observe(a, "x", nothing, { name = "a" })
  obs.observe(b, "y", nothing, { name = "b" })
  local text = obs.graph { a, b }
  assert(text:find('o1 [shape=record, label="<t> table | <k1> x"];', 1, true), text)
  assert(text:find('o2 [shape=record, label="<t> table | <k1> y"];', 1, true), text)
  -- An observed list is an ordinary object.
  local list = { a, b }
  obs.observe(list, "#1", nothing, { name = "list" })
  text = obs.graph(list)
  assert(text:find('o1 [shape=record, label="<t> table | <k1> #1"];', 1, true), text)
  assert(not text:find('label="b"', 1, true), text)
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
check("W2: no getter runs for a graph, whatever is invalid", function()
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
end)
check("W2: a graph that a getter requests is not a dependency of the getter", function()
  local t = { n = 1 }
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
check("W2: wrong arguments are named", function()
  fails("#1 to 'graph'.*got no value", obs.graph)
  fails("#1 to 'graph'.*got number", obs.graph, 5)
  fails("#1 to 'graph'.*got userdata", obs.graph, io.stdout)
  fails("#1 to 'graph'.*got userdata", obs.graph, { {}, io.stdout })
  fails("#2 to 'graph'.*unknown format 'jsn' %(did you mean 'json'%?%)", obs.graph, {}, "jsn")
  fails("#2 to 'graph'.*there are 'dot', 'json' and 'mermaid'", obs.graph, {}, "svg")
  fails("#2 to 'graph'.*name of a format expected, got table", obs.graph, {}, {})
  fails("#1 to 'describe'.*got number", obs.describe, 5)
end)
finish()
