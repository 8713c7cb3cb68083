-- Applying changes: a slice of the module `obs`.
--
-- Changes are first made on an overlay, which only notes their effect on objects. So all of them
-- are checked, and all references resolved, before the first write. Then the noted writes are made,
-- in order, as one batch.
local core, obs = ...

local getmetatable, next, pcall, rawequal, setmetatable, tostring, type =
  getmetatable, next, pcall, rawequal, setmetatable, tostring, type
local move = table.move
local string_format, string_match, string_sub = string.format, string.match, string.sub
local kind_of, raise, same, trees = core.kind, core.raise, core.same, core.trees
local contents, copied, equal, holds_objects, is_leaf, is_object, is_value =
  trees.contents, trees.copied, trees.equal, trees.holds_objects, trees.is_leaf, trees.is_object,
  trees.is_value
local number_type, path_text, position_of = trees.number_type, trees.path_text, trees.position_of
local in_batch, stored = trees.in_batch, trees.stored

-- Marks an absent value in an overlay.
local nothing = {}

-- A placeholder for the object that will be at a path after all changes.
local Later = { __name = "later" }
local function is_later(value) return type(value) == "table" and getmetatable(value) == Later end

-- Describes a value, for errors.
local function shown(value)
  local kind = type(value)
  if value == nil then return "nothing" end
  if kind == "string" then
    return #value > 40 and string_format("'%s…'", string_sub(value, 1, 40)) or "'" .. value .. "'"
  end
  if kind == "number" or kind == "boolean" then return tostring(value) end
  if kind == "table" then
    local made = not is_later(value) and not is_value(value) and contents(value)
    if made and (made.model or made.kind) then
      return made.model and "an instance of " .. made.model or "a collection (" .. made.kind .. ")"
    end
  end
  return "a " .. kind
end

-- The overlay -------------------------------------------------------------------------------------

local Plan = {}
Plan.__index = Plan

function Plan:read(object, key)
  local position = position_of(key)
  if position then key = position end
  local overlay = self.overlays[object]
  if overlay then
    local value = overlay.map[key]
    if value == nothing then return nil end
    if value ~= nil or overlay.n then return value end
  end
  return stored(object, key)
end

-- The contents of an object after the previous changes; read-only.
function Plan:view(object)
  local overlay = self.overlays[object]
  if not overlay then return contents(object) end
  if overlay.n then return overlay end
  local made = contents(object)
  for key, value in next, overlay.map do
    if value == nothing then value = nil end
    made.map[key] = value
  end
  made.objects, made.is_pure = nil, nil
  return trees.measure(made)
end

-- An overlay with the whole contents of the object.
function Plan:whole(object)
  local overlay = self.overlays[object]
  if not overlay or not overlay.n then
    overlay = self:view(object)
    overlay.objects, overlay.is_pure = nil, nil
    self.overlays[object] = overlay
  end
  return overlay
end

function Plan:store(object, key, value)
  local overlay = self.overlays[object]
  if number_type(key) == "integer" then
    overlay = self:whole(object)
    overlay.map[key] = value
    if kind_of(object) == "array" then
      if key > overlay.n then overlay.n = key end
      if value == nil then overlay.n = key - 1 end
    elseif not overlay.sparse and key == overlay.n + 1 and value ~= nil then
      overlay.n = key
    elseif not overlay.sparse and key == overlay.n and key > 0 and value == nil then
      overlay.n = key - 1
    elseif value == nil or key < 1 or key > overlay.n then
      trees.measure(overlay)
    end
    return
  end
  if not overlay then
    overlay = { map = {} }
    self.overlays[object] = overlay
  end
  if value == nil and not overlay.n then value = nothing end
  overlay.map[key] = value
end

-- Follows a path from the root: returns the value, and the number of keys followed.
function Plan:find(path, last)
  local object = self.root
  for i = 1, last do
    if is_later(object) then object = self:resolve(object) end
    local key = path[i]
    if not is_object(object) or key == nil then return nil, i - 1 end
    object = self:read(object, key)
  end
  return object, last
end

-- The object at a reference's path after all changes; nil if no object is there, or the reference
-- leads through itself.
function Plan:resolve(later)
  if later.object ~= nil then return later.object or nil end
  if later.is_resolving then return nil end
  later.is_resolving = true
  local object = self:find(later.path, #later.path)
  if is_later(object) then object = self:resolve(object) end
  later.is_resolving = false
  if not is_object(object) then object = nil end
  return object
end

-- Checks ------------------------------------------------------------------------------------------

local function check_list(changes, name)
  if type(changes) ~= "table" then
    core.bad_argument(name == "invert" and 1 or 2, name, "list of changes expected, got "
      .. (changes == nil and "no value" or type(changes)))
  end
  if changes[1] ~= nil then return end
  local key = next(changes)
  if key ~= nil then
    core.bad_argument(name == "invert" and 1 or 2, name, "list of changes expected, got "
      .. ((changes.path ~= nil or changes.kind ~= nil) and "one change"
        or string_format("a table with the key %s", shown(key))))
  end
end

local kinds = { set = true, insert = true, remove = true, move = true }

-- The error text if a value is not a valid change; otherwise nil.
local function malformed(change)
  if type(change) ~= "table" then return "a table expected, got a " .. type(change) end
  if type(change.path) ~= "table" then
    return "its path must be a list of keys, not " .. shown(change.path)
  end
  if not kinds[change.kind] then
    return "its kind must be 'set', 'insert', 'remove' or 'move', not " .. shown(change.kind)
  end
  for _, field in next, { "ref", "old_ref" } do
    local reference = change[field]
    if reference ~= nil and type(reference) ~= "table" then
      return string_format("its %s must be a path, not %s", field, shown(reference))
    end
    if reference and reference.after ~= nil and type(reference.after) ~= "table" then
      return string_format("its %s must have a path as 'after', not %s", field,
        shown(reference.after))
    end
  end
  if change.kind == "move" and not position_of(change.from) then
    return "a move needs a position as 'from', not " .. shown(change.from)
  end
end

-- Whether a change concerns a member of a set, or could. If the path ends with a position, the
-- change must have the type "set" and a plain value: a list of members would mean that a set is an
-- element of a list.
local function is_of_member(change)
  if change.kind ~= "insert" and change.kind ~= "remove" then return false end
  if change.ref or change.old_ref or change.model then return false end
  local value = change.new
  if change.kind == "remove" then value = change.old end
  if change.type then
    return change.type == "set" and value ~= nil and (type(value) ~= "table" or is_leaf(value))
  end
  local path = change.path
  return #path == 0 or not position_of(path[#path])
end

local function label(number, change)
  if type(change) ~= "table" or type(change.path) ~= "table" then
    return "change " .. number
  end
  local text = path_text(change.path)
  return string_format("change %d (%s%s)", number, tostring(change.kind),
    text ~= "" and " " .. text or "")
end

-- New objects -------------------------------------------------------------------------------------

-- An instance of a model with exactly these fields, including keys that the model does not declare.
local function instance(name, fields)
  local class = core.model_named(name)
  if not class then return nil, string_format("there is no model '%s' here", name) end
  local declared, properties = core.model_record(class).declared, {}
  for key, value in next, fields do
    if declared[key] ~= nil then properties[key] = value end
  end
  local ok, made = pcall(class, properties)
  if not ok then return nil, tostring(made) end
  for key in next, contents(made).map do
    if fields[key] == nil then made[key] = nil end
  end
  for key, value in next, fields do
    if declared[key] == nil then trees.put(made, key, value) end
  end
  return made
end

trees.instance = instance

-- The object to make from data; or nil and an error text.
local function made_of(data, change, owner, key)
  if type(data) ~= "table" or is_leaf(data) then return data end
  if type(owner) == "userdata" or change.type and change.model then
    local value, problem = core.make_host(owner, key, data, change.model)
    if problem then return nil, problem end
    if value ~= nil then return value end
  end
  local copy = copied(data)
  if change.model then
    local made, problem = instance(change.model, copy)
    if not made then
      local value, host_problem = core.make_host(nil, nil, data, change.model)
      if value ~= nil then return value end
      problem = host_problem or problem
    end
    return made, problem
  end
  if change.type == "array" then return core.array(copy) end
  if change.type == "dictionary" then return core.dictionary(copy) end
  if change.type == "set" then return core.set_of(copy) end
  if change.type ~= nil then return nil, "there is no type " .. shown(change.type) end
  return copy
end

-- Planning ----------------------------------------------------------------------------------------

-- The object of a reference, or a placeholder for one that is found later.
function Plan:referred(reference)
  if reference.after then return setmetatable({ path = reference.after }, Later) end
  return self.references[reference]
end

-- The error text if the present value differs from the value that a change expects; otherwise nil.
function Plan:misfit(change, present, is_leaf_key)
  if change.old_ref then
    local expected = self:referred(change.old_ref)
    if is_later(expected) or is_later(present) then
      self.checks[#self.checks + 1] = { self.number, present, expected }
      return nil
    end
    if expected == nil then return "its old_ref leads to no object" end
    if not rawequal(expected, present) then
      return string_format("another object was there, now it is %s", shown(present))
    end
    return nil
  end
  local old = change.old
  if old == nil then
    if present == nil or change.kind == "remove" then return nil end
    return string_format("nothing was there, now it is %s", shown(present))
  end
  if type(old) == "table" and not is_leaf(old) and is_object(present) and not is_later(present)
    and not is_leaf_key then
    local made = self:view(present)
    local model, kind = change.model, change.type
    if (made.model or nil) == model and (made.kind or nil) == kind
      and equal(present, old, function(object) return self:view(object) end) then
      return nil
    end
    return "the former value is not equal to the present one"
  end
  if is_value(present) and type(old) == "table" then
    if equal(present, old) then return nil end
  elseif same(present, old) then
    return nil
  end
  return string_format("%s was there, now it is %s", shown(old), shown(present))
end

-- The value that a change stores; or nil and an error text.
function Plan:value(change, owner, key)
  if change.ref then
    local object = self:referred(change.ref)
    if object == nil then
      return nil, string_format("its ref, '%s', leads to no object", path_text(change.ref))
    end
    return object
  end
  return made_of(change.new, change, owner, key)
end

function Plan:note(kind, object, key, value, from)
  self.writes[#self.writes + 1] =
    { number = self.number, kind = kind, object = object, key = key, value = value, from = from }
end

function Plan:change_members(change, set)
  local member = change.new
  if change.kind == "remove" then member = change.old end
  if change.ref or change.old_ref then return "members of a set must be values" end
  if member == nil or member ~= member then return "no member is given" end
  if type(member) == "table" and not is_leaf(member) then
    if change.kind == "remove" then return "the member is not in the set" end
    member = copied(member)
  end
  local overlay = self:whole(set)
  if change.kind == "insert" then
    if overlay.map[member] then return shown(member) .. " is in the set already" end
    overlay.map[member] = true
  else
    if not overlay.map[member] then return shown(member) .. " is not in the set" end
    overlay.map[member] = nil
  end
  self:note(change.kind == "insert" and "add" or "drop", set, nil, member)
end

local function out_of_range(position, n)
  return string_format("position %d is out of range, the list has %d element%s", position, n,
    n == 1 and "" or "s")
end

function Plan:change_list(change, list, key)
  local kind, position = kind_of(list), position_of(key)
  if kind ~= nil and kind ~= "array" or type(list) == "userdata" and not kind then
    return string_format("%s has no positions", shown(list))
  end
  if not position then return string_format("%s is not a position in a list", shown(key)) end
  local overlay = self:whole(list)
  local map, n = overlay.map, overlay.n
  local last = change.kind == "insert" and n + 1 or n
  if position > last then
    return out_of_range(position, n)
  end
  if change.kind == "insert" then
    local value, problem = self:value(change, list, position)
    if value == nil then return problem or "no value is given" end
    move(map, position, n, position + 1)
    map[position] = value
    overlay.n = n + 1
    self:note("insert", list, position, value)
  elseif change.kind == "remove" then
    local problem = self:misfit(change, map[position])
    if problem then return problem end
    move(map, position + 1, n + 1, position)
    map[n] = nil
    overlay.n = n - 1
    self:note("remove", list, position)
  else
    local from = position_of(change.from)
    if from > n then
      return out_of_range(from, n)
    end
    local value = map[from]
    if from < position then
      move(map, from + 1, position, from)
    else
      move(map, position, from - 1, position + 1)
    end
    map[position] = value
    self:note("move", list, position, nil, from)
  end
  -- Elements behind a hole may belong to the list now.
  if kind == nil and overlay.sparse then trees.measure(overlay) end
end

function Plan:change_key(change, object, key)
  local kind = kind_of(object)
  if kind == "set" then return "a set has members, not keys" end
  local position = position_of(key)
  if position then key = position end
  if key ~= key then return "NaN is not a key" end
  if kind == "array" then
    if not position then return string_format("%s is not a position in a list", shown(key)) end
    local overlay = self:whole(object)
    local is_new = change.new ~= nil or change.ref ~= nil
    if position > overlay.n + (is_new and 1 or 0) then return out_of_range(position, overlay.n) end
    if not is_new and position < overlay.n then
      return string_format("nil at position %d would leave a hole in the list: the kind 'remove' "
        .. "closes it", position)
    end
  end
  if type(object) == "userdata" and not kind and not core.has_stored(object, key) then
    return string_format("%s has no stored property %s", core.host_class(object), shown(key))
  end
  local problem = self:misfit(change, self:read(object, key), not holds_objects({}, key))
  if problem then return problem end
  local value
  value, problem = self:value(change, object, key)
  if problem then return problem end
  self:store(object, key, value)
  self:note("set", object, key, value)
end

-- Plans one change; returns an error text if it does not fit.
function Plan:take(change)
  local problem = malformed(change)
  if problem then return problem end
  local path, kind = change.path, change.kind
  local n = #path
  if is_of_member(change) then
    local object = self:find(path, n)
    if is_object(object) and kind_of(object) == "set" then
      return self:change_members(change, object)
    end
    if n == 0 or change.type then return "there is no set at this path" end
  end
  if n == 0 then return "its path is empty" end
  local object, last = self:find(path, n - 1)
  if is_later(object) then object = self:resolve(object) end
  if not is_object(object) then
    return string_format("there is no object at '%s'", path_text(move(path, 1, last, 1, {})))
  end
  if kind == "set" then return self:change_key(change, object, path[n]) end
  return self:change_list(change, object, path[n])
end

-- Resolves references to objects that exist before the first change.
function Plan:prepare(changes)
  for i = 1, #changes do
    local change = changes[i]
    for _, field in next, type(change) == "table" and { "ref", "old_ref" } or {} do
      local path = change[field]
      if type(path) == "table" and path.after == nil then
        local object = self:find(path, #path)
        if is_object(object) then self.references[path] = object end
      end
    end
  end
end

-- Resolves references to objects that exist after all changes. Returns the numbers of the changes
-- that do not fit, and the reasons by number.
function Plan:finish()
  local numbers, problems = {}, {}
  local function refuse(number, problem)
    if problems[number] then return end
    numbers[#numbers + 1], problems[number] = number, problem
  end
  for i = 1, #self.writes do
    local write = self.writes[i]
    if is_later(write.value) then
      local object = self:resolve(write.value)
      if object == nil then
        refuse(write.number, string_format("its ref leads to no object: '%s'",
          path_text(write.value.path)))
      end
      write.value = object
    end
  end
  for _, check in next, self.checks do
    local number, present, expected = check[1], check[2], check[3]
    if is_later(present) then present = self:resolve(present) end
    if is_later(expected) then expected = self:resolve(expected) end
    if expected == nil or not rawequal(present, expected) then
      refuse(number, "another object was there")
    end
  end
  return numbers, problems
end

-- Applying ---------------------------------------------------------------------------------------

local function fail(changes, number, problem)
  problem = tostring(problem)
  problem = string_match(problem, "^obs:%d+: (.*)") or problem
  raise(string_format("%s does not fit: %s", label(number, changes[number]), problem))
end

trees.check_list, trees.label, trees.malformed = check_list, label, malformed
trees.shown = shown

function obs.apply(target, changes, options)
  core.check_observed(target, 1, "apply")
  check_list(changes, "apply")
  options = core.check_options(options, 3, "apply", { force = "boolean", origin = true })
  local force, origin = options.force, options.origin
  trees.check_origin(origin, "apply", "origin")
  local failures = 0
  local skipped = {}
  while true do
    local plan = setmetatable(
      { root = target, overlays = {}, references = {}, writes = {}, checks = {}, number = 0 }, Plan)
    plan:prepare(changes)
    for number = 1, #changes do
      if not skipped[number] then
        plan.number = number
        local problem = plan:take(changes[number])
        if problem then
          if not force then fail(changes, number, problem) end
          failures = failures + 1
          skipped[number] = true
          local last = plan.checks[#plan.checks]
          if last and last[1] == number then plan.checks[#plan.checks] = nil end
        end
      end
    end
    local numbers, problems = plan:finish()
    if #numbers == 0 then
      local number, problem = in_batch(trees.written_from, origin, plan.writes, force)
      if number then fail(changes, number, problem) end
      return failures + problem
    end
    if not force then fail(changes, numbers[1], problems[numbers[1]]) end
    -- Plan again without the changes whose references do not fit.
    failures = failures + #numbers
    for _, number in next, numbers do skipped[number] = true end
  end
end

return obs
