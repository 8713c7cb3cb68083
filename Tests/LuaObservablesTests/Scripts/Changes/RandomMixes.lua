-- X2, X3, X5 and S8 for random programs that combine features which the other random tests use
-- separately: transactions inside of batches, coroutines and each other, each with its own roots;
-- watchers of all kinds; collections, models, tables with metatables, opaque tables, odd keys and
-- values; and histories.
--
--   obs-lua RandomMixes.lua [first seed [count ["free" | "history"]]]
--
-- The reference knows no wiring: it copies all contents before and after, and compares. In Swift,
-- `make_host` makes objects that programs use together with their own.
local obs = require "obs"

local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local programs = dofile(folder .. "../Support/programs.lua")
local make_host = rawget(_G, "make_host")

local mixes = {}

-- Values -----------------------------------------------------------------------------------------

local NAN = 0 / 0
local function same(a, b) return rawequal(a, b) or a ~= a and b ~= b
  or type(a) == "number" and type(b) == "number" and a == b end
local function exactly(a, b) return same(a, b) and math.type(a) == math.type(b) end

local function f1() end
local scalars = { 0, 1, 2, 1.0, 1.5, "x", "y", true, false, NAN, math.huge, -1, "", f1, print }
local NAMES = { "a", "b", "c", "d" }
local TABLE_KEY = { "a key" }
local KEYS = {
  "a", "b", "c", "d", "n", 1, 2, 3, 5, 2.5, -1, 0, true, false, TABLE_KEY, "n", "a", "b",
}

-- Kinds ------------------------------------------------------------------------------------------

local Base = obs.model("MixBase", { x = 0, link = obs.none, list = obs.none })
local Child = obs.model("MixChild", Base, { y = obs.none, x = 5, shown = obs.computed({ "x" },
  function(self) return tostring(self.x) .. "!" end) })
local FIELDS = { base = { "x", "link", "list" }, child = { "x", "link", "list", "y" } }
local DERIVED = { C = true, L = true, shown = true }

local meta = {
  __index = { inherited = 12345 }, __len = function() return 42 end,
  __newindex = function(t, key, value) rawset(t, key, value) end,
  __tostring = function() return "meta" end,
}

local makers = {
  plain = function() return {} end,
  list = function() return {} end,
  array = function() return obs.array {} end,
  set = function() return obs.set_of {} end,
  dictionary = function() return obs.dictionary {} end,
  base = function() return Base {} end,
  child = function() return Child {} end,
  meta = function() return setmetatable({}, meta) end,
  opaque = function() return obs.opaque {} end,
  lazy = function()
    local t = { x = 1 }
    obs.computed(t, "C", { "x", "link.x" }, function(self) return { self.x } end)
    obs.lazy(t, "L", { loader = function(self) self.L = "loaded" end })
    return t
  end,
}
local KINDS = { "plain", "plain", "plain", "list", "list", "array", "array", "dictionary", "set",
  "base", "child", "meta", "opaque", "lazy" }

local HOST_FIELDS = { host = { "name", "size", "mate", "tags", "kids", "map", "table" } }
if make_host then
  for _, kind in ipairs { "host", "host", "host", "host" } do KINDS[#KINDS + 1] = kind end
  makers.host = make_host
end

-- The kinds of all objects, including copies.
local kind_of = {}
local function is_object(value) return kind_of[value] ~= nil end

-- The stored values of an object by key; the keys of a set are its members.
local function entries(object)
  local kind, map = kind_of[object], {}
  if kind == "set" or kind == "hostset" then
    for member in pairs(object) do map[member] = true end
    if kind == "hostset" then
      map = {}
      for _, member in pairs(object) do map[member] = true end
    end
  elseif kind == "array" or kind == "hostarray" then
    for i = 1, #object do map[i] = object[i] end
  elseif kind == "hostmap" then
    for key, value in pairs(object) do map[key] = value end
  elseif kind == "host" then
    for _, name in ipairs(HOST_FIELDS.host) do map[name] = object[name] end
  else
    for key, value in next, object do if not DERIVED[key] then map[key] = value end end
  end
  return map
end

local function are_equal(a, b, compare)
  for key, value in next, a do
    if not compare(value, b[key]) then return key end
  end
  for key in next, b do if a[key] == nil then return key end end
end

-- Whether the value under a key belongs to the tree; `is_deep`: as transactions see it.
local function follows(object, key, value, is_deep)
  if not is_object(value) then return false end
  local kind = kind_of[object]
  if kind == "set" or kind == "hostset" then return is_deep end
  if type(key) == "table" then return false end
  return is_deep or kind_of[value] ~= "opaque"
end

local function each_inner(object, is_deep, visit)
  local kind = kind_of[object]
  for key, value in next, entries(object) do
    if kind == "set" or kind == "hostset" then value = key end
    if follows(object, key, value, is_deep) then visit(value) end
  end
end

local function reach(roots, is_deep, found)
  found = found or {}
  local work = {}
  for _, root in ipairs(roots) do
    if not found[root] then found[root] = true work[#work + 1] = root end
  end
  for _, object in ipairs(work) do
    each_inner(object, is_deep, function(value)
      if not found[value] then found[value] = true work[#work + 1] = value end
    end)
  end
  return found, work
end

-- Copies -----------------------------------------------------------------------------------------

local COPIED = { meta = "plain", lazy = "plain", list = "plain", opaque = "plain" }

local function new_of(kind)
  kind = COPIED[kind] or kind
  local made = makers[kind]()
  kind_of[made] = kind
  if kind == "host" then
    kind_of[made.tags], kind_of[made.kids], kind_of[made.map] = "hostset", "hostarray", "hostmap"
  end
  return made
end

local function copy_tree(root)
  local copies, work = { [root] = new_of(kind_of[root]) }, { root }
  local function note_parts(from, to)
    if kind_of[from] == "host" then
      for _, name in ipairs { "tags", "kids", "map" } do
        copies[from[name]] = to[name]
        work[#work + 1] = from[name]
      end
    end
  end
  note_parts(root, copies[root])
  local i = 1
  while i <= #work do
    local from = work[i]
    i = i + 1
    local to, kind = copies[from], kind_of[from]
    local function copied(key, value)
      if not follows(from, key, value, false) then return value end
      if not copies[value] then
        copies[value] = new_of(kind_of[value])
        work[#work + 1] = value
        note_parts(value, copies[value])
      end
      return copies[value]
    end
    local map = entries(from)
    if kind == "set" or kind == "hostset" then
      for member in next, map do to:add(member) end
    elseif kind == "array" or kind == "hostarray" then
      for index = 1, #map do to:insert(index, copied(index, map[index])) end
    elseif kind == "host" then
      for _, name in ipairs(HOST_FIELDS.host) do
        local value = map[name]
        if name ~= "tags" and name ~= "kids" and name ~= "map" then
          to[name] = copied(name, value)
        end
      end
    else
      for _, name in ipairs(FIELDS[kind] or {}) do to[name] = nil end
      for key, value in next, map do to[key] = copied(key, value) end
    end
  end
  return copies[root]
end

-- The kind of object that a copy needs; objects made by changes have no known kind.
local function shape(value)
  if type(value) == "userdata" then return "host" end
  local class = getmetatable(value)
  if class == getmetatable(obs.array {}) then return "array" end
  if class == getmetatable(obs.set_of {}) then return "set" end
  if class == getmetatable(obs.dictionary {}) then return "dictionary" end
  if class == Base then return "base" end
  if class == Child then return "child" end
  return "plain"
end

-- nil if a copy equals a tree in content and sharing; otherwise the path and the difference.
local function difference(tree, copy)
  local partner, origin, work = { [tree] = copy }, { [copy] = tree }, { { tree, copy, "root" } }
  local i = 1
  while i <= #work do
    local x, y, path = work[i][1], work[i][2], work[i][3]
    i = i + 1
    local kind = kind_of[x]
    if type(x) == "table" and shape(x) ~= shape(y) then
      return path .. " is " .. shape(x) .. ", not " .. shape(y)
    end
    local was = kind_of[y]
    kind_of[y] = kind
    local map_x, map_y = entries(x), entries(y)
    if not was then kind_of[y] = COPIED[kind] or kind else kind_of[y] = was end
    for key, value in next, map_x do
      local other, place = map_y[key], path .. "." .. tostring(key)
      if kind == "set" or kind == "hostset" then
        if other == nil then return place .. " is a member of the tree only" end
      elseif not follows(x, key, value, false) then
        if not same(value, other) then
          return ("%s is %s, not %s"):format(place, tostring(value), tostring(other))
        end
      elseif type(other) ~= "table" and type(other) ~= "userdata" then
        return ("%s is an object, not %s"):format(place, tostring(other))
      elseif partner[value] or origin[other] then
        if partner[value] ~= other or origin[other] ~= value then
          return place .. " is shared otherwise"
        end
      else
        if rawequal(value, other) then return place .. " is aliased" end
        partner[value], origin[other] = other, value
        work[#work + 1] = { value, other, place }
      end
    end
    for key in next, map_y do
      if map_x[key] == nil then return path .. "." .. tostring(key) .. " is in the copy only" end
    end
  end
end

-- Worlds -----------------------------------------------------------------------------------------

local World = {}
World.__index = World

local function world_of(mode)
  local world = setmetatable({
    mode = mode, objects = {}, log = {}, frames = {}, watchers = {}, pending = {}, batches = 0,
    is_moved = false, writes = {}, names = {},
  }, World)
  world.root = world:make "plain"
  return world
end

function World:note(text, ...)
  self.log[#self.log + 1] = ("  "):rep(#self.frames) .. text:format(...)
end

function World:adopt(object, kind)
  kind_of[object] = kind
  self.objects[#self.objects + 1] = object
  self.names[object] = kind .. #self.objects
  return object
end

function World:name(value)
  if self.names[value] then return self.names[value] end
  if type(value) == "string" then return ("%q"):format(value) end
  return tostring(value)
end

function World:make(kind)
  local object = self:adopt(makers[kind](), kind)
  if kind == "host" then
    self:adopt(object.tags, "hostset")
    self:adopt(object.kids, "hostarray")
    self:adopt(object.map, "hostmap")
  end
  return object
end

function World:value(number, is_needed, kind)
  local choice, rest = number % 9, number // 9
  if kind then
    if choice < 2 and not is_needed then return nil end
    if choice < 5 then return self:make(kind) end
    local known = {}
    for _, object in ipairs(self:targets()) do
      if kind_of[object] == kind then known[#known + 1] = object end
    end
    return known[rest % (#known + 1) + 1] or self:make(kind)
  end
  if choice == 0 and not is_needed then return nil end
  if choice <= 2 then return scalars[rest % #scalars + 1] end
  if choice <= 5 then return self:make(KINDS[rest % #KINDS + 1]) end
  local known = {}
  for _, object in ipairs(self:targets()) do
    -- A host object never shares its collections.
    if type(object) == "table" or kind_of[object] == "host" then known[#known + 1] = object end
  end
  return known[rest % #known + 1] or {}
end

-- The writable objects. A history knows only objects below its root.
function World:targets()
  if self.mode ~= "history" then return self.objects end
  local found = reach({ self.root }, false)
  local list = {}
  for _, object in ipairs(self.objects) do
    if found[object] then list[#list + 1] = object end
  end
  return list
end

local function length(list)
  local n = 0
  while rawget(list, n + 1) ~= nil do n = n + 1 end
  return n
end

function World:write(step)
  local objects = self:targets()
  local object, choice, number = objects[step[2] % #objects + 1], step[3], step[4]
  local kind = kind_of[object]
  local name = self:name(object)
  if kind == "set" then
    local member = scalars[number % 9 + 1]
    if number % 4 == 3 then
      member = self.objects[choice % #self.objects + 1]
      if type(member) == "userdata" then member = "m" end
    end
    self:note("%s %s %s", name, choice % 2 == 0 and "add" or "remove", self:name(member))
    if number % 31 == 0 then object:clear()
    elseif choice % 2 == 0 then object:add(member) else object:remove(member) end
  elseif kind == "hostset" then
    local member = "t" .. number % 3
    self:note("%s %s %s", name, choice % 2 == 0 and "add" or "remove", member)
    if choice % 2 == 0 then object:add(member) else object:remove(member) end
  elseif kind == "hostmap" then
    local key, value = "k" .. choice % 3, number % 4
    self:note("%s.%s = %s", name, key, value)
    object[key] = value > 0 and value or nil
  elseif kind == "hostarray" then
    local n, operation, place = #object, choice % 4, choice // 4
    if operation <= 1 or n == 0 then
      local value = self:value(number, true, "host")
      self:note("%s insert %d %s", name, place % (n + 1) + 1, self:name(value))
      object:insert(place % (n + 1) + 1, value)
    elseif operation == 2 then
      self:note("%s remove %d", name, place % n + 1)
      object:remove(place % n + 1)
    else
      self:note("%s move %d %d", name, place % n + 1, number % n + 1)
      object:move(place % n + 1, number % n + 1)
    end
  elseif kind == "host" then
    local field = choice % 5
    if field == 0 then
      object.name = "n" .. number % 4
      self:note("%s.name = n%d", name, number % 4)
    elseif field == 1 then
      object.size = number % 5
      self:note("%s.size = %d", name, number % 5)
    elseif field == 2 or HOST_FIELDS.host[7] == nil then
      local value = self:value(number, false, "host")
      self:note("%s.mate = %s", name, self:name(value))
      object.mate = value
    else
      local value = self:value(number, false, choice % 2 == 0 and "plain" or "list")
      self:note("%s.table = %s", name, self:name(value))
      object.table = value
    end
  elseif kind == "array" then
    local n, operation, place = #object, choice % 7, choice // 7
    self:note("%s operation %d %d %d", name, operation, place, number)
    if operation <= 1 or n == 0 then
      object:insert(place % (n + 1) + 1, self:value(number, true))
    elseif operation == 2 then
      object:remove(place % n + 1)
    elseif operation == 3 then
      object:move(place % n + 1, number % n + 1)
    elseif operation == 4 and number % 5 == 0 then
      object:clear()
    elseif operation == 5 and n > 1 then
      local i, j = place % n + 1, number % n + 1
      object[i], object[j] = object[j], object[i]
    else
      object[place % n + 1] = self:value(number, true)
    end
  elseif kind == "list" or kind == "plain" and choice % 4 == 0 then
    local n, operation, place = length(object), choice // 4 % 5, choice // 20
    self:note("%s list %d %d %d (%d)", name, operation, place, number, n)
    local has_hole = false
    for key in next, object do
      if math.type(key) == "integer" and key > n then has_hole = true end
    end
    if operation <= 1 and not has_hole then
      table.insert(object, place % (n + 1) + 1, self:value(number, true))
    elseif operation == 2 and n > 0 and not has_hole then
      table.remove(object, place % n + 1)
    elseif operation == 3 and n > 1 then
      table.move(object, 2, n, 1)
      object[n] = nil
    elseif n > 1 then
      local i, j = place % n + 1, number % n + 1
      object[i], object[j] = object[j], object[i]
    else
      object[n + 1] = self:value(number, true)
    end
  else
    local list = FIELDS[kind] or KEYS
    if kind == "lazy" then list = { "x", "link", "a", "b" } end
    if kind == "dictionary" and choice % 17 == 0 then list = NAMES end
    local key, value = list[choice % #list + 1], self:value(number)
    self:note("%s[%s] = %s", name, self:name(key), self:name(value))
    if kind == "meta" and rawget(object, key) == nil and number % 2 == 0
      or kind == "plain" and number % 11 == 0 then
      rawset(object, key, value)
    else
      object[key] = value
    end
  end
end

-- Watchers ---------------------------------------------------------------------------------------

local DEEP = { "**", "a.**", "**.n", "*", "*.a", "a.b", "**.*.n", "b.**.a" }

local function text_of(changes)
  local function text(value, depth)
    if type(value) ~= "table" or depth > 5 then return tostring(value) end
    local parts = {}
    for key, inner in pairs(value) do
      parts[#parts + 1] = tostring(key) .. "=" .. text(inner, depth + 1)
    end
    table.sort(parts)
    return "{" .. table.concat(parts, " ") .. "}"
  end
  local lines = {}
  for i, change in ipairs(changes) do lines[i] = text(change, 0) end
  return table.concat(lines, "\n    ")
end

function World:fail(text, ...)
  self.problem = self.problem or text:format(...)
end

function World:watch_changes(object, is_restricted)
  local watcher = { kind = "changes", copy = copy_tree(object), object = object, calls = 0 }
  local number = #self.watchers + 1
  self.watchers[number] = watcher
  self:note("watcher %d: changes of %s%s", number, self:name(object),
    is_restricted and " (restricted)" or "")
  watcher.restricted = is_restricted
  watcher.handle = obs.changes(object, function(observed, changes)
    watcher.calls = watcher.calls + 1
    if #changes == 0 then self:fail("X2: watcher %d is told of no change", number) end
    if watcher.restricted then return end
    if watcher.is_paused then self:fail("X2: watcher %d is paused", number) end
    local before = copy_tree(watcher.copy)
    local function expect(what, target, list, wanted)
      local ok, message = pcall(obs.apply, target, list)
      local wrong = not ok and message or difference(wanted, target)
      if wrong then
        self:fail("X3: watcher %d: %s: %s\n    %s", number, what, wrong, text_of(list))
      end
    end
    local was = watcher.copy
    expect("apply(before, changes)", was, changes, observed)
    local back = copy_tree(observed)
    expect("apply(after, invert(changes))", back, obs.invert(changes), before)
    -- Objects made by changes have no known kind here.
    watcher.copy = copy_tree(observed)
  end, { path = is_restricted and "**.n" or nil, site = number % 2 == 0 })
end

function World:watch(step)
  local objects = self:targets()
  local object, choice = objects[step[3] % #objects + 1], step[4] % 8
  if type(object) == "userdata" and choice ~= 0 then choice = 3 end
  -- Collections of a host object cannot be copied alone.
  if choice == 0 and not makers[kind_of[object]] then object = self.root end
  local number = #self.watchers + 1
  if number > 12 then return end
  local watcher = { object = object, calls = 0, expected = 0 }
  if choice == 0 and self.batches == 0 then
    return self:watch_changes(object, step[4] // 8 % 4 == 0)
  elseif choice == 1 or choice == 2 then
    -- For one key of a table it is known exactly whether a call is pending.
    local kind = kind_of[object]
    if kind == "array" or kind == "set" or kind == "meta" then return end
    local key = (FIELDS[kind] or NAMES)[step[4] // 8 % 3 + 1]
    if kind == "lazy" then key = "x" end
    watcher.key, watcher.last = key, rawget(object, key)
    watcher.kind = choice == 1 and "key" or "immediate"
    self:note("watcher %d: %s of %s.%s", number, watcher.kind, self:name(object), key)
    watcher.handle = obs.observe(object, key, function(_, _, change)
      watcher.calls = watcher.calls + 1
      if choice == 2 then
        if not watcher.is_unsure and self.batches == 0 and not same(change.old, watcher.last) then
          self:fail("S8: immediate watcher %d: old is %s, not %s", number, self:name(change.old),
            self:name(watcher.last))
        end
        watcher.last = change.new
        if self.batches > 0 then watcher.is_unsure = true end
      end
      if choice == 1 and number % 5 == 0 then error("a watcher fails", 0) end
    end, { immediate = choice == 2 })
    self.pending[watcher] = {}
  else
    local path = DEEP[step[4] // 8 % #DEEP + 1]
    watcher.kind, watcher.path = "deep", path
    local is_immediate = choice == 7
    self:note("watcher %d: %s of %s%s", number, path, self:name(object),
      is_immediate and "!" or "")
    local ok, handle = pcall(obs.observe, object, path, function()
      watcher.calls = watcher.calls + 1
    end, { immediate = is_immediate })
    -- Some objects do not accept such a component.
    if not ok then return end
    watcher.handle, watcher.immediate = handle, is_immediate
    watcher.state = not is_immediate and path == "**" and self:deep_state(object)
  end
  self.watchers[number] = watcher
end

-- The contents of an object and everything below it, as `**` sees them.
function World:deep_state(root)
  local found, work = { [root] = true }, { root }
  local state = {}
  for i, object in ipairs(work) do
    state[object] = entries(object)
    if i == 1 and kind_of[object] == "opaque" then break end
    local kind = kind_of[object]
    for key, value in next, state[object] do
      if kind == "set" or kind == "hostset" then value = key end
      if is_object(value) and kind_of[value] ~= "opaque" and not found[value]
        and (kind == "set" or type(key) ~= "table") then
        found[value] = true
        work[#work + 1] = value
      end
    end
  end
  return state
end

local function differs(a, b)
  for object, map in next, a do
    if not b[object] then return "an object left" end
    local key = are_equal(map, b[object], same)
    if key ~= nil then return tostring(key) end
  end
  for object in next, b do if not a[object] then return "an object came" end end
end

-- Returns the watched keys with their values before a write, for `after`.
function World:before()
  local known = {}
  for _, watcher in ipairs(self.watchers) do
    if watcher.key and watcher.handle then
      known[#known + 1] = { watcher, rawget(watcher.object, watcher.key) }
    end
  end
  return known
end

function World:after(known)
  for _, pair in ipairs(known) do
    local watcher, old = pair[1], pair[2]
    local new = rawget(watcher.object, watcher.key)
    if not same(old, new) and self.pending[watcher] then
      local write = { by = {} }
      for _, frame in ipairs(self.frames) do
        if frame.cover[watcher.object] then write.by[frame] = true end
        frame.writes[#frame.writes + 1] = write
      end
      self.pending[watcher][write] = true
    end
  end
end

-- Notes a write to an object, and the open transactions that would undo it.
function World:wrote(object)
  local write = { by = {} }
  for _, frame in ipairs(self.frames) do
    if frame.cover[object] then write.by[frame] = true end
    frame.writes[#frame.writes + 1] = write
  end
  self.writes[#self.writes + 1] = write
end

-- Whether there is a write that was not undone.
function World:has_moved()
  for _, write in ipairs(self.writes) do
    if not write.is_undone then return true end
  end
  return self.is_moved
end

-- Transactions -----------------------------------------------------------------------------------

function World:extend()
  for _, frame in ipairs(self.frames) do
    local work = {}
    for object in next, frame.cover do work[#work + 1] = object end
    for _, object in ipairs(work) do
      each_inner(object, true, function(value)
        if not frame.cover[value] then
          frame.cover[value], frame.added[value] = entries(value), #self.log
          work[#work + 1] = value
        end
      end)
    end
  end
end

function World:contents()
  local all = {}
  for _, object in ipairs(self.objects) do all[object] = entries(object) end
  return all
end

function World:transaction(step, first, last)
  local objects = self:targets()
  local roots = { objects[step[3] % #objects + 1] }
  if step[4] % 3 > 0 then roots[1] = self.root end
  if step[4] % 5 == 0 then roots[2] = objects[step[4] % #objects + 1] end
  local fails = step[4] // 3 % 5
  local frame = { cover = {}, writes = {}, added = {}, first = #self.log }
  local count = #self.watchers
  for object in next, (reach(roots, true)) do frame.cover[object] = entries(object) end
  local names = {}
  for i, root in ipairs(roots) do names[i] = self:name(root) end
  self:note("transaction on %s, %s", table.concat(names, " and "),
    ({ [0] = "kept", "error", "abort", "caught abort", "kept" })[fails])
  self.frames[#self.frames + 1] = frame
  local ok, message = obs.transaction(roots, function()
    self:run(first, last)
    if self.problem then error("stop", 0) end
    frame.final = self:contents()
    if fails == 1 then error("fails", 0) end
    if fails == 2 then obs.abort("fails") end
    if fails == 3 then pcall(obs.abort, "fails") end
  end)
  self.frames[#self.frames] = nil
  if self.problem then return end
  if fails >= 1 and fails <= 3 then
    self:note("failed")
    if ok or message ~= "fails" then
      return self:fail("S8: a transaction ends with %s %s", tostring(ok), tostring(message))
    end
    for _, object in ipairs(self.objects) do
      local wanted = frame.cover[object] or frame.final[object]
      local key = are_equal(wanted, entries(object), exactly)
      if key ~= nil then
        local is = entries(object)[key]
        return self:fail("S8: after a failure %s[%s] is %s, not %s%s", self:name(object),
          self:name(key), self:name(is), self:name(wanted[key]),
          frame.cover[object] and "" or " (not covered)")
      end
    end
    for _, write in ipairs(frame.writes) do
      if write.by[frame] then write.is_undone = true end
    end
    -- Values that outer transactions noted during this one were undone: they keep the restored
    -- values.
    for _, outer in ipairs(self.frames) do
      for object, map in next, frame.cover do
        local added = outer.added[object]
        if added and added > (frame.added[object] or frame.first) then outer.cover[object] = map end
      end
    end
    -- Watchers registered inside know the current values. If some writes stay, part of the undone
    -- values are news for them.
    local is_all_back = true
    for _, write in ipairs(frame.writes) do is_all_back = is_all_back and write.is_undone end
    for number = count + 1, #self.watchers do
      local watcher = self.watchers[number]
      if not is_all_back then
        watcher.restricted, watcher.state = true, nil
      elseif watcher.handle then
        if watcher.copy then watcher.copy = copy_tree(watcher.object) end
        if watcher.state then watcher.state = self:deep_state(watcher.object) end
      end
    end
  else
    self:note("kept")
    if not ok then return self:fail("S8: a transaction fails: %s", tostring(message)) end
    for _, object in ipairs(self.objects) do
      local key = are_equal(frame.final[object], entries(object), exactly)
      if key ~= nil then return self:fail("S8: %s changes at the end", self:name(object)) end
    end
  end
end

-- Turns ------------------------------------------------------------------------------------------

function World:flush()
  if #self.frames > 0 or self.batches > 0 then return end
  self:note "flush"
  for _ = 1, 2 do obs.flush() end
  if self.problem then return end
  for number, watcher in ipairs(self.watchers) do
    if not watcher.handle then
      if watcher.calls ~= (watcher.frozen or watcher.calls) then
        return self:fail("T7: watcher %d is called after it was stopped", number)
      end
      watcher.frozen = watcher.calls
    elseif watcher.kind == "changes" and not watcher.restricted and not watcher.is_paused then
      local wrong = difference(watcher.object, watcher.copy)
      if wrong then return self:fail("X2: watcher %d: after a turn %s", number, wrong) end
    elseif watcher.kind == "key" then
      local is_pending = false
      for write in next, self.pending[watcher] do is_pending = is_pending or not write.is_undone end
      self.pending[watcher] = {}
      if watcher.calls ~= (is_pending and 1 or 0) then
        return self:fail("S8: watcher %d is called %d times", number, watcher.calls)
      end
      watcher.calls = 0
    elseif watcher.kind == "immediate" then
      if watcher.is_unsure then
        watcher.is_unsure, watcher.last = false, rawget(watcher.object, watcher.key)
      elseif not same(watcher.last, rawget(watcher.object, watcher.key)) then
        return self:fail("S8: immediate watcher %d has %s, not %s", number,
          self:name(watcher.last), self:name(rawget(watcher.object, watcher.key)))
      end
      watcher.calls = 0
    elseif watcher.kind == "deep" and not watcher.immediate then
      if watcher.calls > 0 and not self:has_moved() then
        return self:fail("S8: watcher %d is called, and nothing was written", number)
      end
      if watcher.state then
        local state = self:deep_state(watcher.object)
        local place = differs(watcher.state, state)
        if place and watcher.calls ~= 1 then
          return self:fail("X1: watcher %d is called %d times: %s", number, watcher.calls, place)
        end
        watcher.state = state
      end
      watcher.calls = 0
    end
  end
  self.is_moved, self.writes = false, {}
end

-- History ----------------------------------------------------------------------------------------

function World:snapshot()
  local state = {}
  for object in next, (reach({ self.root }, false)) do state[object] = entries(object) end
  return { map = state }
end

function World:expect_history(what)
  local states, at = self.states, self.at
  local place = differs(states[at].map, self:snapshot().map)
  if place then return self:fail("X5: after %s %s differs", what, place) end
  if self.history.can_undo ~= (at > 1) then
    return self:fail("X5: after %s can_undo is %s", what, tostring(self.history.can_undo))
  end
  if self.history.can_redo ~= (at < #states) then
    return self:fail("X5: after %s can_redo is %s", what, tostring(self.history.can_redo))
  end
end

-- The writes become a step of the history.
function World:record()
  local new = self:snapshot()
  if not differs(self.states[self.at].map, new.map) then return end
  for i = #self.states, self.at + 1, -1 do self.states[i] = nil end
  if self.is_open and self.open_state == self.states[self.at] then
    self.states[self.at].map = new.map
    new = self.states[self.at]
  else
    self.at = self.at + 1
    self.states[self.at] = new
    if #self.states > self.limit + 1 then
      table.remove(self.states, 1)
      self.at = self.at - 1
    end
  end
  if self.is_open then self.open_state = new end
end

function World:settle()
  self:record()
  self.is_open, self.open_state, self.depth = false, nil, 0
end

function World:use_history(step)
  if #self.frames > 0 or self.batches > 0 then return end
  local known = self:before()
  self:make_history(step)
  self:after(known)
  self.is_moved = true
end

function World:make_history(step)
  local choice, number = step[3] % 12, step[4]
  local history = self.history
  if choice <= 3 then
    self:note "undo"
    self:settle()
    local can = self.at > 1
    if history:undo() ~= can then return self:fail("X5: undo is not %s", tostring(can)) end
    if can then self.at = self.at - 1 end
    self:expect_history "undo"
  elseif choice <= 6 then
    self:note "redo"
    self:settle()
    local can = self.at < #self.states
    if history:redo() ~= can then return self:fail("X5: redo is not %s", tostring(can)) end
    if can then self.at = self.at + 1 end
    self:expect_history "redo"
  elseif choice == 7 then
    local name = "m" .. number % 3
    self:note("mark %s", name)
    self:record()
    history:mark(name)
    self.marks[name] = self.states[self.at]
  elseif choice == 8 then
    local name = "m" .. number % 3
    local mark = self.marks[name]
    if not mark then return end
    self:note("undo to %s", name)
    self:settle()
    local target
    for i = 1, self.at do if self.states[i] == mark then target = i end end
    local can = target ~= nil and target < self.at
    if history:undo(name) ~= can then
      return self:fail("X5: undo to a mark is not %s", tostring(can))
    end
    if can then self.at = target end
    self:expect_history "undo to a mark"
  elseif choice == 9 and not self.is_open then
    self:note "begin"
    self:record()
    self.is_open, self.open_state = true, nil
    history:begin()
  elseif choice == 10 and self.is_open then
    self:note "commit"
    self:settle()
    history:commit()
  elseif choice == 11 and number % 5 == 0 then
    self:note "clear"
    history:clear()
    self.states, self.at, self.marks = { self:snapshot() }, 1, {}
    self.open_state = nil
    self:expect_history "clear"
  end
end

-- Programs ---------------------------------------------------------------------------------------

function World:run(first, last)
  local i = first
  while i <= last do
    if self.problem then return end
    local step = self.program[i]
    local choice = step[1] % 40
    if #self.program == 0 then return end
    local inner = math.min(last, i + step[2] % 7)
    if choice <= 21 then
      local known = self:before()
      local objects = self:targets()
      self:wrote(objects[step[2] % #objects + 1])
      local ok, message = pcall(self.write, self, step)
      if not ok then self:fail("a write fails: %s", tostring(message)) end
      self:after(known)
      self:extend()
    elseif choice <= 26 then
      self:transaction(step, i + 1, inner)
      i = inner
    elseif choice <= 30 then
      if self.mode == "history" then
        if #self.frames == 0 and self.batches == 0 then
          self:record()
          self:flush()
          if not self.problem then self:expect_history "a turn" end
        end
      else
        self:flush()
      end
    elseif choice == 31 then
      self:note "collect"
      collectgarbage(step[3] % 2 == 0 and "collect" or "step")
    elseif choice == 32 then
      self:note "batch"
      self.batches = self.batches + 1
      obs.batch(function() self:run(i + 1, inner) end)
      self.batches = self.batches - 1
      i = inner
    elseif choice == 33 then
      self:note "coroutine"
      local ok, message = coroutine.resume(coroutine.create(function() self:run(i + 1, inner) end))
      if not ok then self:fail("a coroutine fails: %s", tostring(message)) end
      i = inner
    elseif choice <= 35 then
      self:watch(step)
    elseif choice == 36 then
      local number = step[3] % (#self.watchers + 1)
      local watcher = self.watchers[number]
      if watcher and watcher.handle then
        self:note("stop %d", number)
        watcher.handle:stop()
        watcher.handle, watcher.frozen = nil, watcher.calls
        self.pending[watcher] = nil
      end
    elseif choice == 37 then
      local watcher = self.watchers[step[3] % (#self.watchers + 1)]
      if watcher and watcher.handle and watcher.kind == "changes" then
        self:note(watcher.is_paused and "resume" or "pause")
        if watcher.is_paused then
          watcher.is_paused = false
          watcher.handle:resume()
        else
          watcher.handle:pause()
          watcher.is_paused = true
        end
      end
    elseif choice == 38 then
      local objects = self:targets()
      local object = objects[step[3] % #objects + 1]
      if kind_of[object] == "lazy" or kind_of[object] == "child" then
        local key = kind_of[object] == "child" and "shown" or step[4] % 2 == 0 and "C" or "L"
        local what = step[4] // 2 % 4
        self:note("%s.%s: %d", self:name(object), key, what)
        self.is_moved = true
        if what == 0 then object[key] = "override"
        elseif what == 1 then obs.invalidate(object, key)
        else pcall(obs.get, object, key) end
      end
    elseif choice == 39 and self.mode == "history" then
      self:use_history(step)
    elseif choice == 39 then
      local objects = self:targets()
      local object = objects[step[3] % #objects + 1]
      if type(object) == "table" then
        self:note("merge into %s", self:name(object))
        local known = self:before()
        self:wrote(object)
        local data = {}
        for key, value in next, entries(object) do data[key] = value end
        if kind_of[object] == "plain" or kind_of[object] == "dictionary" then
          data.a, data.b = step[4] % 3, nil
          pcall(obs.merge, object, data)
        end
        -- Data is copied, so the new objects are not known yet.
        for _, target in ipairs(self.objects) do
          for _, value in next, entries(target) do
            if type(value) == "table" and not kind_of[value] and value ~= TABLE_KEY then
              self:adopt(value, shape(value) == "plain" and "plain" or shape(value))
            end
          end
        end
        self:after(known)
        self:extend()
        self.is_moved = true
      end
    end
    if self.mode == "history" and #self.frames == 0 and step[1] % 7 == 0 then
      self:use_history(step)
    end
    i = i + 1
  end
end

local reported
obs.on_error(function(report)
  if not tostring(report.error or report):find("a watcher fails", 1, true) then
    reported = tostring(report.error or report)
  end
end)

-- Runs a program; returns the problem and a log of the run.
function mixes.check(program, mode)
  kind_of = {}
  local world = world_of(mode)
  reported = nil
  world.program = program
  local ok, message = pcall(function()
    if mode == "history" then
      world.limit = program[1] and program[1][3] % 3 == 0 and 3 or 100
      world.history = obs.history(world.root, { limit = world.limit })
      world.states, world.at, world.marks, world.depth = { world:snapshot() }, 1, {}, 0
    else
      world:watch_changes(world.root)
    end
    world:run(1, #program)
    if not world.problem then
      if mode == "history" then
        world:settle()
        world.history:begin()
        world.history:commit()
        local first = 1
        while not world.problem and world.at > first do
          if not world.history:undo() then world:fail("X5: undo at the end") break end
          world.at = world.at - 1
          world:expect_history "undo of all"
        end
        while not world.problem and world.at < #world.states do
          if not world.history:redo() then world:fail("X5: redo at the end") break end
          world.at = world.at + 1
          world:expect_history "redo of all"
        end
      end
      if not world.problem and mode ~= "history" then world:flush() end
    end
  end)
  for _, watcher in ipairs(world.watchers) do
    if watcher.handle then watcher.handle:stop() end
  end
  if world.history then world.history:stop() end
  pcall(obs.flush)
  local problem = not ok and tostring(message) or world.problem
    or reported and "reported: " .. reported
  if not problem and mode ~= "history" then
    for _, object in ipairs(world.objects) do
      local keys = obs.observed_keys(object)
      if #keys > 0 and kind_of[object] ~= "lazy" and kind_of[object] ~= "child" then
        -- The dependencies of lazy properties stay observed.
        local is_linked = false
        for _, other in ipairs(world.objects) do
          if kind_of[other] == "lazy" and rawget(other, "link") == object then is_linked = true end
        end
        if not is_linked then
          problem = world:name(object) .. " is still observed: " .. table.concat(keys, " ")
          break
        end
      end
    end
  end
  if make_host then
    for _, object in ipairs(world.objects) do
      if kind_of[object] == "host" then
        object.mate, object.table = nil, nil
        object.kids:clear()
      end
    end
  end
  return problem, world.log
end

function mixes.program(seed)
  math.randomseed(seed)
  local random, program = math.random, {}
  for i = 1, random(50) do
    program[i] = { random(0, 1 << 20), random(0, 1 << 20), random(0, 1 << 20), random(0, 1 << 20) }
  end
  return program
end

function mixes.shrunk(program, mode)
  local is_shorter = true
  while is_shorter do
    is_shorter = false
    local size = math.max(1, #program // 2)
    while size >= 1 do
      local at = 1
      while at <= #program do
        local shorter = {}
        for i, step in ipairs(program) do
          if i < at or i >= at + size then shorter[#shorter + 1] = step end
        end
        if mixes.check(shorter, mode) then
          program, is_shorter = shorter, true
        else
          at = at + size
        end
      end
      size = size // 2
    end
  end
  return program
end

function mixes.run(first, last, modes)
  for seed = first, last do
    for _, mode in ipairs(modes) do
      local program = mixes.program(seed)
      if mixes.check(program, mode) then
        program = mixes.shrunk(program, mode)
        local problem, log = mixes.check(program, mode)
        error(("seed %d, %s: %s\n%s"):format(seed, mode, problem, table.concat(log, "\n")), 0)
      end
    end
  end
end

local first, last = programs.seeds(250)
if arg and arg[1] then
  first = math.tointeger(tonumber(arg[1]))
  last = first + math.tointeger(tonumber(arg[2] or 1)) - 1
end
mixes.run(first, last, arg and arg[3] and { arg[3] } or { "free", "history" })
