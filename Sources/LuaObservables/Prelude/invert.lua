-- Inverting changes, and the final paths of objects: a slice of the module `obs`.
local core, obs = ...

local next, setmetatable = next, setmetatable
local insert, remove = table.insert, table.remove
local extended, raise, trees = core.extended, core.raise, core.trees
local check_list, copied, is_of_member, label, malformed, number_type, position_of =
  trees.check_list, trees.copied, trees.is_of_member, trees.label, trees.malformed,
  trees.number_type, trees.position_of

-- Objects as far as changes mention them, found by paths from the root before the first change.
-- `list` has the entries at a list's first positions, each { base = former position } or an object.
-- `base` is the number of former elements that are in `list` or gone.
local Known = {}
Known.__index = Known

local function known(parent) return setmetatable({ children = {}, slots = {} }, Known) end

function Known:former(key)
  local slot = self.slots[key]
  if slot ~= nil then return slot or nil end
  local child = self.children[key]
  if not child then
    child = known()
    self.children[key] = child
  end
  return child
end

function Known:child(key)
  local position = position_of(key)
  if position and self.list then
    local entry = self.list[position]
    if not entry then return self:former(position - #self.list + self.base) end
    if entry.base then return self:former(entry.base) end
    return entry.object
  end
  return self:former(position or key)
end

function Known:begin_list(count)
  self.list, self.base = self.list or {}, self.base or 0
  if count - #self.list > 1 << 20 then return false end
  while #self.list < count do
    self.base = self.base + 1
    self.list[#self.list + 1] = { base = self.base }
  end
  return true
end

function Known:set(key, object)
  local position = position_of(key)
  if position and self.list then
    if position <= #self.list then
      self.list[position] = { object = object }
      return
    end
    position = position - #self.list + self.base
  end
  self.slots[position or key] = object or false
end

-- The last element of the former list that a change affects.
local function reached(change, position)
  if change.kind == "insert" then return position - 1 end
  local from = position_of(change.from)
  return change.kind == "move" and from > position and from or position
end

-- Returns a function from an object's former path to its final path; it returns nil if the changes
-- do not determine this.
function trees.locations(changes)
  local root, references = known(), {}
  local function find(path, last)
    local object = root
    for i = 1, last do
      if not object then return nil end
      object = object:child(path[i])
    end
    return object
  end
  for i = 1, #changes do
    for _, field in next, { "ref", "old_ref" } do
      local path = changes[i][field]
      if path and not path.after then references[path] = find(path, #path) end
    end
  end
  for i = 1, #changes do
    local change = changes[i]
    local path, kind = change.path, change.kind
    local n = #path
    local key, object = path[n], n > 0 and find(path, n - 1) or nil
    local value = change.ref and references[change.ref] or nil
    if not value and (change.new ~= nil or change.ref) then value = known() end
    local position = position_of(key)
    if not object or is_of_member(change) then
      -- Members of sets have no paths.
    elseif kind == "set" then
      object:set(key, value)
    elseif position and object:begin_list(reached(change, position)) then
      if kind == "insert" then
        insert(object.list, position, { object = value })
      elseif kind == "remove" then
        remove(object.list, position)
      else
        insert(object.list, position, remove(object.list, position_of(change.from)))
      end
    end
  end
  local paths, work, first = { [root] = {} }, { root }, 1
  while first <= #work do
    local object = work[first]
    first = first + 1
    local function visit(key, child)
      if not child or paths[child] then return end
      paths[child] = extended(paths[object], key)
      work[#work + 1] = child
    end
    local list = object.list
    local function visit_former(key, child)
      if list and number_type(key) == "integer" and key >= 1 then
        -- Former elements up to `base` are in the list, or gone.
        if key <= object.base then return end
        key = key - object.base + #list
      end
      visit(key, child)
    end
    for position = 1, list and #list or 0 do
      local entry = list[position]
      local child = entry.object
      if entry.base then
        child = object.slots[entry.base]
        if child == nil then child = object.children[entry.base] end
      end
      visit(position, child)
    end
    for key, child in next, object.slots do visit_former(key, child) end
    for key, child in next, object.children do
      if object.slots[key] == nil then visit_former(key, child) end
    end
  end
  return function(path)
    local object = references[path] or find(path, #path)
    return object and paths[object]
  end
end

-- The reference by which the inverse puts back an object that left a key.
local function turned(reference, locate)
  if not reference then return nil end
  if reference.after then return copied(reference.after) end
  local path = locate and locate(reference)
  if path then return extended(path) end
  return { after = copied(reference) }
end

-- The reference by which the inverse expects an object that a change put there by a reference: the
-- object will be at its former path again.
local function expected(reference)
  if not reference then return nil end
  if reference.after then return copied(reference.after) end
  return { after = copied(reference) }
end

local inverse = { set = "set", insert = "remove", remove = "insert", move = "move" }

function obs.invert(changes)
  check_list(changes, "invert")
  -- References to objects that left a key use either former paths throughout, or final paths for
  -- all objects that stay.
  local has_left, is_told = false, true
  for number = 1, #changes do
    local problem = malformed(changes[number])
    if problem then raise(label(number, changes[number]) .. ": " .. problem) end
    local reference = changes[number].old_ref
    has_left = has_left or reference ~= nil
    if reference and reference.after then is_told = false end
  end
  local locate = has_left and is_told and trees.locations(changes)
  local inverted = {}
  for i = #changes, 1, -1 do
    local change = changes[i]
    local back = {
      path = extended(change.path), kind = inverse[change.kind],
      old = copied(change.new), new = copied(change.old),
      ref = turned(change.old_ref, locate), old_ref = expected(change.ref),
      model = change.model, type = change.type, site = change.site,
    }
    if change.kind == "move" then
      back.from, back.path[#back.path] = change.path[#change.path], change.from
    end
    inverted[#inverted + 1] = back
  end
  return inverted
end

return obs
