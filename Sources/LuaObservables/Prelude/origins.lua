-- The origins of applied changes: a slice of the module `obs`.
--
-- If a watcher skips an origin, its shadow adopts the writes of each apply with this origin when it
-- ends: they count as delivered. In an object that others have also written since the last
-- delivery, only the keys and elements that the origin wrote are adopted.
local core, obs = ...

local error, move, next, pcall, rawequal, setmetatable, string_format =
  error, table.move, next, pcall, rawequal, setmetatable, string.format
local trees, current_sandbox = core.trees, core.sandbox
local Shadow, contents = trees.Shadow, trees.contents

local weak = { __mode = "k" }
-- The shadows of watchers of changes, each with the value true.
local shadows = setmetatable({}, weak)
-- The shadow of each watcher of changes.
local shadow_of = setmetatable({}, weak)

local function nothing() end

-- The origins of mirrors, whose writes are no steps of a history (A9).
local remote = setmetatable({}, weak)

--- An origin for the changes that a mirror receives.
function trees.remote_origin(name)
  local origin = { name = name }
  remote[origin] = true
  return origin
end

-- Applying ----------------------------------------------------------------------------------------

-- The apply with an origin that is under way, or nil. `before` has the shadows that know the
-- origin, with their former states.
local apply
-- The objects that the apply will write; nil if unknown.
local planned

-- The former state of a shadow that had nothing to deliver.
local clean = { contents = {} }

-- Whether a watcher is informed of origins that a sandbox applies. Another sandbox could otherwise
-- hide its writes under any name.
local function knows_origins(shadow, sandbox) return sandbox == 0 or sandbox == shadow.sandbox end

--- Begins to note the writes of an origin that a sandbox or the program (0) applies.
function trees.begin_origin(origin, sandbox)
  local before = {}
  apply = { origin = origin, before = before }
  for shadow in next, shadows do
    if knows_origins(shadow, sandbox) then
      local is_ready, former = pcall(shadow.prepare, shadow, origin)
      if is_ready then before[shadow] = former end
      if former == nil then shadows[shadow] = nil end
    end
  end
end

--- Ends the apply; `is_made` is false if its writes were taken back.
function trees.end_origin(is_made)
  if not apply then return end
  local origin, found = apply.origin, apply.before
  apply = nil
  for shadow, before in next, found do
    local objects = core.take_written(shadow.watcher)
    if not objects then
      -- The apply has written nothing there.
    elseif not is_made then
      shadow:note(objects)
    elseif not shadow:skips(origin) then
      shadow:note(objects)
      pcall(shadow.add_origin, shadow, origin, objects)
    elseif not pcall(shadow.adopt, shadow, objects, before) then
      -- The next delivery includes these writes.
      shadow.walk = nil
      shadow:note(objects)
    end
  end
end

-- Shadows -----------------------------------------------------------------------------------------

-- Whether the changes of an origin count as delivered.
function Shadow:skips(origin)
  return rawequal(self.skip, origin) or self.skips_remote and remote[origin]
end

--- Returns the objects that were written before an origin writes, with their contents if the origin
--- is skipped. Nil for a watcher that has ended.
function Shadow:prepare(origin)
  local objects, has_ended = core.take_written(self.watcher)
  if has_ended then return nil end
  if objects then self:note(objects) end
  if #self.dirty == 0 then return clean end
  local before = { dirty = self.dirty, contents = {} }
  if not self:skips(origin) then return before end
  for _, object in next, self.dirty do
    local is_planned = not planned or planned[object]
    if is_planned and self.state[object] then before.contents[object] = contents(object) end
  end
  return before
end

--- Makes an origin's writes to objects count as delivered.
function Shadow:adopt(objects, before)
  -- A delivery during the apply has already delivered a part of its writes.
  if before ~= clean and self.dirty ~= before.dirty then return self:note(objects) end
  local changed, fresh, former = {}, {}, {}
  for i = 1, #objects do
    local object = objects[i]
    local known, present = self.state[object], before.contents[object]
    -- If others wrote the object before, and its contents then are unknown, everything is
    -- delivered.
    if known and (present or not self.is_dirty[object]) then
      changed[#changed + 1] = object
      former[object], fresh[object] = known, self:look(object)
      if present and not trees.are_same(present, known) then
        fresh[object] = trees.rebased(fresh[object], present, known)
      end
    end
  end
  local function keep_removed(side)
    for object in next, side.only do former[object] = side.contents(object) end
  end
  self.has_adopted = true
  self:note_adoption(objects, former)
  self:step(changed, fresh, nil, keep_removed, nothing)
end

--- Notes an origin for the next delivery.
function Shadow:add_origin(origin, objects)
  for _, known in next, self.origins do
    if rawequal(known, origin) then return end
  end
  self:note_adoption(objects, {})
  local origins = move(self.origins, 1, #self.origins, 1, {})
  origins[#origins + 1] = origin
  self.origins = origins
end

-- The state that a transaction restores in a shadow: the contents and the origins before an apply
-- that wrote `objects`.
local Adoption = {}
Adoption.__index = Adoption

function Shadow:note_adoption(objects, former)
  core.witness(setmetatable(
    { shadow = self, objects = objects, former = former, origins = self.origins }, Adoption))
end

--- Restores the shadow after a transaction took back writes to the objects that it covers.
function Adoption:renew(is_covered)
  local changed, fresh, is_whole = {}, {}, true
  for i = 1, #self.objects do
    local object = self.objects[i]
    is_whole = is_whole and is_covered[object]
    if is_covered[object] and self.former[object] and self.shadow.state[object] then
      changed[#changed + 1], fresh[object] = object, self.former[object]
    end
  end
  if is_whole then self.shadow.origins = self.origins end
  self.shadow:step(changed, fresh, self.former, nothing, nothing)
end

-- Watchers ----------------------------------------------------------------------------------------

--- Registers the shadow of a watcher for origins; `skip` is the origin to skip, or nil.
function trees.hear_origins(watcher, shadow, skip)
  shadow.skip, shadow.sandbox = skip, current_sandbox()
  shadows[shadow], shadow_of[watcher] = true, shadow
  core.follow_origins(trees.begin_origin, trees.end_origin)
end

--- Registers the shadow of a history: it leaves out what mirrors receive.
function trees.skip_remote(watcher, shadow)
  trees.hear_origins(watcher, shadow, nil)
  shadow.skips_remote = true
end

--- The state that the next delivery of a watcher of changes starts from, as data.
function core.snapshot(watcher)
  local shadow = watcher ~= nil and shadow_of[watcher]
  if not shadow then
    core.bad_argument(1, "snapshot", string_format("watcher of obs.changes expected, got %s; "
      .. "obs.raw(t) copies the present state", trees.shown(watcher)))
  end
  if not watcher.active then
    core.raise "Watcher:snapshot was called on a watcher that has ended"
  end
  return trees.copied(shadow.root, function(object)
    return shadow.state[object] or contents(object)
  end)
end

--- Refuses NaN as an origin, as it equals nothing.
function trees.check_origin(origin, name, option)
  if origin ~= origin then
    core.bad_argument(3, name, string_format("option '%s' takes any value except NaN", option))
  end
end

--- Makes writes as `trees.written` does, for an origin.
function trees.written_from(origin, writes, force)
  if origin == nil then return trees.written(writes, force) end
  local objects = {}
  for i = 1, #writes do objects[writes[i].object] = true end
  core.begin_exempt()
  planned = objects
  local has_begun, refusal = pcall(core.begin_origin, origin)
  planned = nil
  core.end_exempt()
  if not has_begun then error(refusal, 0) end
  local ok, number, problem, failure, write = pcall(trees.written, writes, force)
  core.begin_exempt()
  core.end_origin(ok and number == nil)
  core.end_exempt()
  if not ok then error(number, 0) end
  return number, problem, failure, write
end

return obs
