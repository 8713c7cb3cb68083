-- The contents of random trees, as plain Lua sees them: kinds of objects, copies, and comparisons
-- by content and sharing. Nothing here knows how the module follows changes.
local obs = require "obs"

local contents = {}

-- T5: identity, == for numbers; NaN equals NaN. Integers and floats may be equal.
local function same(a, b) return rawequal(a, b) or a ~= a and b ~= b
  or type(a) == "number" and type(b) == "number" and a == b end
contents.same = same
function contents.exactly(a, b) return same(a, b) and math.type(a) == math.type(b) end

-- Kinds ------------------------------------------------------------------------------------------

local Base = obs.model("TreeBase", { x = 0, link = obs.none, list = obs.none })
local Child = obs.model("TreeChild", Base, { y = obs.none, x = 5, shown = obs.computed({ "x" },
  function(self) return tostring(self.x) .. "!" end) })
local DERIVED = { C = true, L = true, shown = true }

-- The names that objects of some kinds have.
local FIELDS = {
  base = { "x", "link", "list" }, child = { "x", "link", "list", "y" },
  host = { "name", "size", "mate", "tags", "kids", "map", "table" },
}
contents.FIELDS = FIELDS

local meta = {
  __index = { inherited = 12345 }, __len = function() return 42 end,
  __newindex = function(t, key, value) rawset(t, key, value) end,
  __tostring = function() return "meta" end,
}

-- Each makes an empty object. In Swift, the global `make_host` makes Swift objects.
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
  host = rawget(_G, "make_host"),
}

-- The kinds of made objects, because their metatables may not tell.
local kind_of = {}
-- Called before each program.
function contents.forget_kinds() kind_of = {} end

local SHAPES = {
  [getmetatable(obs.array {})] = "array", [getmetatable(obs.set_of {})] = "set",
  [getmetatable(obs.dictionary {})] = "dictionary", [Base] = "base", [Child] = "child",
}

-- The kind that a metatable tells.
local function shape(value)
  if type(value) == "userdata" then return "host" end
  return SHAPES[getmetatable(value)] or "plain"
end
local function kind(object) return kind_of[object] or shape(object) end
contents.kind = kind

local function is_object(value) return type(value) == "table" or type(value) == "userdata" end
contents.is_object = is_object

-- The collections of a Swift object, which it never shares or replaces.
local PARTS = { tags = "hostset", kids = "hostarray", map = "hostmap" }

function contents.make(name)
  local made = makers[name]()
  kind_of[made] = name
  return made
end
function contents.can_make(name) return makers[name] ~= nil end

-- Contents ---------------------------------------------------------------------------------------

local function is_set(name) return name == "set" or name == "hostset" end

-- The stored values of an object by key; the keys of a set are its members. `as`: its kind.
local function entries(object, as)
  local map = {}
  as = as or kind(object)
  if as == "set" then
    for member in pairs(object) do map[member] = true end
  elseif as == "hostset" then
    for _, member in pairs(object) do map[member] = true end
  elseif as == "array" or as == "hostarray" then
    for i = 1, #object do map[i] = object[i] end
  elseif as == "hostmap" then
    for key, value in pairs(object) do map[key] = value end
  elseif as == "host" then
    for _, name in ipairs(FIELDS.host) do map[name] = object[name] end
    for part, of in next, PARTS do kind_of[map[part]] = of end
  else
    for key, value in next, object do if not DERIVED[key] then map[key] = value end end
  end
  return map
end
contents.entries = entries

-- The first key whose value differs; nil if the entries are equal.
function contents.differing(a, b, compare)
  for key, value in next, a do if not compare(value, b[key]) then return key end end
  for key in next, b do if a[key] == nil then return key end end
end

-- Whether the value under a key belongs to the tree. `is_deep`: as transactions define the tree.
local function follows(object, key, value, is_deep)
  if not is_object(value) then return false end
  if is_set(kind(object)) then return is_deep end
  return type(key) ~= "table" and (is_deep or kind(value) ~= "opaque")
end

function contents.each_inner(object, is_deep, visit)
  local is_of_members = is_set(kind(object))
  for key, value in next, entries(object) do
    if is_of_members then value = key end
    if follows(object, key, value, is_deep) then visit(value, key) end
  end
end

-- The objects at and below roots: as a set, and as a list in the order in which they are found.
function contents.reach(roots, is_deep)
  local found, work = {}, {}
  local function note(object)
    if not found[object] then found[object], work[#work + 1] = true, object end
  end
  for _, root in ipairs(roots) do note(root) end
  for _, object in ipairs(work) do contents.each_inner(object, is_deep, note) end
  return found, work
end

local RANKS = { number = 1, string = 2, boolean = 3 }
local function precedes(a, b)
  if type(a) ~= type(b) then return (RANKS[type(a)] or 4) < (RANKS[type(b)] or 4) end
  if type(a) == "boolean" then return a and not b end
  return tostring(a) < tostring(b)
end

-- The objects at and below a root, in an order that is the same for equal trees.
function contents.in_order(root)
  local found, work = { [root] = true }, { root }
  for _, object in ipairs(work) do
    local keys, inner = {}, {}
    contents.each_inner(object, false, function(value, key)
      keys[#keys + 1], inner[key] = key, value
    end)
    table.sort(keys, precedes)
    for _, key in ipairs(keys) do
      if not found[inner[key]] then found[inner[key]], work[#work + 1] = true, inner[key] end
    end
  end
  return work
end

-- Whether objects are members of sets of a tree. Copies keep such members as they are.
function contents.has_object_members(root)
  for _, object in ipairs((select(2, contents.reach({ root }, false)))) do
    if kind(object) == "set" then
      for member in next, entries(object) do if is_object(member) then return true end end
    end
  end
  return false
end

-- Copies -----------------------------------------------------------------------------------------

local COPIED = { meta = "plain", lazy = "plain", list = "plain", opaque = "plain" }

-- A copy of a tree of the same kinds with the same sharing; and the copies by object.
function contents.copy(root)
  local copies, work = {}, {}
  local function copied(object)
    if copies[object] then return copies[object] end
    local copy = contents.make(COPIED[kind(object)] or kind(object))
    copies[object], work[#work + 1] = copy, object
    if kind(object) == "host" then
      local parts, copied_parts = entries(object), entries(copy)
      for part in next, PARTS do
        copies[parts[part]], work[#work + 1] = copied_parts[part], parts[part]
      end
    end
    return copy
  end
  copied(root)
  for _, from in ipairs(work) do
    local to, name, map = copies[from], kind(from), entries(from)
    local function value_of(key, value)
      return follows(from, key, value, false) and copied(value) or value
    end
    if is_set(name) then
      for member in next, map do to:add(member) end
    elseif name == "array" or name == "hostarray" then
      for index = 1, #map do to:insert(index, value_of(index, map[index])) end
    elseif name == "host" then
      for _, field in ipairs(FIELDS.host) do
        if not PARTS[field] then
          local value = map[field]
          if value ~= nil then value = value_of(field, value) end
          to[field] = value
        end
      end
    else
      for _, field in ipairs(FIELDS[name] or {}) do to[field] = nil end
      for key, value in next, map do to[key] = value_of(key, value) end
    end
  end
  return copies[root], copies
end

-- A copy as plain data: all objects are plain tables, the members of a set a list in order.
function contents.plain(root)
  local copies, work = { [root] = {} }, { root }
  for _, from in ipairs(work) do
    local to = copies[from]
    if is_set(kind(from)) then
      for member in next, entries(from) do to[#to + 1] = member end
      table.sort(to, precedes)
    else
      for key, value in next, entries(from) do
        if is_object(value) and type(key) ~= "table" then
          if not copies[value] then copies[value], work[#work + 1] = {}, value end
          value = copies[value]
        end
        to[key] = value
      end
    end
  end
  return copies[root]
end

-- nil if a copy equals a tree in content and sharing; otherwise the path and the difference.
function contents.difference(tree, copy)
  local partner, origin, work = { [tree] = copy }, { [copy] = tree }, { { tree, copy, "root" } }
  for _, item in ipairs(work) do
    local x, y, path = item[1], item[2], item[3]
    local name = kind(x)
    if type(x) == "table" and shape(x) ~= shape(y) then
      return path .. " is " .. shape(x) .. ", not " .. shape(y)
    end
    local map_x, map_y = entries(x, name), entries(y, name)
    for key, value in next, map_x do
      local other, place = map_y[key], path .. "." .. tostring(key)
      if is_set(name) then
        if other == nil then return place .. " is a member of the tree only" end
      elseif not follows(x, key, value, false) then
        if not same(value, other) then
          return ("%s is %s, not %s"):format(place, tostring(value), tostring(other))
        end
      elseif not is_object(other) then
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

return contents
