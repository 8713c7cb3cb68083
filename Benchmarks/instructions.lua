-- Repeats one operation, for `Scripts/instructions`:
--
--   obs-lua instructions.lua operation count
local obs = require "obs"

local keep = {}
local function nop() end

-- Stops the collector during the operation and collects once at the end. Otherwise the time of a
-- collection would depend on the size of everything else, even on the length of a path, and would
-- change the counts by a tenth.
local function keeping(operation)
  return function(n)
    collectgarbage "stop"
    operation(n)
    collectgarbage()
  end
end

local operations = {}

-- Makes a table and observes one of its keys.
operations.observe = keeping(function(n)
  for i = 1, n do
    local t = { v = i }
    obs.observe(t, "v", nop)
    keep[i] = t
  end
end)

-- Writes a key, and delivers.
function operations.deliver(n)
  local t = { v = 0 }
  obs.observe(t, "v", nop)
  for i = 1, n do
    t.v = i
    obs.flush()
  end
end

-- Writes the last key of a path of three, and delivers.
function operations.leaf(n)
  local t = { a = { b = { c = 0 } } }
  obs.observe(t, "a.b.c", nop)
  for i = 1, n do
    t.a.b.c = i
    obs.flush()
  end
end

-- Registers a second watcher on a key, and stops it.
function operations.register(n)
  local t = { v = 0 }
  obs.observe(t, "v", nop)
  for _ = 1, n do obs.observe(t, "v", nop):stop() end
end

-- Replaces the middle of a path of three, and delivers.
function operations.replace(n)
  local t = { a = { b = { c = 0 } } }
  obs.observe(t, "a.b.c", nop)
  for i = 1, n do
    t.a = { b = { c = i } }
    obs.flush()
  end
end

-- Writes the source of a chain of 100 computed properties, and delivers.
function operations.chain(n)
  local t = { k0 = 0 }
  for i = 1, 100 do
    local source = "k" .. i - 1
    obs.computed(t, "k" .. i, { source }, function(self) return self[source] + 1 end)
  end
  obs.observe(t, "k100", nop)
  obs.flush()
  for i = 1, n do
    t.k0 = i
    obs.flush()
  end
end

-- Makes a table, declares a computed property, and reads it.
operations.computed = keeping(function(n)
  for i = 1, n do
    local t = { v = i }
    obs.computed(t, "w", { "v" }, function(self) return self.v + 1 end)
    assert(t.w == i + 1)
    keep[i] = t
  end
end)

-- The same with a tracked property.
operations.tracked = keeping(function(n)
  for i = 1, n do
    local t = { v = i }
    obs.computed(t, "w", function(self) return self.v + 1 end)
    assert(t.w == i + 1)
    keep[i] = t
  end
end)

local function item_model()
  return obs.model("Item", {
    v = 0, w = obs.computed({ "v" }, function(self) return self.v + 1 end),
  })
end

-- Makes an instance of a model with a computed property.
operations.model = keeping(function(n)
  local Item = item_model()
  for i = 1, n do keep[i] = Item { v = i } end
end)

-- The same, and reads the property.
operations.instance = keeping(function(n)
  local Item = item_model()
  for i = 1, n do
    local item = Item { v = i }
    assert(item.w == i + 1)
    keep[i] = item
  end
end)

collectgarbage()
operations[arg[1]](math.tointeger(arg[2]))
os.exit(true, false)
