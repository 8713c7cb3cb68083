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

local function hundred(make)
  local list = obs.array {}
  for i = 1, 100 do list:append(make(i)) end
  return list
end

local function number(i) return i end
local function item(i) return { v = i } end

-- Calls functions n times each, and delivers after each call.
local function deliver_each(n, first, second)
  for i = 1, n do
    first(i)
    obs.flush()
    if second then
      second(i)
      obs.flush()
    end
  end
end

-- Appends to a list of 100 elements, and delivers the edit.
function operations.append(n)
  local list = hundred(number)
  obs.observe_edits(list, nop)
  deliver_each(n, function(i) list:append(i) end)
end

-- Assigns a key of a dictionary, and delivers the edit.
function operations.key(n)
  local dictionary = obs.dictionary { k = 0 }
  obs.observe_edits(dictionary, nop)
  deliver_each(n, function(i) dictionary.k = i end)
end

-- Adds a member to a set, delivers the edit, and the same with its removal.
function operations.member(n)
  local set = obs.set_of {}
  obs.observe_edits(set, nop)
  deliver_each(n, function(i) set:add(i) end, function(i) set:remove(i) end)
end

-- Inserts into a list whose sum is watched, delivers, and the same with the removal.
function operations.sum(n)
  local t = { list = hundred(number) }
  obs.observe(t, "list.@sum", nop)
  deliver_each(n, function(i) t.list:insert(50, i) end, function() t.list:remove(50) end)
end

-- Replaces an element below `*`, and delivers.
function operations.element(n)
  local t = { list = hundred(item) }
  obs.observe(t, "list.*.v", nop)
  deliver_each(n, function(i) t.list[50] = item(i) end)
end

-- Writes a key of an element that digits follow, and delivers.
function operations.digits(n)
  local t = { list = hundred(item) }
  obs.observe(t, "list.1.v", nop)
  deliver_each(n, function(i) t.list[1].v = i end)
end

-- Reverses a list of 1,000 elements, and delivers the edits.
function operations.sort(n)
  local list = {}
  for i = 1, 1000 do list[i] = i end
  local array = obs.array(list)
  obs.observe_edits(array, nop)
  local function less(a, b) return a < b end
  local function more(a, b) return a > b end
  deliver_each(n, function(i) array:sort(i % 2 == 0 and less or more) end)
end

-- Two lists of 100 small tables with the same contents.
local function equal_lists()
  local function list()
    local made = {}
    for i = 1, 100 do made[i] = { id = i, name = "n" .. i, v = i } end
    return made
  end
  return list(), list()
end

-- Compares the lists.
function operations.diff(n)
  local a, b = equal_lists()
  for _ = 1, n do assert(#obs.diff(a, b) == 0) end
end

-- The same when one of the tables differs.
function operations.differing(n)
  local a, b = equal_lists()
  b[50].v = 0
  for _ = 1, n do assert(#obs.diff(a, b) == 1) end
end

-- Makes one list equal to the other one.
function operations.merge(n)
  local a, b = equal_lists()
  for _ = 1, n do obs.merge(a, b) end
end

-- Copies a list.
function operations.raw(n)
  local a = equal_lists()
  for _ = 1, n do assert(#obs.raw(a) == 100) end
end

-- Reads the last key of a path of three.
function operations.get(n)
  local t = { a = { b = { c = 0 } } }
  for _ = 1, n do assert(obs.get(t, "a.b.c") == 0) end
end

-- Writes it.
function operations.set(n)
  local t = { a = { b = { c = 0 } } }
  for i = 1, n do obs.set(t, "a.b.c", i) end
end

-- Makes a scope with one watcher, and stops it.
function operations.scope(n)
  local t = { v = 0 }
  local function register() obs.observe(t, "v", nop) end
  for _ = 1, n do obs.scope(register):stop() end
end

-- Writes a key with an immediate watcher.
function operations.immediate(n)
  local t = { v = 0 }
  obs.observe(t, "v", nop, { immediate = true })
  for i = 1, n do t.v = i end
end

-- Writes a key, and delivers, while turns are recorded.
function operations.recorded(n)
  obs.record(true)
  operations.deliver(n)
end

collectgarbage()
operations[arg[1]](math.tointeger(arg[2]))
os.exit(true, false)
