-- The changes of a tree since the last delivery: a slice of the module `obs`.
--
-- A *shadow* has the contents of all objects below a root at the last delivery, and the walk that
-- found them. The engine lists written objects, so the next delivery looks only at these. The walk
-- is updated for objects that left and came, so that a delivery costs as much as its changes, not
-- as the whole tree.
local core, obs = ...

local error, next, pcall, rawequal, setmetatable, tostring, type =
  error, next, pcall, rawequal, setmetatable, tostring, type
local string_format = string.format
local sort, unpack = table.sort, table.unpack
local common_values, trees = core.common_values, core.trees
local contents, each_object, is_object, object_keys, same =
  trees.contents, trees.each_object, trees.is_object, trees.object_keys, trees.same

local none = {}

-- Returns a walk over all objects below a root, and the list of these objects. In `uses`, the walk
-- counts the places where each object is stored.
local function walk_below(root, contents_of)
  local walk, uses = trees.trace(root, contents_of), {}
  local objects = walk.order
  walk.order, walk.depth, walk.uses = nil, nil, uses
  local function count(_, object) uses[object] = (uses[object] or 0) + 1 end
  for i = 1, #objects do each_object(contents_of(objects[i]), count) end
  return walk, objects
end

local Shadow = {}
Shadow.__index = Shadow
trees.Shadow = Shadow

--- Makes a shadow of the tree below a root. The watcher is called for writes to the objects that
--- the shadow follows. With `has_sites`, it notes the places of writes; with `has_others`, the
--- writes of other sandboxes.
---
--- `outside` has the objects outside of the tree that a history can bring back: `made` is an
--- object's contents at the beginning of the turn `turn`; `later`, if present, its contents at the
--- last delivery in that turn.
function Shadow.new(root, watcher, has_sites, has_others)
  local self = setmetatable({
    root = root, watcher = watcher, state = {}, left = {}, dirty = {}, is_dirty = {}, origins = {},
    outside = {},
  }, Shadow)
  if has_others then self.others = trees.others(self.state) end
  if has_sites then self:note_sites() end
  self.walk = walk_below(root, function(object)
    local made = self.state[object]
    if not made then
      made = self:meet(object)
      self.state[object] = made
    end
    return made
  end)
  self:offer()
  core.witness(self)
  return self
end

-- Ends the watcher if its shadow cannot be made. The error is raised on from its origin.
local Beginning = { __close = function(self) if self.watcher then self.watcher:stop() end end }

--- Makes a shadow; if this fails, its watcher ends.
function Shadow.begin(root, watcher, ...)
  local beginning <close> = setmetatable({ watcher = watcher }, Beginning)
  local made = Shadow.new(root, watcher, ...)
  beginning.watcher = nil
  return made
end

-- Notes for each object the places where its keys were last written.
function Shadow:note_sites()
  self.sites = {}
  self.writes = core.register(self.root, { kind = "all writes" }, function(object, _, change)
    -- A finalizer may have written while this function ran.
    if object == nil then return end
    local sites = self.sites[object]
    if not sites then
      sites = {}
      self.sites[object] = sites
    end
    local site = core.site()
    sites.last = site
    if change.key ~= nil then sites[change.key] = site end
  end)
end

local function has_object_members(made)
  if made.kind ~= "set" then return false end
  for member in next, made.map do
    if is_object(member) then return true end
  end
  return false
end

--- The present contents of an object.
function Shadow:look(object)
  local made = contents(object)
  -- A transaction also covers members of sets, and has to read objects of the host program. The
  -- shadow's links do neither, so a transaction cannot use them.
  if not self.is_partial and (made.has_hosts or has_object_members(made)) then
    self.is_partial = true
  end
  return made
end

--- Lets transactions use the shadow's links, if they lead to exactly the objects of the tree.
function Shadow:offer()
  local is_whole = not self.is_partial and next(self.outside) == nil and next(self.left) == nil
  if is_whole and #self.dirty == 0 then
    core.note_whole_tree(self.watcher)
  end
end

--- Follows an object from now on, and returns its contents: `made`, if they are already known.
--- Otherwise the contents are read after following, as a finalizer may write to the object at any
--- time.
function Shadow:meet(object, made)
  core.follow(self.watcher, object)
  if self.writes then core.follow(self.writes, object) end
  if self.others then self.others:watch(object) end
  return made or self:look(object)
end

--- Adds objects that the next delivery will look at.
function Shadow:note(objects)
  local dirty, is_dirty = self.dirty, self.is_dirty
  for i = 1, #objects do
    local object = objects[i]
    if not is_dirty[object] then
      is_dirty[object] = true
      dirty[#dirty + 1] = object
    end
  end
end

--- Adds the objects that were written since the last call.
function Shadow:note_written()
  local objects = core.take_written(self.watcher)
  if objects then self:note(objects) end
end

--- Ends all watching.
function Shadow:stop()
  self.watcher:stop()
  if self.writes then self.writes:stop() end
  if self.others then self.others:stop() end
  self.state, self.dirty, self.is_dirty, self.outside = {}, {}, {}, {}
end

-- Updating a walk --------------------------------------------------------------------------------

-- The walk before its update: changed entries are first saved in its tables.
local function kept(walk)
  return {
    root = walk.root,
    parent = setmetatable({}, { __index = walk.parent }),
    key = setmetatable({}, { __index = walk.key }),
  }
end

-- Counts the places of objects in contents that were added (1) or removed (-1).
local function count_uses(walk, contents, by)
  local uses = walk.uses
  each_object(contents, function(_, object) uses[object] = (uses[object] or 0) + by end)
end

-- Counts the places of objects that came or left with an object's new contents. Returns the objects
-- that the walk reached through it and that are no longer in it; and, as contents, all candidates
-- for new objects.
local function replace(walk, object, old, new)
  local old_keys, new_keys = object_keys(old) or none, object_keys(new) or none
  local head, tail = common_values(old.map, old_keys, new.map, new_keys)
  local uses, parent, missing, come, is_new = walk.uses, walk.parent, {}, {}, {}
  for i = head + 1, #new_keys - tail do
    local value = new.map[new_keys[i]]
    uses[value] = (uses[value] or 0) + 1
    come[#come + 1], is_new[value] = new_keys[i], true
  end
  local is_whole = head == 0 and tail == 0
  for i = head + 1, #old_keys - tail do
    local value = old.map[old_keys[i]]
    uses[value] = uses[value] - 1
    if not is_new[value] and rawequal(parent[value], object) then
      if not is_whole and uses[value] > 0 then
        -- The value may be in the common part, too.
        each_object(new, function(_, other) is_new[other] = true end)
        is_whole = true
      end
      if not is_new[value] then
        is_new[value] = true
        missing[#missing + 1] = value
      end
    end
  end
  return missing, { map = new.map, objects = come }
end

-- Removes an object, and everything the walk has found through it, from the walk.
local function cut(walk, former, top, contents_of, loose)
  local work = { top }
  loose[top] = true
  while #work > 0 do
    local object = work[#work]
    work[#work] = nil
    loose[#loose + 1] = object
    each_object(contents_of(object), function(_, value)
      if rawequal(walk.parent[value], object) and not loose[value] then
        loose[value] = true
        work[#work + 1] = value
      end
    end)
    former.parent[object], former.key[object] = walk.parent[object], walk.key[object]
    walk.parent[object], walk.key[object] = nil, nil
  end
end

-- The number of steps by which a walk reaches an object.
local function depth_of(walk, object)
  local depth = 0
  while walk.parent[object] do
    depth, object = depth + 1, walk.parent[object]
  end
  return depth
end

-- Adds to the walk, by the shortest ways, all objects that are reachable from `objects` and not in
-- it yet; its other entries stay valid. `entrances` has the contents of `objects`. Returns the
-- added objects.
local function extend(walk, objects, entrances, contents_of)
  local sources, added, depth, rank = {}, {}, {}, {}
  for i = 1, #objects do
    local object = objects[i]
    sources[i], depth[object], rank[object] = object, depth_of(walk, object), i
  end
  if #sources > 1 then
    sort(sources, function(a, b)
      if depth[a] ~= depth[b] then return depth[a] < depth[b] end
      return rank[a] < rank[b]
    end)
  end
  local source, place = 1, 1
  local object
  local function visit(key, value)
    if rawequal(value, walk.root) or walk.parent[value] then return end
    walk.parent[value], walk.key[value], depth[value] = object, key, depth[object] + 1
    added[#added + 1] = value
  end
  while source <= #sources or place <= #added do
    object = sources[source]
    if object and (place > #added or depth[object] <= depth[added[place]]) then
      source = source + 1
      each_object(entrances[object], visit)
    else
      object, place = added[place], place + 1
      each_object(contents_of(object), visit)
    end
  end
  return added
end

-- Updates the walk after writes to some objects: returns the objects that came, the objects that
-- left, and the former walk. Returns nil for both lists if an object that was cut off is still
-- stored somewhere: then a new walk must be made.
local function mend(walk, changed, before, after)
  local former, loose, left, entrances, sources = kept(walk), {}, {}, {}, {}
  for i = 1, #changed do
    local object = changed[i]
    local old, new = before(object), after(object)
    -- Most writes are to objects that contain no other objects.
    if old.objects ~= false or new.objects ~= false then
      sources[#sources + 1] = object
      left[#sources], entrances[object] = replace(walk, object, old, new)
    end
  end
  for i = 1, #left do
    for _, object in next, left[i] do
      if not loose[object] then cut(walk, former, object, before, loose) end
    end
  end
  -- A part of a removed branch may be stored elsewhere.
  local is_shared = false
  for i = 1, #loose do count_uses(walk, after(loose[i]), -1) end
  for i = 1, #loose do is_shared = is_shared or walk.uses[loose[i]] > 0 end
  local rest = {}
  for i = 1, #sources do
    local object = sources[i]
    if not loose[object] then rest[#rest + 1] = object end
    if is_shared then entrances[object] = after(object) end
  end
  local came, gone = {}, {}
  local added = extend(walk, rest, entrances, after)
  for i = 1, #added do
    count_uses(walk, after(added[i]), 1)
    if not loose[added[i]] then came[#came + 1] = added[i] end
  end
  for i = 1, #loose do
    local object = loose[i]
    if not walk.parent[object] then
      if walk.uses[object] > 0 then return nil, nil, former end
      walk.uses[object] = nil
      gone[#gone + 1] = object
    end
  end
  return came, gone, former
end

-- Calls `read` with the states before and after the contents in `fresh`, and a list of the affected
-- objects: `changed` and all objects that left. `came` of the later state lists the objects that
-- came, in the order in which a walk meets them. Returns the first result of `read`; with the
-- second one, objects that have left are followed until `forget_outside`. From then on, the new
-- contents count as delivered. `known` can have the contents of objects that come; `finish` is
-- called with the shadow at the end, without limits.
function Shadow:step(changed, fresh, known, read, finish)
  local state, new_state = self.state, {}
  local function before(object) return state[object] end
  local function after(object)
    local made = fresh[object] or state[object] or new_state[object]
    if not made then
      made = self:meet(object, known and known[object])
      new_state[object] = made
    end
    return made
  end
  local walk, only_before, only_after = self.walk or walk_below(self.root, before), {}, {}
  self.walk, walk.places = nil, nil
  local came, gone, former = mend(walk, changed, before, after)
  if not came then
    came, gone = {}, {}
    local objects
    walk, objects = walk_below(self.root, after)
    for _, object in next, objects do
      if not state[object] then came[#came + 1] = object end
    end
    local _, former_objects = walk_below(self.root, before)
    for _, object in next, former_objects do
      if not walk.parent[object] and not rawequal(object, walk.root) then
        gone[#gone + 1] = object
      end
    end
  end
  for i = 1, #came do only_after[came[i]] = true end
  for i = 1, #gone do
    local object = gone[i]
    only_before[object] = true
    if not fresh[object] then changed[#changed + 1] = object end
  end
  local result, keeps_left = read({ contents = before, walk = former, only = only_before },
    { contents = after, walk = walk, only = only_after, came = came }, changed)
  core.begin_exempt()
  self:advance(fresh, new_state, only_before, walk, keeps_left)
  finish(self)
  core.end_exempt()
  pcall(self.leave, self)
  self:offer()
  return result
end

-- Forgets the notes for one delivery.
local function forget_notes(self)
  if self.others then self.others:forget() end
  if self.sites then self.sites = {} end
  self.origins = {}
end

-- Makes the step from the delivered contents to the present contents of some objects.
local function compare(self, dirty, read)
  self.dirty, self.is_dirty = {}, {}
  local fresh, changed = {}, {}
  for i = 1, #dirty do
    local object = dirty[i]
    if self.state[object] then
      fresh[object] = self:look(object)
      changed[#changed + 1] = object
    elseif self.outside[object] then
      self:former_outside(object)
      self.outside[object].later = contents(object)
    end
  end
  return self:step(changed, fresh, nil, read, forget_notes)
end

--- The contents, at the beginning of the turn, of an object that is outside of the tree and that
--- the shadow still follows; nil for other objects.
function Shadow:former_outside(object)
  local known, turn = self.outside[object], core.turn_number()
  if not known then return nil end
  if known.turn ~= turn then
    known.made, known.turn, known.later = known.later or known.made, turn, nil
  end
  return known.made
end

--- Ends following an object that is outside of the tree, when `leave` is called.
function Shadow:forget_outside(object)
  if not self.outside[object] then return end
  self.outside[object], self.left[object] = nil, true
end

--- Calls `read` with the writes since the last delivery, and makes this the last delivery. Returns
--- nil if nothing was written. If a limit stops it, the next call gets the same writes again.
function Shadow:take(read)
  self:note_written()
  local dirty, is_dirty = self.dirty, self.is_dirty
  if #dirty == 0 then return nil end
  local ok, result = pcall(compare, self, dirty, read)
  if ok then return result end
  core.begin_exempt()
  local written = self.dirty
  -- The walk may have been updated already.
  self.dirty, self.is_dirty, self.walk = dirty, is_dirty, nil
  self:note(written)
  core.end_exempt()
  error(result, 0)
end

--- Takes over the present contents after writes to some objects were taken back, if all other
--- objects are unchanged.
function Shadow:renew(objects)
  self:note_written()
  for i = 1, #self.dirty do
    local object = self.dirty[i]
    local before = not objects[object] and self.state[object]
    if before then
      local now = contents(object)
      if now.n ~= before.n or not trees.are_same(now, before) then return end
    end
  end
  self:take(function() end)
end

--- Makes the contents that `step` found the delivered contents. Runs without limits.
function Shadow:advance(fresh, new_state, removed, walk, keeps_left)
  for object, made in next, fresh do self.state[object] = made end
  for object, made in next, new_state do self.state[object] = made end
  for object in next, new_state do self.outside[object] = nil end
  for object in next, removed do
    if keeps_left then
      self.outside[object] = { made = self.state[object], turn = core.turn_number() }
    else
      self.left[object] = true
    end
    self.state[object] = nil
  end
  self.walk, walk.places = walk, nil
end

--- Stops following objects that have left; if a limit interrupts it, the rest comes next time.
function Shadow:leave()
  for object in next, self.left do
    local has_left = not (self.state[object] or self.outside[object])
    if not has_left or core.unfollow(self.watcher, object) then
      if has_left and self.writes then core.unfollow(self.writes, object) end
      if has_left and self.others then self.others:leave(object) end
      self.left[object] = nil
    end
  end
end

-- Restricting ------------------------------------------------------------------------------------

-- Whether a change at a path belongs to a key path, given as its parts. An object that came or left
-- before the end of the key path counts, too, because everything below it changed with it.
local function matches(keys, kinds, path, has_object)
  local function follow(step, i)
    if i > #path then
      return has_object or step > #keys or kinds[step] == "deep" and step == #keys
    end
    if step > #keys then return false end
    local kind, key = kinds[step], keys[step]
    if kind == "deep" then
      return follow(step + 1, i) or follow(step, i + 1) or step == #keys
    end
    if kind == "every" then return follow(step + 1, i + 1) end
    return same(key, path[i]) and follow(step + 1, i + 1)
  end
  return follow(1, 1)
end

-- A function that checks whether a change belongs to a key path; nil to accept all changes.
local function filter(path)
  if path == nil or path == "**" then return nil end
  local keys, kinds = core.path_parts(path, "changes", 3)
  for i = 1, #keys do
    if kinds[i] == "operation" or kinds[i] == "member" then
      core.bad_argument(3, "changes", string_format("option 'path' takes names and wildcards, "
        .. "not '%s'", tostring(keys[i])))
    end
  end
  return function(change)
    local has_object = type(change.old) == "table" or type(change.new) == "table"
      or change.ref ~= nil or change.old_ref ~= nil
    return matches(keys, kinds, change.path, has_object)
  end
end

-- Refuses a misspelt name of a model (P9), as a watcher of the names before a wildcard does.
local function check_names(observed, path)
  local keys, kinds = core.path_parts(path, "changes", 3)
  local names = {}
  for i = 1, #keys do
    if kinds[i] ~= "name" and kinds[i] ~= "key" then break end
    names[i] = keys[i]
  end
  if #names == 0 then return end
  core.register(observed, { core.path(unpack(names)), kind = "changes" }, tostring, {}):stop()
end

-- Watching ---------------------------------------------------------------------------------------

local known = {
  observer = true, once = "boolean", name = true, on_end = true, path = true, site = "boolean",
  skip = true,
}

local refused = {
  initial = "there is nothing to compare with at registration",
  equals = "only different values are changes",
  immediate = "changes are collected for a turn",
}

function obs.changes(observed, callback, options)
  core.check_observed(observed, 1, "changes")
  core.check_function(callback, 2, "changes")
  local rest, request, watcher = {}, { "*", kind = "changes" }, nil
  for key, value in next, type(options) == "table" and options or {} do
    if refused[key] then
      if value then
        core.bad_argument(3, "changes", string_format("there is no option '%s': %s", key,
          refused[key]))
      end
    elseif key ~= "path" and key ~= "site" and key ~= "once" and key ~= "skip" then
      rest[key] = value
    end
  end
  options = core.check_options(options, 3, "changes", known, refused)
  trees.check_origin(options.skip, "changes", "skip")
  local is_wanted = filter(options.path)
  if is_wanted then check_names(observed, options.path) end
  local is_once = options.once
  local shadow

  function request.driver(callback, from, observer)
    local origins
    local changes = shadow:take(function(before, after, objects)
      origins = shadow.origins
      local sites = shadow.sites
      local function site_of(object, key)
        local noted = sites[object]
        return noted and (noted[key] or noted.last)
      end
      local changes = trees.difference(before, after, objects, sites and site_of)
      if not is_wanted then return changes end
      local kept = {}
      for i = 1, #changes do
        if is_wanted(changes[i]) then kept[#kept + 1] = changes[i] end
      end
      return kept
    end)
    if not changes or #changes == 0 then return core.idle() end
    if is_once then
      watcher:stop()
      shadow:stop()
    end
    return callback(from, changes, observer, { turn = core.current_turn(), origins = origins })
  end

  watcher = core.register(observed, request, callback, rest)
  shadow = Shadow.begin(observed, watcher, options.site)
  trees.hear_origins(watcher, shadow, options.skip)
  return watcher
end

return obs
