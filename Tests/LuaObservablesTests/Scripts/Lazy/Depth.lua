-- Rule Z13: depth is not limited by Lua's stack.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

local scale = os.getenv "OBS_LIGHT" and 10 or 1
local LENGTH = 10000 // scale

-- Chains: of objects that each know their predecessor, and of the properties of one object.
local function objects(length, declare)
  local source = {value = 1}
  local before = source
  for i = 1, length do
    local node = {left = before}
    declare(node, i)
    before = node
  end
  return before, "value", source
end
local function names(length, declare)
  local t = {value = 1}
  for i = 1, length do
    local before = i == 1 and "value" or "c" .. i - 1
    declare(t, "c" .. i, before, function(self) return self[before] + 1 end)
  end
  return t, "c" .. length, t
end
local function after_left(self) return self.left.value + 1 end

local makers = {}
makers["objects, declared"] = function(length, get)
  return objects(length, function(node)
    obs.computed(node, "value", {"left.value"}, get or after_left)
  end)
end
makers["objects, tracked"] = function(length, get)
  return objects(length, function(node) obs.computed(node, "value", get or after_left) end)
end
makers["elsewhere, declared"] = function(length)
  return objects(length, function(node)
    local other = node.left
    node.left = nil
    obs.computed(node, "value", {{other, "value"}}, function() return other.value + 1 end)
  end)
end
makers["names, declared"] = function(length)
  return names(length, function(t, name, before, get) obs.computed(t, name, {before}, get) end)
end
makers["names, tracked"] = function(length)
  return names(length, function(t, name, _, get) obs.computed(t, name, get) end)
end
makers["without dependencies"] = function(length)
  return objects(length, function(node) obs.lazy(node, "value", after_left) end), "value", nil
end
makers["loaders"] = function(length)
  return objects(length, function(node)
    obs.lazy(node, "value", {loader = function(self) self.value = after_left(self) end,
      deps = {"left.value"}})
  end)
end
makers["by key paths"] = function(length)
  return objects(length, function(node)
    obs.computed(node, "value", function(self) return obs.get(self, "left.value") + 1 end)
  end)
end
makers["in turn"] = function(length)
  return objects(length, function(node, i)
    if i % 2 == 0 then
      obs.computed(node, "value", after_left)
    else
      obs.computed(node, "value", {"left.value"}, after_left)
    end
  end)
end

for kind, make in pairs(makers) do
  -- The rarer kinds need not be as long.
  local LENGTH = kind:find "^objects" and LENGTH or LENGTH // 10
  check("Z13: a long chain computes cold and warm, and is collected: " .. kind, function()
    local weak = setmetatable({}, {__mode = "v"})
    do
      local last, name, source = make(LENGTH)
      eq(last[name], LENGTH + 1)
      if source then
        source.value = 5
        eq(obs.is_valid(last, name), false)
        eq(last[name], LENGTH + 5)
      end
      obs.observe(last, name, nothing)
      weak[1] = last
    end
    collectgarbage()
    collectgarbage()
    eq(weak[1], nil)
  end)
  check("Z13: a long chain is watched before it is read, at once or coalesced: " .. kind, function()
    for _, immediate in ipairs {false, true} do
      local last, name, source = make(LENGTH)
      local calls = 0
      local function count() calls = calls + 1 end
      local w = obs.observe(last, name, count, {immediate = immediate})
      if source then
        source.value = 2
        obs.flush()
        eq(calls, 1)
        eq(last[name], LENGTH + 2)
        w:stop()
        source.value = 3
        obs.flush()
        eq(calls, 1)
      end
      eq(last[name] > LENGTH, true)
    end
  end)
end
-- Whether a call has succeeded, or failed because of its depth.
local function is_too_deep(ok, message)
  message = tostring(message)
  assert(ok or message:find "deep" or message:find "nest" or message:find "overflow", message)
end
for _, kind in ipairs {"objects, declared", "objects, tracked"} do
  local LENGTH = LENGTH // 5
  local function in_pcall(self)
    local ok, value = pcall(function() return self.left.value end)
    return ok and value + 1 or error(value, 0)
  end
  check("through pcall: " .. kind, function()
    local last, name, source = makers[kind](LENGTH, in_pcall)
    eq(last[name], LENGTH + 1)
    source.value = 3
    eq(last[name], LENGTH + 3)
  end)
  check("an error returns through the whole chain, which computes again: " .. kind, function()
    local last, name, source = makers[kind](LENGTH)
    source.value = false
    local ok = pcall(function() return last[name] end)
    eq(ok, false)
    eq(obs.is_valid(last, name), false)
    source.value = 1
    eq(last[name], LENGTH + 1)
  end)
  check("invalidated at the start, end and middle: " .. kind, function()
    local last, name = makers[kind](LENGTH)
    eq(last[name], LENGTH + 1)
    local middle = last
    for _ = 1, LENGTH // 2 do middle = middle.left end
    obs.invalidate(middle)
    eq(last[name], LENGTH + 1)
    middle.value = 100000
    eq(last[name], 100000 + LENGTH // 2)
    obs.invalidate(middle)
    eq(last[name], LENGTH + 1)
  end)
  check("read inside a coroutine, a task and a watcher: " .. kind, function()
    local last, name = makers[kind](LENGTH)
    eq(coroutine.wrap(function() return last[name] end)(), LENGTH + 1)
    last, name = makers[kind](LENGTH)
    local task = obs.task(function() return last[name] end)
    eq(task:await(), LENGTH + 1)
    last, name = makers[kind](LENGTH)
    local t, got = {x = 1}, nil
    obs.observe(t, "x", function() got = last[name] end)
    t.x = 2
    obs.flush()
    eq(got, LENGTH + 1)
  end)
  check("Z13: from a comparator, which cannot yield, a short one computes: " .. kind, function()
    local list = {3, 1, 2}
    local last, name = makers[kind](30)
    table.sort(list, function(a, b) return last[name] > 0 and a < b end)
    eq(table.concat(list), "123")
    -- A long one does, too, or is a clear error.
    last, name = makers[kind](LENGTH)
    is_too_deep(pcall(table.sort, {3, 1, 2}, function(a, b) return last[name] > 0 and a < b end))
    eq(last[name], LENGTH + 1)
  end)
  check("Z13: getters that go through comparators: " .. kind, function()
    local function by_sort(self)
      local value
      table.sort({2, 1}, function(a, b)
        value = self.left.value
        return a < b
      end)
      return value + 1
    end
    local last, name = makers[kind](20, by_sort)
    eq(last[name], 21)
    last, name = makers[kind](1000, by_sort)
    is_too_deep(pcall(function() return last[name] end))
  end)
end
check("a wide and deep grid", function()
  local width, depth = 20, 200 // scale
  local row, source = {}, {value = 1}
  for i = 1, width do row[i] = source end
  for _ = 1, depth do
    local next_row = {}
    for i = 1, width do
      local node = {left = row[i], right = row[i % width + 1]}
      obs.computed(node, "value", function(self)
        return (self.left.value + self.right.value) % 1000003
      end)
      next_row[i] = node
    end
    row = next_row
  end
  local expected = 1
  for _ = 1, depth do expected = expected * 2 % 1000003 end
  eq(row[1].value, expected)
  source.value = 2
  eq(row[width].value, expected * 2 % 1000003)
end)
check("a very long release", function()
  local before = {value = 1}
  for _ = 1, 100000 // scale do
    local node, other = {}, before
    obs.computed(node, "value", {{other, "value"}}, function() return other.value + 1 end)
    before = node
  end
  eq(before.value, 100000 // scale + 1)
  before = nil
  collectgarbage()
  collectgarbage()
end)
check("a getter that ran out of stack for another one leaves no memory behind", function()
  local t = {}
  local function endless() return 1 + endless() end
  obs.computed(t, "x", function() return endless() end)
  obs.computed(t, "y", function(self) return self.x end)
  collectgarbage()
  collectgarbage()
  local before = collectgarbage "count"
  for _ = 1, 2 do fails("stack overflow", function() return t.y end) end
  collectgarbage()
  collectgarbage()
  assert(collectgarbage "count" - before < 1000, collectgarbage "count" - before)
end)
finish()
