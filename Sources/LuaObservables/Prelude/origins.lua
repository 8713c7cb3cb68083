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
-- The shadows of watchers of changes; true where an origin is skipped.
local is_skipping = setmetatable({}, weak)
local shadows = setmetatable({}, weak)

local function nothing() end

-- Applying ----------------------------------------------------------------------------------------

local Applying = {}
Applying.__index = Applying

-- The innermost apply with an origin that is under way.
trees.applying = nil

--- Notes that a shadow was notified of a write to an object.
function Applying:note(shadow, object)
  local objects = self.written[shadow]
  if not objects then
    objects = {}
    self.written[shadow] = objects
  end
  if objects[object] then return end
  objects[object], objects[#objects + 1] = true, object
end

--- Begins to note the writes of an origin.
function trees.begin_origin(origin)
  local self = setmetatable(
    { origin = origin, outer = trees.applying, written = {}, before = {} }, Applying)
  -- Another write to an object that was written already counts, too.
  core.rearm()
  for shadow, is_so in next, is_skipping do
    if is_so and rawequal(shadow.skip, origin) and shadow:knows_origins() then
      self.before[shadow] = shadow:prepare()
    end
  end
  trees.applying = self
end

--- Ends what `begin_origin` began; `is_made`: the writes stay.
function trees.end_origin(is_made)
  local self = trees.applying
  trees.applying = self.outer
  for shadow, objects in next, is_made and self.written or {} do
    if self.before[shadow] then
      shadow:adopt(objects, self.before[shadow])
    elseif is_skipping[shadow] ~= nil and shadow:knows_origins() then
      shadow:add_origin(self.origin, objects)
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

--- The contents of all objects that others have written, before an origin writes.
function Shadow:prepare()
  local before = { dirty = self.dirty, count = #self.dirty, contents = {} }
  for _, object in next, self.dirty do
    if self.state[object] then before.contents[object] = contents(object) end
  end
  return before
end

--- Takes over what an origin wrote to objects.
function Shadow:adopt(objects, before)
  -- A delivery meanwhile has delivered these writes.
  if self.dirty ~= before.dirty then return end
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
  for i = before.count + 1, #self.dirty do
    self.is_dirty[self.dirty[i]], self.dirty[i] = nil, nil
  end
  core.rearm()
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
  is_skipping[shadow], shadows[watcher] = skip ~= nil, shadow
  core.follow_origins(trees.begin_origin, trees.end_origin)
end

--- The state that the next delivery of a watcher of changes continues, as plain data.
function core.snapshot(watcher)
  local shadow = watcher ~= nil and shadows[watcher]
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
