-- L7 and Z9: random operations on an instance of a model with lazy properties, and on a plain table
-- of a plain class that computes everything anew. A script sees the same in both.
local obs = require "obs"

local seed = tonumber(os.getenv "OBS_SEED") or 1
local count = tonumber(os.getenv "OBS_COUNT") or (os.getenv "OBS_LIGHT" and 40 or 200)

local names = { "a", "b", "c", "none", "later", "sum", "text", "kept", 1, 2 }
local lazies = { sum = true, text = true, kept = true }
local stored = { "a", "b", "c", "none", "later", 1, 2 }

local function sum(self) return (self.a or 0) + (self.b or 0) end
local function text(self) return tostring(self.sum) .. ":" .. tostring(self.c) end

local function models(is_tracked)
  local computed = is_tracked and function(_, get) return obs.computed(get) end or obs.computed
  local Base = obs.model("Base", {
    a = 1, b = 2, none = obs.none, sum = computed({ "a", "b" }, sum),
    double = function(self) return 2 * self.sum end,
  })
  return obs.model("Child", Base, {
    c = "x", text = computed({ "sum", "c" }, text),
    kept = obs.lazy(function(self) return self.c end),
    double = function(self) return Base.double(self) + 1 end,
  })
end

-- The plain one: values of lazy properties are kept in `valid` and forgotten by hand.
local Plain = {}
local function plain()
  return setmetatable({ fields = { a = 1, b = 2, c = "x" }, valid = {} }, Plain)
end
local function read(p, name)
  if not lazies[name] then return p.fields[name] end
  if p.overridden[name] ~= nil then return p.overridden[name][1] end
  if name == "sum" then return (p.fields.a or 0) + (p.fields.b or 0) end
  if name == "text" then return tostring(read(p, "sum")) .. ":" .. tostring(p.fields.c) end
  if not p.valid.kept then p.valid.kept = { p.fields.c } end
  return p.valid.kept[1]
end

local function invalidate(p, name)
  p.overridden[name] = nil
  p.valid[name] = nil
end

local function write(p, name, value)
  if lazies[name] then
    if name == "sum" and read(p, "sum") ~= value then invalidate(p, "text") end
    p.overridden[name] = { value }
    return
  end
  local old = p.fields[name]
  p.fields[name] = value
  if old == value then return end
  -- An assigned text ends also if the sum stays the same (Z5).
  if name == "a" or name == "b" or name == "c" then invalidate(p, "text") end
  if name == "a" or name == "b" then invalidate(p, "sum") end
end

local function run(number)
  math.randomseed(number)
  local random = math.random
  local instance = models(random(2) == 1)()
  local model = plain()
  model.overridden = {}
  local watchers, trail = {}, {}
  local function fail(what, a, b)
    error(("program %d: %s: %s, not %s\n%s"):format(
      number, what, tostring(a), tostring(b), table.concat(trail, "\n")), 0)
  end
  local function check(name)
    local a, b = instance[name], read(model, name)
    if a ~= b then fail("instance." .. tostring(name), a, b) end
  end
  local values = { 1, 2, 3, "x", "y", nil }
  for _ = 1, random(1, 60) do
    local kind = random(9)
    local name = names[random(#names)]
    local value = values[random(6)]
    trail[#trail + 1] = ("%d %s %s"):format(kind, tostring(name), tostring(value))
    if kind <= 2 then
      check(name)
    elseif kind <= 4 then
      if name == "a" or name == "b" or name == "sum" then value = random(4) end
      instance[name] = value
      write(model, name, value)
    elseif kind == 5 then
      name = stored[random(#stored)]
      if name == "a" or name == "b" then value = random(4) end
      rawset(instance, name, value)
      write(model, name, value)
      if rawget(instance, name) ~= value then fail("rawget", rawget(instance, name), value) end
    elseif kind == 6 then
      local path = random(4) == 1 and "*" or name
      if name == "kept" then check(name) end
      -- P9: an undeclared key needs a value.
      if path == "later" and instance.later == nil then path = "none" end
      watchers[#watchers + 1] = obs.observe(
        instance, type(path) == "number" and obs.path(path) or path,
        function() end, { immediate = random(3) == 1 })
    elseif kind == 7 then
      if #watchers > 0 then table.remove(watchers, random(#watchers)):stop() end
      if random(2) == 1 then obs.flush() end
    elseif kind == 8 then
      if instance:double() ~= 2 * read(model, "sum") + 1 then
        fail("double", instance:double(), "?")
      end
    elseif lazies[name] and name ~= "sum" then
      obs.invalidate(instance, name)
      invalidate(model, name)
      -- The time of its computation depends on its watchers.
      if name == "kept" then check(name) end
    end
  end
  -- At the end `pairs` shows each stored field once, and no lazy property with another value.
  local seen = {}
  for key, value in pairs(instance) do
    if seen[key] then fail("pairs twice", key, "once") end
    seen[key] = true
    if read(model, key) ~= value then fail("pairs " .. tostring(key), value, read(model, key)) end
  end
  for key in pairs(model.fields) do
    if not seen[key] then fail("pairs", "nothing", key) end
  end
  for _, name in ipairs(names) do check(name) end
  for i = 1, #watchers do watchers[i]:stop() end
  if number % 50 == 0 then collectgarbage() end
end

assert(count > 0, "no models")
for number = seed, seed + count - 1 do run(number) end
