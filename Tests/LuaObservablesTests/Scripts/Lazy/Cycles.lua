-- Rule Z11: cycles of computed properties. `Cases/shapes.lua` has rings in graphs.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "Support/kinds.lua")

each("Z11: a cycle names its members in order", "t.shown", [[
  local function other(name) return computed({ name }, function(self) return self[name] end) end
  local t = object {
    total = other "tax", tax = other "rate", rate = other "total", shown = other "total",
    itself = lazy(function(self) return self.itself end),
  }
  = t.total                               --! total → tax → rate → total
  = t.rate                                --! rate → total → tax → rate
  = t.shown                               --! total → tax → rate → total
  = t.itself                              --! itself → itself
  = #obs.valid_names(t)                   --> 0
  t.rate = 5                              --> 5
]])
each("Z11: an operator that a getter reads, and that a dependent observes, is no cycle", "t.b", [[
  local t = object {
    x = 1, list = { 1, 2 },
    a = computed({ "x" }, function(self) return self.x + obs.get(self, "list.@sum") end),
    c = computed({ "a" }, function(self) return self.a end),
    b = computed({ "list.@sum", "c" }, function(self) return self.c end),
  }
  = t.b                                   --> 4
  t.x = 2
  = t.b                                   --> 5
]])
check("Z11: a getter without a value that reads itself, directly or by others", function()
  local runs = 0
  local function property(t, name, get)
    obs.lazy(t, name, {cached = false, get = function(self)
      runs = runs + 1
      return get(self)
    end})
  end
  local t = {}
  property(t, "x", function(self) return obs.get(self, "x") end)
  property(t, "y", function(self) return self.z end)
  property(t, "z", function(self) return self.y end)
  property(t, "caught", function(self) return (pcall(function() return self.caught end)) end)
  for _ = 1, 2 do
    runs = 0
    fails("a cycle of computed properties: x → … → x", function() return t.x end)
    eq(runs, 1)
    fails("a cycle of computed properties: y → … → y", function() return t.y end)
    eq(runs, 3)
    eq(t.caught, false)
  end
  -- A tree is not a cycle.
  local function node(left, right)
    local node = {left = left, right = right}
    property(node, "size", function(self)
      return 1 + (self.left and self.left.size or 0) + (self.right and self.right.size or 0)
    end)
    return node
  end
  local leaf = node()
  eq(node(node(leaf, leaf), leaf).size, 5)
end)
check("Z11: … while it waits in one task, another task may read it", function()
  local t, note, told = {}, recorder()
  obs.lazy(t, "x", {cached = false, get = function()
    coroutine.yield()
    return "value"
  end})
  local function read() return t.x end
  local first, second = coroutine.create(read), coroutine.create(read)
  for _, thread in ipairs {first, second, second, first} do note(coroutine.resume(thread)) end
  eq(told(), "true true true value true value")
end)
example("Z11: a cycle through two objects has their places, or the names of their models",
  "a.x, a.y", [[
  local a, b = {}, {}
  a.other, b.other = b, a
  for _, t in ipairs { a, b } do
    obs.computed(t, "x", { "other.x" }, function(self) return self.other.x end)
    obs.computed(t, "y", function(self) return self.other.y end)
  end
  = a.x                                   --! : x %(.*Cycles.lua:%d+%) → x %(.*%d+%) → x %(.*%d+%)$
  = b.y                                   --! : y %(.*Cycles.lua:%d+%) → y %(.*%d+%) → y %(.*%d+%)$
  b.other = { x = 1, y = 2 }              --> 1 2
  local function left(self) return self.left and self.left.v or 0 end
  local Node = obs.model("Node", { left = obs.none, v = obs.computed({ "left.v" }, left) })
  local p, q, r = Node {}, Node {}, setmetatable({}, { __name = "Leaf" })
  obs.computed(r, "v", left)
  p.left, q.left, r.left = q, r, p
  = p.v                                   --! : Node.v → Node.v → Leaf.v → Node.v$
  p.left = p
  = p.v                                   --! : v → v$
]])
example("Z11: a cycle can be caught inside; a watched one is reported, and heals", "t.x, t.y", [[
  local t = { on = true }
  obs.computed(t, "x", function(self)
    return t.on and not pcall(function() return self.y end) and "caught" or 1
  end)
  obs.computed(t, "y", function(self) return self.x end)  --> caught caught
  obs.computed(t, "z", function(self) return self.on and self.u or 1 end)
  obs.computed(t, "u", function(self) return self.z end)
  reporting(function()
    local n = counter(t, "z")
    = tostring(reports[1].error):match "cycle"  --> cycle
    t.on = false
    = n(), t.u                            --> 1 1
  end)
]])
check("Z11: a long cycle is an error too", function()
  for _, count in ipairs {150, 5000} do
    local t = {}
    for i = 1, count do
      local next_name = "c" .. i % count + 1
      obs.computed(t, "c" .. i, function(self) return self[next_name] end)
    end
    fails("cycle", function() return t.c1 end)
    t.c5 = 1
    eq(t.c1, 1)
  end
end)
finish()
