-- Applying changes, and turning them back: a slice of the module `obs`.
--
-- Changes are first made on an overlay: what they do to objects is only noted. So all of them are
-- known to fit, and all references are resolved, before the first write. Then the noted writes are
-- made, in order, as one batch; where one of them fails, those before it are taken back.
local core, obs = ...

local getmetatable, next, pcall, rawequal, rawget, rawset, setmetatable, tostring, type =
  getmetatable, next, pcall, rawequal, rawget, rawset, setmetatable, tostring, type
local insert, move, remove = table.insert, table.move, table.remove
local concat, sort = table.concat, table.sort
local string_format, string_match, string_sub = string.format, string.match, string.sub
local kind_of, raise, same, trees = core.kind, core.raise, core.same, core.trees
local number_type = trees.number_type
local contents, copied, equal, extended, holds_objects, host_value, is_leaf, is_object, is_value =
  trees.contents, trees.copied, trees.equal, trees.extended, trees.holds_objects, trees.host_value,
  trees.is_leaf, trees.is_object, trees.is_value
local list_length, path_text, position_of = trees.list_length, trees.path_text, trees.position_of

-- Stands for no value in an overlay.
local nothing = {}

-- Stands for the object at a path afterwards.
local Later = { __name = "later" }
local function is_later(value) return type(value) == "table" and getmetatable(value) == Later end

-- What a value is, for errors.
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

-- What is stored in an object itself.
local function stored(object, key)
  local kind = kind_of(object)
  if kind == "set" then return nil end
  if type(object) == "userdata" then
    if kind == "array" then
      if number_type(key) ~= "integer" then return nil end
    elseif not kind and not core.has_stored(object, key) then
      return nil
    end
    return host_value(object, key)
  end
  if key ~= key then return nil end
  if not kind and core.derived_keys(object)[key] then return nil end
  return rawget(object, key)
end

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

-- The contents of an object as the changes before have left it, not to be changed.
function Plan:view(object)
  local overlay = self.overlays[object]
  if not overlay then return contents(object) end
  if overlay.n then return overlay end
  local made = contents(object)
  for key, value in next, overlay.map do
    if value == nothing then value = nil end
    made.map[key] = value
  end
  return trees.measure(made)
end

-- An overlay with all that is in the object.
function Plan:whole(object)
  local overlay = self.overlays[object]
  if not overlay or not overlay.n then
    overlay = self:view(object)
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
    else
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

-- Where a path leads, from the root, and how many of its keys that took.
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

-- The object that is at the path of a reference afterwards; nil where none is, or the reference
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
  if changes[1] == nil and (changes.path ~= nil or changes.kind ~= nil) then
    core.bad_argument(name == "invert" and 1 or 2, name, "list of changes expected, got one change")
  end
end

local kinds = { set = true, insert = true, remove = true, move = true }

-- The error that a change is none, if it isn't.
local function malformed(change)
  if type(change) ~= "table" then return "a table expected, got a " .. type(change) end
  if type(change.path) ~= "table" then
    return "its path is to be a list of keys, not " .. shown(change.path)
  end
  if not kinds[change.kind] then
    return "its kind is 'set', 'insert', 'remove' or 'move', not " .. shown(change.kind)
  end
  for _, field in next, { "ref", "old_ref" } do
    local reference = change[field]
    if reference ~= nil and type(reference) ~= "table" then
      return string_format("its %s is to be a path, not %s", field, shown(reference))
    end
    if reference and reference.after ~= nil and type(reference.after) ~= "table" then
      return string_format("its %s is to have a path as 'after', not %s", field,
        shown(reference.after))
    end
  end
  if change.kind == "move" and not position_of(change.from) then
    return "a move has a position as 'from', not " .. shown(change.from)
  end
end

-- Whether a change is one of a member of a set, or may be. At a position it has the type, which an
-- element of a list that is a set has, too: but that is a list of members.
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

-- Objects that are made ---------------------------------------------------------------------------

-- An instance of a model with exactly these properties.
local function instance(name, fields)
  local class = core.models[name]
  if not class then return nil, string_format("there is no model '%s' here", name) end
  local ok, made = pcall(class, fields)
  if not ok then return nil, tostring(made) end
  for key in next, contents(made).map do
    if fields[key] == nil then made[key] = nil end
  end
  return made
end

-- The object that data stands for; nil and why there is none.
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
  if change.type == "array" then return obs.array(copy) end
  if change.type == "dictionary" then return obs.dictionary(copy) end
  if change.type == "set" then return obs.set_of(copy) end
  if change.type ~= nil then return nil, "there is no type " .. shown(change.type) end
  return copy
end

-- Planning ----------------------------------------------------------------------------------------

-- A reference as an object, or as one that is found later.
function Plan:referred(reference)
  if reference.after then return setmetatable({ path = reference.after }, Later) end
  return self.references[reference]
end

-- What is wrong with what is there where a change expects something else; nil where it is right.
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
    return "what was there is not equal to what is there now"
  end
  if is_value(present) and type(old) == "table" then
    if equal(present, old) then return nil end
  elseif same(present, old) then
    return nil
  end
  return string_format("%s was there, now it is %s", shown(old), shown(present))
end

-- The value that a change stores; nil and why there is none.
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
  if change.ref or change.old_ref then return "a set has members, which come as values" end
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

function Plan:change_list(change, list, key)
  local kind, position = kind_of(list), position_of(key)
  if kind ~= nil and kind ~= "array" or type(list) == "userdata" and not kind then
    return string_format("%s has no positions", shown(list))
  end
  if not position then return string_format("%s is no position in a list", shown(key)) end
  local overlay = self:whole(list)
  local map, n = overlay.map, overlay.n
  local last = change.kind == "insert" and n + 1 or n
  if position > last then
    return string_format("position %d is out of range, the list has %d element%s", position, n,
      n == 1 and "" or "s")
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
      return string_format("position %d is out of range, the list has %d element%s", from, n,
        n == 1 and "" or "s")
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
  -- What follows behind a hole may belong to the list now.
  if kind == nil then trees.measure(overlay) end
end

function Plan:change_key(change, object, key)
  local kind = kind_of(object)
  if kind == "set" then return "a set has members, no keys" end
  local position = position_of(key)
  if position then key = position end
  if key ~= key then return "NaN is no key" end
  if kind == "array" then
    if not position then return string_format("%s is no position in a list", shown(key)) end
    local overlay = self:whole(object)
    local is_new = change.new ~= nil or change.ref ~= nil
    if position > overlay.n + (is_new and 1 or 0) or not is_new and position < overlay.n then
      return string_format("position %d is out of range, the list has %d element%s", position,
        overlay.n, overlay.n == 1 and "" or "s")
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

-- Plans one change; returns why it does not fit.
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

-- Resolves references to objects that are there before the first change.
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

-- Resolves the references to objects that are there afterwards. Returns the number of a change
-- that does not fit, and why.
function Plan:finish()
  for i = 1, #self.writes do
    local write = self.writes[i]
    if is_later(write.value) then
      local object = self:resolve(write.value)
      if object == nil then
        return write.number, string_format("its ref leads to no object: '%s'",
          path_text(write.value.path))
      end
      write.value = object
    end
  end
  for _, check in next, self.checks do
    local number, present, expected = check[1], check[2], check[3]
    if is_later(present) then present = self:resolve(present) end
    if is_later(expected) then expected = self:resolve(expected) end
    if expected == nil or not rawequal(present, expected) then
      return number, "another object was there"
    end
  end
end

-- Writing -----------------------------------------------------------------------------------------

local function is_plainly_stored(object)
  return type(object) == "table" and kind_of(object) == nil and not core.model_of(object)
    and getmetatable(object) ~= nil
end

--- Stores a value under a key of an object, or removes the key.
local function put(object, key, value)
  -- Metamethods of scripts have no say in what is stored.
  if is_plainly_stored(object) then rawset(object, key, value) else object[key] = value end
end

-- Whether the functions of `table` move what is behind a position, and nothing else: the list has
-- no hole there, and no metamethod a say in its length and in what is stored. It costs what moving
-- does.
local function is_list_from(list, position)
  if getmetatable(list) ~= nil or next(core.derived_keys(list)) ~= nil then return false end
  for i = position, #list do
    if rawget(list, i) == nil then return false end
  end
  return true
end

local function put_in(list, position, value)
  if kind_of(list) == "array" then return list:insert(position, value) end
  if is_list_from(list, position) then return insert(list, position, value) end
  local n = list_length(contents(list).map)
  for i = n, position, -1 do put(list, i + 1, rawget(list, i)) end
  put(list, position, value)
end

local function take_out(list, position)
  if kind_of(list) == "array" then return list:remove(position) end
  if is_list_from(list, position) then return remove(list, position) end
  local value, i = rawget(list, position), position
  while rawget(list, i) ~= nil do
    put(list, i, rawget(list, i + 1))
    i = i + 1
  end
  return value
end

local function bring(list, from, to)
  if kind_of(list) == "array" then return list:move(from, to) end
  put_in(list, to, take_out(list, from))
end

-- Makes a write, and returns the function that takes it back.
local perform = {}

function perform.set(object, key, value)
  local old = stored(object, key)
  if is_value(old) then old = old.data end
  put(object, key, value)
  return function() put(object, key, old) end
end

function perform.insert(list, position, value)
  put_in(list, position, value)
  return function() take_out(list, position) end
end

function perform.remove(list, position)
  local value = take_out(list, position)
  return function() put_in(list, position, value) end
end

function perform.move(list, position, _, from)
  bring(list, from, position)
  return function() bring(list, position, from) end
end

function perform.add(set, _, member)
  set:add(member)
  return function() set:remove(member) end
end

function perform.drop(set, _, member)
  set:remove(member)
  return function() set:add(member) end
end

-- Makes the writes; where one fails, those before it are taken back, unless `force` is set.
-- Returns the number of a change that failed and the error, or how many did.
local function written(writes, force)
  local undo, failures = {}, 0
  for i = 1, #writes do
    local write = writes[i]
    local ok, back =
      pcall(perform[write.kind], write.object, write.key, write.value, write.from)
    if ok then
      undo[#undo + 1] = back
    elseif force then
      failures = failures + 1
    else
      for k = #undo, 1, -1 do pcall(undo[k]) end
      return write.number, back
    end
  end
  return nil, failures
end

trees.written = written
trees.put, trees.put_in, trees.take_out, trees.bring, trees.stored, trees.made_of, trees.shown =
  put, put_in, take_out, bring, stored, made_of, shown

--- Runs a function as one batch, and gives what it returns.
local function in_batch(body, ...)
  core.begin_batch()
  local ok, first, second = pcall(core.call_plainly, body, ...)
  core.end_batch()
  core.written(ok, first)
  return first, second
end
trees.in_batch = in_batch

local function fail(changes, number, problem)
  if type(problem) == "string" then
    problem = string_match(problem, "^obs:%d+: (.*)") or problem
  end
  raise(string_format("%s does not fit: %s", label(number, changes[number]), tostring(problem)))
end

-- `refused` are options that are no error where they are false.
local function check_options(options, number, name, known, refused)
  if options == nil then return {} end
  if type(options) ~= "table" then
    core.bad_argument(number, name, "table of options expected, got " .. type(options))
  end
  for key in next, options do
    if not known[key] and not (refused and refused[key]) then
      local names = {}
      for option in next, known do names[#names + 1] = option end
      sort(names)
      local nearest = core.nearest(key, names)
      core.bad_argument(number, name, string_format("unknown option '%s'%s", tostring(key),
        nearest and " (did you mean '" .. nearest .. "'?)"
          or " (there is '" .. concat(names, "', '") .. "')"))
    end
  end
  return options
end
trees.check_options = check_options

function obs.apply(target, changes, options)
  core.check_observed(target, 1, "apply")
  check_list(changes, "apply")
  local force = check_options(options, 3, "apply", { force = true }).force
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
        end
      end
    end
    local number, problem = plan:finish()
    if number and not force then fail(changes, number, problem) end
    if not number then
      number, problem = in_batch(written, plan.writes, force)
      if number then fail(changes, number, problem) end
      return failures + problem
    end
    -- All is planned again without the change that refers to nothing.
    failures = failures + 1
    skipped[number] = true
  end
end

-- Inverting ---------------------------------------------------------------------------------------

-- Objects as far as changes tell about them: found by paths from the root before the first change.
-- A list is `list`, what was moved to its first places, each { base = position } or a value, and
-- `base`, how many of the former elements are among them or gone.
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

-- The last of the elements before that a change of a list deals with.
local function reached(change, position)
  if change.kind == "insert" then return position - 1 end
  local from = position_of(change.from)
  return change.kind == "move" and from > position and from or position
end

-- Returns the function that gives the path afterwards of an object at a path before, or nil where
-- the changes do not lead to it.
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
        -- Former elements that were come across are in the list, or gone.
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

-- The reference by which the inverse puts back what left a key.
local function turned(reference, locate)
  if not reference then return nil end
  if reference.after then return copied(reference.after) end
  local path = locate and locate(reference)
  if path then return extended(path) end
  return { after = copied(reference) }
end

-- The reference to what the inverse takes away, which was put there by a reference: the object will
-- be where it was.
local function expected(reference)
  if not reference then return nil end
  if reference.after then return copied(reference.after) end
  return { after = copied(reference) }
end

local inverse = { set = "set", insert = "remove", remove = "insert", move = "move" }

function obs.invert(changes)
  check_list(changes, "invert")
  -- Where one reference to what left a key is by its path afterwards, so are those to all objects
  -- that stay.
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
