-- Z2, Z4, P5, P6, T3, T9: watchers of paths that lead through lazy properties of a random graph,
-- compared with plain functions.
--
--   obs-lua RandomPaths.lua [seed [count]]
--
-- A watcher must be called if the value at the end of its path differs at the flush from the one at
-- the flush before; once, unless it is immediate; and only if something on its path may differ.
local obs = require "obs"
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local programs = dofile(folder .. "../Support/programs.lua")

local random = math.random
local SIZE = 5
-- Components that lead to objects, and last ones.
local THROUGH = { "p", "q", "chosen", "far", "top", "#1", "@first" }
local LAST = { "n", "chosen_n", "sum", "chosen", "p" }

-- The lazy properties as plain functions.
local lazy = {}
function lazy.chosen(o) if o.f then return o.p else return o.q end end
function lazy.chosen_n(o) local x = lazy.chosen(o) return x and x.n end
function lazy.far(o) return o.p.q end
function lazy.sum(o)
  local sum = 0
  for _, x in ipairs(o.l) do sum = sum + x.n end
  return sum
end
function lazy.top(o)
  local top
  for _, x in ipairs(o.l) do if not top or x.n > top.n then top = x end end
  return top
end

local function read(o, component)
  if lazy[component] then return lazy[component](o) end
  if component == "#1" or component == "@first" then return o.l[1] end
  return o[component]
end

-- The value at the end of a path, and the objects on the way.
local function walk(o, components)
  local way = {}
  for i, component in ipairs(components) do
    if type(o) ~= "table" then return nil, way end
    o = read(o, component)
    way[i] = o or false
  end
  return o, way
end

-- Declared dependencies; without, the getters are tracked.
local DEPS = {
  chosen = { "f", "p", "q" }, chosen_n = { "chosen.n" }, far = { "p.q" }, sum = { "l.@sum.n" },
  top = { "l.*.n" },
}
-- Getters that read other lazy properties.
local GETTERS = {
  chosen_n = function(o) local x = o.chosen return x and x.n end,
  sum = function(o) return obs.get(o, "l.@sum.n") end,
}

local world

local function fail(text, ...)
  error(("seed %d: %s\n  %s"):format(world.seed, text:format(...),
    table.concat(world.log, "\n  ")), 0)
end

local function title(value)
  for i, o in ipairs(world.objects) do if o == value then return "o" .. i end end
  return tostring(value)
end

local function note(text, ...) world.log[#world.log + 1] = text:format(...) end

local function any() return world.objects[random(SIZE)] end

local function some_list()
  local list = {}
  for i = 1, random(0, 3) do list[i] = any() end
  return list
end

local function make_world(seed)
  math.randomseed(seed)
  world = { seed = seed, objects = {}, watchers = {}, written = {}, log = {} }
  for i = 1, SIZE do world.objects[i] = { n = random(0, 2), f = random(2) == 1 } end
  for i, o in ipairs(world.objects) do
    o.p, o.q, o.l = any(), random(3) > 1 and any() or nil, some_list()
    note("o%d = n %d, f %s, p %s, q %s, %d elements", i, o.n, o.f, title(o.p), title(o.q), #o.l)
    local is_declared = random(2) == 1
    for name, get in pairs(lazy) do
      get = is_declared and name == "sum" and GETTERS.sum or name == "chosen_n" and GETTERS.chosen_n
        or get
      if is_declared then obs.computed(o, name, DEPS[name], get) else obs.computed(o, name, get) end
    end
  end
end

local function add_watcher()
  local w = { components = {}, calls = 0, is_immediate = random(5) == 1 }
  for i = 1, random(3) do w.components[i] = THROUGH[random(#THROUGH)] end
  w.components[#w.components + 1] = LAST[random(#LAST)]
  local names = {}
  for i, component in ipairs(w.components) do
    names[i] = component:find "^[#@]" and "l." .. component or component
  end
  w.path = table.concat(names, ".")
  note("watch o1.%s%s", w.path, w.is_immediate and " immediately" or "")
  w.handle = obs.observe(world.objects[1], w.path, function() w.calls = w.calls + 1 end,
    { immediate = w.is_immediate })
  if random(3) == 1 then
    w.computed = "computed" .. #world.watchers
    obs.computed(world.objects[1], w.computed, { w.path }, function(self)
      return (walk(self, w.components))
    end)
  end
  w.last, w.way = walk(world.objects[1], w.components)
  world.watchers[#world.watchers + 1] = w
end

local function write(o, key, text, ...)
  world.written[o] = world.written[o] or {}
  world.written[o][key] = true
  note("%s." .. text, title(o), ...)
end

local function set(o, key, value)
  write(o, key, "%s = %s", key, title(value))
  o[key] = value
end

local function edit(o)
  local l, kind = o.l, random(5)
  write(o, "l", "l: edit %d", kind)
  if kind == 1 then table.insert(l, random(#l + 1), any())
  elseif kind == 2 and #l > 0 then table.remove(l, random(#l))
  elseif kind == 3 and #l > 0 then l[random(#l)] = any()
  elseif kind == 4 and #l > 1 then l[1], l[#l] = l[#l], l[1]
  else l[#l + 1] = any() end
end

local function step(is_inside)
  local o, kind = any(), random(is_inside and 9 or 10)
  if kind <= 2 then set(o, "n", random(0, 2))
  elseif kind <= 4 then set(o, "f", not o.f)
  elseif kind == 5 then set(o, "p", any())
  elseif kind == 6 then set(o, "q", random(3) > 1 and any() or nil)
  elseif kind <= 8 then edit(o)
  elseif kind == 9 then set(o, "l", some_list())
  else
    note "transaction"
    local fails = random(2) == 1
    obs.transaction(world.objects, function()
      for _ = 1, random(3) do
        step(true)
        if random(3) == 1 then check_values "in the transaction" end
      end
      if fails then obs.abort "taken back" end
    end)
    note(fails and "taken back" or "kept")
  end
end

local function check_values(place)
  local root = world.objects[1]
  for _, w in ipairs(world.watchers) do
    local value = walk(root, w.components)
    local got = obs.get(root, w.path)
    if got ~= value then
      fail("%s: o1.%s is %s, not %s", place, w.path, title(got), title(value))
    end
    local computed = w.computed and root[w.computed]
    if w.computed and computed ~= value then
      fail("%s: the property of o1.%s is %s, not %s", place, w.path, title(computed), title(value))
    end
  end
  local o = any()
  for name in pairs(lazy) do
    if o[name] ~= lazy[name](o) then
      fail("%s: %s.%s is %s", place, title(o), name, title(o[name]))
    end
  end
end

-- Whether a key on the way of a path was written, so that a call needs no other value.
local function was_written(w)
  local o = world.objects[1]
  for _, component in ipairs(w.components) do
    if type(o) ~= "table" then return false end
    local key = component:find "^[#@]" and "l" or component
    if world.written[o] and world.written[o][key] then return true end
    o = read(o, component)
  end
  return false
end

local function flush()
  note "flush"
  for _, w in ipairs(world.watchers) do if not w.is_immediate then w.calls = 0 end end
  obs.flush()
  for _, w in ipairs(world.watchers) do
    local value, way = walk(world.objects[1], w.components)
    if value ~= w.last and w.calls == 0 then
      fail("o1.%s: no call for %s after %s", w.path, title(value), title(w.last))
    end
    if w.calls > 1 and not w.is_immediate then fail("o1.%s: two calls", w.path) end
    local is_same = value == w.last and #way == #w.way
    for i = 1, #way do is_same = is_same and way[i] == w.way[i] end
    if w.calls > 0 and is_same and not w.is_immediate and not was_written(w) then
      fail("o1.%s: a call, and nothing differs", w.path)
    end
    w.last, w.way, w.calls = value, way, 0
  end
  check_values "after the flush"
  world.written = {}
end

local function try(seed)
  make_world(seed)
  for _ = 1, random(4) do add_watcher() end
  for _ = 1, random(10, 60) do
    if random(4) == 1 then flush() else step() end
    if random(5) == 1 then check_values "in the turn" end
  end
  flush()
  for _, w in ipairs(world.watchers) do w.handle:stop() end
end

local first, last = programs.named_seeds(300)
for seed = first, last do try(seed) end
