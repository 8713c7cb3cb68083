-- Who made the changes that are applied: a slice of the module `obs`.
--
-- The shadow of a watcher that skips an origin takes over what this origin writes as soon as it is
-- applied, so that the next delivery has what others wrote. In an object that others have written
-- since the last delivery it takes over just the keys and elements of the origin.
local core, obs = ...

local error, move, next, pcall, rawequal, setmetatable, string_format =
  error, table.move, next, pcall, rawequal, setmetatable, string.format
local trees, current_sandbox = core.trees, core.sandbox
local Shadow, contents = trees.Shadow, trees.contents

local weak = { __mode = "k" }
-- The shadows of watchers of changes; true for each.
local shadows = setmetatable({}, weak)
-- The shadow of each watcher.
local shadow_of = setmetatable({}, weak)

local function nothing() end

-- Applying ----------------------------------------------------------------------------------------

-- The applies with an origin that are under way, the innermost last: each has the shadows that know
-- the origin, with what they were before.
local applies = {}

--- Begins to note the writes of an origin.
function trees.begin_origin(origin)
  local before = {}
  for shadow in next, shadows do
    if shadow:knows_origins() then before[shadow] = shadow:prepare(origin) end
  end
  applies[#applies + 1] = { origin = origin, before = before }
end

--- Ends what `begin_origin` began; `is_made`: the writes stay.
function trees.end_origin(is_made)
  local apply = applies[#applies]
  applies[#applies] = nil
  for shadow, before in next, apply.before do
    local objects = shadow:take_written()
    if is_made and #objects > 0 and rawequal(shadow.skip, apply.origin) then
      shadow:adopt(objects, before)
    else
      shadow:note(objects)
      if is_made and #objects > 0 then shadow:add_origin(apply.origin, objects) end
    end
  end
end

-- Shadows -----------------------------------------------------------------------------------------

--- Whether origins of the sandbox that runs mean something to the watcher: another sandbox could
--- use any name to hide what it writes.
function Shadow:knows_origins()
  local sandbox = current_sandbox()
  return sandbox == 0 or sandbox == self.sandbox
end

--- What others have written before an origin writes: the list, and the contents if the origin is
--- skipped.
function Shadow:prepare(origin)
  self:note(self:take_written())
  local before = { dirty = self.dirty, contents = {} }
  if not rawequal(self.skip, origin) then return before end
  for _, object in next, self.dirty do
    if self.state[object] then before.contents[object] = contents(object) end
  end
  return before
end

--- Takes over what an origin wrote to objects.
function Shadow:adopt(objects, before)
  -- A delivery meanwhile has delivered a part of it.
  if self.dirty ~= before.dirty then return self:note(objects) end
  local changed, fresh, former = {}, {}, {}
  for i = 1, #objects do
    local object = objects[i]
    local known, present = self.state[object], before.contents[object]
    if known then
      changed[#changed + 1] = object
      former[object], fresh[object] = known, self:look(object)
      if present then fresh[object] = trees.rebased(fresh[object], present, known) end
    end
  end
  local function keep_removed(side)
    for object in next, side.only do former[object] = side.contents(object) end
  end
  self:learn(objects, former)
  self:step(changed, fresh, nil, keep_removed, nothing)
end

--- Notes an origin for the next delivery.
function Shadow:add_origin(origin, objects)
  for _, known in next, self.origins do
    if rawequal(known, origin) then return end
  end
  self:learn(objects, {})
  self.origins[#self.origins + 1] = origin
end

-- What a shadow has learned of an origin that wrote `objects`. `former` has the contents that the
-- shadow had.
local Lesson = {}
Lesson.__index = Lesson

function Shadow:learn(objects, former)
  core.witness(setmetatable({
    shadow = self, objects = objects, former = former,
    origins = move(self.origins, 1, #self.origins, 1, {}),
  }, Lesson))
end

--- Forgets it: a transaction has taken the writes back to the objects that it covers.
function Lesson:renew(is_covered)
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

--- Has a watcher of changes hear of origins, and leave out the changes of one of them.
function trees.hear_origins(watcher, shadow, skip)
  shadow.skip, shadow.sandbox = skip, current_sandbox()
  shadows[shadow], shadow_of[watcher] = true, shadow
  core.follow_origins(trees.begin_origin, trees.end_origin)
end

--- The state that the next delivery of a watcher of changes continues, as plain data.
function core.snapshot(watcher)
  local shadow = watcher ~= nil and shadow_of[watcher]
  if not shadow then
    core.bad_argument(1, "snapshot", string_format("watcher of obs.changes expected, got %s; "
      .. "obs.raw(t) copies what there is", trees.shown(watcher)))
  end
  if not watcher.active then
    core.raise "Watcher:snapshot was called on a watcher that has ended"
  end
  return trees.copied(shadow.root, function(object) return shadow:read(object) end)
end

--- Refuses an origin that equals nothing.
function trees.check_origin(origin, name, option)
  if origin ~= origin then
    core.bad_argument(3, name, string_format("option '%s' takes any value but NaN", option))
  end
end

--- Makes writes like `trees.written`, for an origin.
function trees.written_from(origin, ...)
  if origin == nil then return trees.written(...) end
  core.begin_exempt()
  core.begin_origin(origin)
  core.end_exempt()
  local ok, number, problem = pcall(trees.written, ...)
  core.begin_exempt()
  core.end_origin(ok and number == nil)
  core.end_exempt()
  if not ok then error(number, 0) end
  return number, problem
end

return obs
