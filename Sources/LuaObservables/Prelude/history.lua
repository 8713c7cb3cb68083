-- Undo and redo: a slice of the module `obs`.
--
-- A step has the contents before and after of each written object, so objects keep their identity.
local core, obs = ...

local error, ipairs, pcall, setmetatable, tostring, type =
  error, ipairs, pcall, setmetatable, tostring, type
local string_format = string.format
local remove = table.remove
local trees = core.trees
local Shadow, are_lists, contents, differing_keys, edit_script, in_batch, plain, same, written =
  trees.Shadow, trees.are_lists, trees.contents, trees.differing_keys, trees.edit_script,
  trees.in_batch, trees.plain, trees.same, trees.written

-- Contents ---------------------------------------------------------------------------------------

--- Adds the writes that change an object's contents from `from` to `to`.
function trees.add_writes(writes, object, from, to)
  local is_short = are_lists(from, to) and edit_script(from.map, from.n, to.map, to.n,
    function(kind, position, _, new)
      writes[#writes + 1] = {
        number = 0, kind = kind == "replace" and "set" or kind, object = object, key = position,
        value = new and plain(to.map[new]),
      }
    end, trees.FEW_EDITS)
  writes[#writes + 1] = {
    number = 0, kind = "contents", object = object, key = is_short, value = to, from = from,
  }
end

-- The first key that would change, but whose present value is not as in `from`.
local function misfit(object, from, to)
  local present = contents(object)
  local keys, count = differing_keys(from.map, to.map)
  for i = 1, count do
    if not same(present.map[keys[i]], from.map[keys[i]]) then return keys[i] end
  end
  if not are_lists(from, to) then return nil end
  if present.n ~= from.n then return present.n end
  for i = 1, from.n ~= to.n and from.n or 0 do
    if not same(present.map[i], from.map[i]) then return i end
  end
end

-- Steps -------------------------------------------------------------------------------------------

-- The state of each history object.
local states = setmetatable({}, { __mode = "k" })

local function update(history, state)
  local can_undo, can_redo = #state.undone_by > 0, #state.redone_by > 0
  if history.can_undo ~= can_undo then history.can_undo = can_undo end
  if history.can_redo ~= can_redo then history.can_redo = can_redo end
end

local function add_change(step, record)
  local place = #step.records + 1
  step.records[place], step.places[record.object] = record, place
end

local function remove_change(step, object)
  local known, place = step.records, step.places[object]
  local last = known[#known]
  known[place], step.places[last.object] = last, place
  known[#known], step.places[object] = nil, nil
end

-- Sets the contents of an object after the step; without a net change, it is no part of the step.
local function end_change(step, object, contents)
  local known = step.records[step.places[object]]
  known.new = contents
  if trees.are_same(known.old, contents) then remove_change(step, object) end
end

-- Adds writes to a step, and removes objects whose contents are then the same as before the step.
--
-- `guests` are the objects that came within the step and that no step can bring back; true for
-- those in the tree. The step leaves out guests that have left again, because undoing it shows
-- nothing of them. Their records wait in `away`, in case they come back before the step ends.
local function join(state, step, taken)
  local guests, away = step.guests, step.away
  local function return_from_away(object)
    if not away[object] then return end
    add_change(step, away[object])
    away[object] = nil
  end
  for _, object in ipairs(taken.came) do
    return_from_away(object)
    if guests[object] ~= nil or not state.times_left[object] then guests[object] = true end
    if step.places[object] then end_change(step, object, state.shadow.state[object]) end
  end
  for _, record in ipairs(taken.records) do
    return_from_away(record.object)
    if step.places[record.object] then
      end_change(step, record.object, record.new)
    else
      add_change(step, record)
    end
  end
  for _, object in ipairs(taken.left) do
    if guests[object] then
      guests[object] = false
      if step.places[object] then
        away[object] = step.records[step.places[object]]
        remove_change(step, object)
      end
    end
  end
end

-- Undo and redo may bring an object back that has left the tree. So the shadow follows it until the
-- history drops the last step with which it left. If it comes back, everything written to it in
-- that turn belongs to the step of that turn. Writes of earlier turns belong to no step, unless the
-- object has left with the same one.

-- Notes that objects left with `step`. Without a step, or if it was dropped, no undo can bring them
-- back, so they are no longer followed.
local function note_left(state, step, left)
  if #left == 0 then return end
  local times, steps_left = state.times_left, step and step.left
  for _, object in ipairs(left) do
    if not steps_left then
      if not times[object] then state.shadow:forget_outside(object) end
    elseif not steps_left[object] then
      steps_left[object], times[object] = true, (times[object] or 0) + 1
    end
  end
  pcall(state.shadow.leave, state.shadow)
end

-- Ends following an object that is in `left` of a step, unless another step can bring it back.
local function release(state, left, object)
  if not left[object] then return end
  local times = state.times_left
  left[object] = nil
  times[object] = times[object] and times[object] > 1 and times[object] - 1 or nil
  if not times[object] then state.shadow:forget_outside(object) end
end

-- A finalizer may drop any step while these two functions run.

-- Ends a step: later writes cannot be added to it. It cannot bring back guests that have left.
local function close(state, step)
  local left = step.left or {}
  step.is_closed = true
  for object, is_inside in next, step.guests do
    if not is_inside then release(state, left, object) end
  end
  step.guests, step.away = {}, {}
  pcall(state.shadow.leave, state.shadow)
end

-- Empties a step. It remains, because marks may name it.
local function drop(state, step)
  local left = step.left or {}
  for object in next, left do release(state, left, object) end
  step.records, step.places, step.left, step.guests, step.away = {}, {}, nil, {}, {}
  pcall(state.shadow.leave, state.shadow)
end

local function drop_all(state, steps)
  for _, step in ipairs(steps) do drop(state, step) end
end

local NOTHING = { records = {}, came = {}, left = {} }

-- Takes the writes since the last step, and the objects that have come and left. With `is_own`,
-- `records` stays empty: the writes are the history's own, or may be forgotten.
local function take(state, is_own)
  local shadow, taken = state.shadow, NOTHING
  shadow:take(function(before, after, objects)
    taken = { records = {}, came = after.came, left = {} }
    local records, others = taken.records, shadow.others
    local function add(object, old, new)
      if old ~= new and not trees.are_same(old, new) then
        records[#records + 1] = { object = object, old = old, new = new }
      end
    end
    if not is_own then
      for _, object in ipairs(objects) do
        local old, new = before.contents(object), after.contents(object)
        -- Writes of other sandboxes are not part of a step.
        if others and old and new then old = others:wanted(object, new) end
        add(object, old, new)
      end
      for _, object in ipairs(after.came) do
        local old = shadow:former_outside(object)
        if old then add(object, old, after.contents(object)) end
      end
    end
    for object in next, before.only do taken.left[#taken.left + 1] = object end
    return nil, true
  end)
  return taken
end

-- Makes a step from taken writes, or adds them to the last step.
local function add_step(state, taken)
  local steps, now, turn = state.undone_by, core.now(), core.turn_number()
  local last = steps[#steps]
  local is_joined = last and (last == state.open or not state.open and not last.is_closed
    and (last.turn == turn or state.group > 0 and now - last.time <= state.group))
  if not is_joined then
    if last and not last.is_closed then close(state, last) end
    last = { records = {}, places = {}, left = {}, guests = {}, away = {} }
  end
  -- Before steps are dropped with which the same objects have left earlier.
  note_left(state, last, taken.left)
  if not is_joined then
    if state.depth > 0 then state.open = last end
    steps[#steps + 1] = last
    if #steps > state.limit then
      -- After this, undo can only go back to the state after the oldest step.
      state.bottom = remove(steps, 1)
      drop(state, state.bottom)
    end
  end
  drop_all(state, state.redone_by)
  state.redone_by = {}
  last.time, last.turn = now, turn
  join(state, last, taken)
  if #last.records == 0 then
    drop(state, remove(steps))
    if state.open == last then state.open = nil end
  end
end

local function record(history, state)
  local taken = take(state)
  if #taken.records == 0 and #taken.left == 0 then return end
  -- The shadow has forgotten these changes: a stop here would lose the step.
  core.begin_exempt()
  if #taken.records > 0 then add_step(state, taken) else note_left(state, nil, taken.left) end
  core.end_exempt()
  update(history, state)
end

-- The writes of a step, or nil and an error text if it does not fit; and the keys that other
-- sandboxes have written since.
local function writes_of(step, state, is_undo)
  local writes, kept = {}, {}
  for _, change in ipairs(step.records) do
    local old, new = change.new, change.old
    if not is_undo then old, new = new, old end
    if state.shadow.others or state.shadow.has_adopted then
      -- Keys that others have written since stay.
      old = contents(change.object)
      new, kept[change.object] = trees.rebased(old, is_undo and change.new or change.old, new)
    end
    local key = misfit(change.object, old, new)
    if key ~= nil then
      return nil, string_format("'%s' of %s has a different value now", tostring(key),
        trees.shown(change.object))
    end
    trees.add_writes(writes, change.object, old, new)
  end
  return writes, nil, kept
end

-- Undoes or redoes a step, and moves it to the other list; false if it does not fit. If a limit
-- interrupts this, the step stays in its list.
local function go(history, state, is_undo)
  local from = is_undo and state.undone_by or state.redone_by
  local step = from[#from]
  if not step then return false end
  -- These writes make no new step. Immediate watchers are called after the step has moved.
  local function move()
    -- A setter of the host program may have used the history, and dropped the step.
    local to = is_undo and state.redone_by or state.undone_by
    to[#to + 1] = step
    local ok, taken = pcall(take, state, true)
    if not ok or not step.left then to[#to] = nil end
    if not ok then error(taken, 0) end
    if #taken.left > 0 then
      core.begin_exempt()
      note_left(state, step, taken.left)
      core.end_exempt()
    end
    if from[#from] == step then from[#from] = nil end
  end
  local writes, problem, kept = writes_of(step, state, is_undo)
  if writes then
    local failed, failure = in_batch(written, writes, false, move)
    problem = failed and tostring(failure)
  end
  -- Writes of immediate watchers make no step, either.
  local ok, taken = pcall(take, state, true)
  if problem or ok and #taken.left > 0 then
    core.begin_exempt()
    if ok then note_left(state, not problem and step or nil, taken.left) end
    if problem and from[#from] == step then
      from[#from] = nil
      drop(state, step)
    end
    core.end_exempt()
  end
  update(history, state)
  if not problem then
    trees.report_kept(kept, "history", state.site,
      not state.shadow.others and "another process" or nil)
    return true
  end
  core.report(string_format("a step of the history no longer fits, and was dropped: %s",
    problem), "", "watcher", "history", state.site)
  return false
end

-- The object --------------------------------------------------------------------------------------

local History = { __name = "obs.History", __index = {} }
local methods = History.__index

local function state_of(history, name)
  local state = type(history) == "table" and states[history]
  if not state then
    core.bad_argument(1, name, string_format("obs.History expected, got %s",
      history == nil and "no value" or type(history)))
  end
  return state
end

-- Writes inside a transaction may be taken back, so they cannot become a step yet.
local function state_outside(history, name)
  local state = state_of(history, name)
  if trees.is_in_transaction() then
    core.raise(string_format("the method '%s' of a history was called inside a transaction", name))
  end
  return state
end

-- Makes a step of the writes since the last one, if there are any; ends the last step, and returns
-- it.
local function end_step(history, state)
  record(history, state)
  local last = state.undone_by[#state.undone_by]
  if last and not last.is_closed then
    core.begin_exempt()
    close(state, last)
    core.end_exempt()
  end
  return last
end

local function settle(history, state)
  end_step(history, state)
  state.open, state.opened, state.depth = nil, nil, 0
end

--- Undoes the last step, or all steps back to a mark; false if there was nothing to undo.
function methods:undo(name)
  local state = state_outside(self, "undo")
  if state.is_stopped then return false end
  settle(self, state)
  if name == nil then return go(self, state, true) end
  local mark = state.marks[name]
  if not mark then
    core.raise(string_format("the history has no mark '%s'%s", tostring(name),
      core.hint(name, state.marks)))
  end
  local target = 0
  for i, step in ipairs(state.undone_by) do
    if step == mark then target = i end
  end
  if target == 0 and mark ~= state.bottom then return false end
  local has_undone = false
  while #state.undone_by > target do
    if not go(self, state, true) then return false end
    has_undone = true
  end
  return has_undone
end

--- Redoes the step that was undone last; false without such a step.
function methods:redo()
  local state = state_outside(self, "redo")
  if state.is_stopped then return false end
  settle(self, state)
  return go(self, state, false)
end

--- Names the last step.
function methods:mark(name)
  local state = state_outside(self, "mark")
  if type(name) ~= "string" then
    core.bad_argument(1, "mark", "name expected, got "
      .. (name == nil and "no value" or type(name)))
  end
  state.marks[name] = end_step(self, state) or state.bottom
end

--- Makes the writes from here to `commit` one step.
function methods:begin(name)
  local state = state_outside(self, "begin")
  if name ~= nil and type(name) ~= "string" then
    core.bad_argument(1, "begin", "name expected, got " .. type(name))
  end
  if state.depth == 0 then
    end_step(self, state)
    state.opened = name
  end
  state.depth = state.depth + 1
end

function methods:commit()
  local state = state_outside(self, "commit")
  if state.depth == 0 then core.raise "commit without begin" end
  if state.depth > 1 then
    state.depth = state.depth - 1
    return
  end
  end_step(self, state)
  if state.open and state.opened then state.marks[state.opened] = state.open end
  state.open, state.opened, state.depth = nil, nil, 0
end

--- Forgets all steps.
function methods:clear()
  local state = state_outside(self, "clear")
  note_left(state, nil, take(state, true).left)
  drop_all(state, state.undone_by)
  drop_all(state, state.redone_by)
  state.undone_by, state.redone_by, state.marks, state.open = {}, {}, {}, nil
  update(self, state)
end

--- Ends the history.
function methods:stop()
  local state = state_of(self, "stop")
  if state.is_stopped then return end
  state.is_stopped = true
  state.watcher:stop()
  state.shadow:stop()
  state.undone_by, state.redone_by, state.marks = {}, {}, {}
  state.times_left, state.open = {}, nil
  update(self, state)
end

core.classes[#core.classes + 1] = History

local known = { limit = true, group = true }

function obs.history(target, options)
  core.check_observed(target, 1, "history")
  options = core.check_options(options, 2, "history", known)
  local limit, group = options.limit, options.group
  if limit == nil then limit = 100 end
  if group == nil then group = 0 end
  if type(limit) ~= "number" or limit < 1 or limit ~= limit // 1 then
    core.bad_argument(2, "history", "option 'limit' takes a number of steps, not "
      .. trees.shown(limit))
  end
  if type(group) ~= "number" or not (group >= 0) then
    core.bad_argument(2, "history", "option 'group' takes a number of seconds, not "
      .. trees.shown(group))
  end
  local history = setmetatable({ can_undo = false, can_redo = false }, History)
  local state = {
    undone_by = {}, redone_by = {}, marks = {}, bottom = {}, depth = 0, times_left = {},
    limit = limit, group = group, site = core.site(),
  }
  states[history] = state
  trees.tools[history] = true
  state.watcher = core.register(target, {
    "*", kind = "history", driver = function()
      record(history, state)
      core.idle()
    end,
  }, function() end, { name = "history" })
  state.shadow = Shadow.begin(target, state.watcher, false, core.sandbox() ~= 0)
  trees.skip_remote(state.watcher, state.shadow)
  return core.note_owned(history)
end

return obs
