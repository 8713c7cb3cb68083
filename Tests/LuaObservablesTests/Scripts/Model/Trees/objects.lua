-- The objects of a random tree, and random writes to them. A step of a program is a list of
-- numbers, whose meaning depends on the state. So every program remains valid when steps are
-- removed.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)"
local contents = dofile(folder .. "contents.lua")
local kind, FIELDS = contents.kind, contents.FIELDS

local Objects = {}
Objects.__index = Objects

local function f() end
local SCALARS = { 0, 1, 2, 1.0, 1.5, "x", "y", true, false, 0 / 0, math.huge, -1, "", f, print }
local TABLE_KEY = { "a key" }
local KEYS = {
  "a", "b", "c", "d", "n", 1, 2, 3, 5, 2.5, -1, 0, true, false, TABLE_KEY, "n", "a", "b",
}
local KINDS = {
  "plain", "plain", "plain", "list", "list", "array", "array", "dictionary", "set", "set", "base",
  "child", "meta", "opaque", "lazy",
}
-- Kinds that each copy of a tree can have.
Objects.COMMON = {
  "plain", "plain", "plain", "list", "array", "array", "dictionary", "set", "base", "child",
}
-- The kinds that a program may have: fewer kinds meet more often.
local CHOICES = {
  KINDS, KINDS, Objects.COMMON, { "plain", "plain", "set" },
  { "plain", "plain", "plain", "set" }, { "plain", "array", "list", "set" },
}
if contents.can_make "host" then for _ = 1, 4 do KINDS[#KINDS + 1] = "host" end end

local function new(kinds)
  return setmetatable({ objects = {}, names = {}, log = {}, depth = 0, kinds = kinds }, Objects)
end

-- A root and all objects that a program makes. With `is_below`, it only writes to objects below the
-- root.
function Objects.new(is_below, program, kinds)
  contents.forget_kinds()
  local self = new(kinds or program[1] and CHOICES[program[1][2] % #CHOICES + 1] or KINDS)
  self.is_below, self.has_opaque = is_below, program.has_opaque
  self.root = self:make "plain"
  return self
end

-- The same for the objects below a root, in an order that is the same for equal trees.
function Objects.below(root, kinds)
  local self = new(kinds)
  self.root = root
  for _, object in ipairs(contents.in_order(root)) do self:adopt(object) end
  return self
end

function Objects:note(text, ...)
  self.log[#self.log + 1] = ("  "):rep(self.depth) .. text:format(...)
end

function Objects:adopt(object)
  self.objects[#self.objects + 1] = object
  self.names[object] = kind(object) .. #self.objects
  return object
end

function Objects:name(value)
  if self.names[value] then return self.names[value] end
  if type(value) == "string" then return ("%q"):format(value) end
  return tostring(value)
end

function Objects:make(name)
  if name == "opaque" and not self.has_opaque then name = "plain" end
  local object = self:adopt(contents.make(name))
  if name == "host" then
    local parts = contents.entries(object)
    for _, part in ipairs { "tags", "kids", "map" } do self:adopt(parts[part]) end
  end
  return object
end

-- The writable objects; `is_below`: those below the root.
function Objects:targets(is_below)
  if not is_below then return self.objects end
  local found, list = contents.reach({ self.root }, not self.is_below), {}
  for _, object in ipairs(self.objects) do if found[object] then list[#list + 1] = object end end
  return list
end

-- One of the objects: mostly below the root, often the last value, a member of a set or one of the
-- newest, so that writes meet.
function Objects:target(number)
  local objects = self:targets(self.is_below or number % 8 > 0)
  local wanted = number % 3 == 0 and self.last or number % 3 == 1 and self.last_member
  for _, object in ipairs(wanted and objects or {}) do
    if object == wanted then return object end
  end
  local first = number % 2 == 0 and math.max(#objects - 3, 0) or 0
  return objects[first + number // 2 % (#objects - first) + 1]
end

-- The value for a number: nil, a scalar, a new object, or an existing one. `of`: the kind needed.
function Objects:value(number, is_needed, of)
  local value = self:any_value(number, is_needed, of)
  if self.names[value] then self.last = value end
  return value
end

function Objects:any_value(number, is_needed, of)
  local choice, rest = number % 9, number // 9
  local function known(fits)
    local list = {}
    for _, object in ipairs(self.objects) do
      if fits(object) then list[#list + 1] = object end
    end
    return list
  end
  if of then
    if choice < 2 and not is_needed then return nil end
    if choice < 5 then return self:make(of) end
    local list = known(function(object) return kind(object) == of end)
    return list[rest % (#list + 1) + 1] or self:make(of)
  end
  if choice == 0 and not is_needed then return nil end
  if choice <= 2 then return SCALARS[rest % #SCALARS + 1] end
  if choice <= 5 then return self:make(self.kinds[rest % #self.kinds + 1]) end
  -- A Swift object never shares its collections.
  local list = known(function(object) return type(object) == "table" or kind(object) == "host" end)
  return list[rest % #list + 1] or {}
end

-- Writes -----------------------------------------------------------------------------------------

local function length(list)
  local n = 0
  while rawget(list, n + 1) ~= nil do n = n + 1 end
  return n
end

-- By kind: write(self, object, choice, number).
local writers = {}

function writers.set(self, set, choice, number)
  local member, adds = SCALARS[number % 9 + 1], choice % 2 == 0
  if number % 4 >= 2 then
    member, adds = self:value(3 + 9 * (number // 4)), true
    self.last_member = member
  elseif number % 4 == 1 then
    member = self.objects[number // 4 % #self.objects + 1]
  end
  if type(member) == "userdata" then member = "m" end
  self:note("%s %s %s", self:name(set), adds and "add" or "remove", self:name(member))
  if number % 31 == 0 then set:clear()
  elseif adds then set:add(member)
  else set:remove(member) end
end

function writers.hostset(self, set, choice, number)
  local member = "t" .. number % 3
  self:note("%s %s %s", self:name(set), choice % 2 == 0 and "add" or "remove", member)
  if choice % 2 == 0 then set:add(member) else set:remove(member) end
end

function writers.hostmap(self, map, choice, number)
  local key, value = "k" .. choice % 3, number % 4
  self:note("%s.%s = %s", self:name(map), key, value)
  map[key] = value > 0 and value or nil
end

function writers.hostarray(self, array, choice, number)
  local n, operation, place = #array, choice % 4, choice // 4
  self:note("%s operation %d %d %d", self:name(array), operation, place, number)
  if operation <= 1 or n == 0 then
    array:insert(place % (n + 1) + 1, self:value(number, true, "host"))
  elseif operation == 2 then
    array:remove(place % n + 1)
  else
    array:move(place % n + 1, number % n + 1)
  end
end

function writers.host(self, object, choice, number)
  local field, value = ({ "name", "size", "mate", "table", "table" })[choice % 5 + 1], nil
  if field == "name" then value = "n" .. number % 4
  elseif field == "size" then value = number % 5
  elseif field == "mate" then value = self:value(number, false, "host")
  else value = self:value(number, false, choice % 2 == 0 and "plain" or "list") end
  self:note("%s.%s = %s", self:name(object), field, self:name(value))
  object[field] = value
end

function writers.array(self, array, choice, number)
  local n, operation, place = #array, choice % 7, choice // 7
  self:note("%s operation %d %d %d", self:name(array), operation, place, number)
  if operation <= 1 or n == 0 then
    array:insert(place % (n + 1) + 1, self:value(number, true))
  elseif operation == 2 then
    array:remove(place % n + 1)
  elseif operation == 3 then
    array:move(place % n + 1, number % n + 1)
  elseif operation == 4 and number % 5 == 0 then
    array:clear()
  elseif operation == 5 and n > 1 then
    self.is_in_steps = true
    local i, j = place % n + 1, number % n + 1
    array[i], array[j] = array[j], array[i]
  else
    array[place % n + 1] = self:value(number, true)
  end
end

function writers.list(self, list, choice, number)
  self.is_in_steps = true
  local n, operation, place = length(list), choice // 4 % 5, choice // 20
  self:note("%s list %d %d %d (%d)", self:name(list), operation, place, number, n)
  local has_hole = false
  for key in next, list do has_hole = has_hole or math.type(key) == "integer" and key > n end
  if operation <= 1 and not has_hole then
    table.insert(list, place % (n + 1) + 1, self:value(number, true))
  elseif operation == 2 and n > 0 and not has_hole then
    table.remove(list, place % n + 1)
  elseif operation == 3 and n > 1 then
    table.move(list, 2, n, 1)
    list[n] = nil
  elseif n > 1 then
    local i, j = place % n + 1, number % n + 1
    list[i], list[j] = list[j], list[i]
  else
    list[n + 1] = self:value(number, true)
  end
end

local LAZY_KEYS = { "x", "link", "a", "b" }
local function write_key(self, object, choice, number)
  local name = kind(object)
  local list = FIELDS[name] or name == "lazy" and LAZY_KEYS or KEYS
  local key, value = list[choice % #list + 1], self:value(number)
  self:note("%s[%s] = %s", self:name(object), self:name(key), self:name(value))
  -- L7: a write of `__newindex` is a change in any case.
  self.is_in_steps = name == "meta"
  if name == "meta" and rawget(object, key) == nil and number % 2 == 0
    or name == "plain" and number % 11 == 0 then
    rawset(object, key, value)
  else
    object[key] = value
  end
end
for _, name in ipairs { "dictionary", "base", "child", "meta", "opaque", "lazy" } do
  writers[name] = write_key
end
function writers.plain(self, object, choice, number)
  local write = choice % 4 == 0 and writers.list or write_key
  write(self, object, choice, number)
end

-- Writes to the object for step[2], as step[3] and step[4] say. Sets `is_in_steps` if that may be
-- several writes.
function Objects:write(step)
  local object = self:target(step[2])
  writers[kind(object)](self, object, step[3], step[4])
end

-- The program of a seed: writes that make up to 12 objects, then up to `longest` steps.
--
-- Transactions of the module use other code as soon as a process has had an opaque table. Half of
-- the seeds have none.
function Objects.program(seed, longest)
  math.randomseed(seed)
  local random, program, most = math.random, {has_opaque = seed % 1000 >= 500}, 1 << 20
  local made = random(0, 12)
  for i = 1, made + random(longest) do
    program[i] = { random(0, most), random(0, most), random(0, most), random(0, most) }
    -- 0 is a write, and 3 … 5 make a new value.
    if i <= made then program[i][1], program[i][4] = 0, 9 * random(0, most) + random(3, 5) end
  end
  return program
end

Objects.contents = contents
return Objects
