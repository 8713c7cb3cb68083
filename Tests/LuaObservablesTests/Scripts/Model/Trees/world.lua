-- X1, X2, X3, X5 and S8 for random trees: transactions, each with its own roots, inside of batches,
-- coroutines and each other; watchers of all kinds; collections, models, tables with metatables,
-- opaque tables, odd keys and values, Swift objects; and histories.
--
-- The reference knows no wiring: it copies all contents before and after, and compares.
local obs = require "obs"
local folder = debug.getinfo(1, "S").source:match "^@(.*/)"
local Objects = dofile(folder .. "objects.lua")
local contents = Objects.contents
local footprint = dofile(folder .. "footprints.lua")(contents)
local laws = dofile(folder .. "laws.lua")(Objects)
local kind, entries, same = contents.kind, contents.entries, contents.same
local copy_tree, difference, differing = contents.copy, contents.difference, contents.differing

-- Ends the program without a failure: if an object comes back, is written and leaves again within
-- one step, the history may have a step that this model, which compares trees, does not see (X5).
local HIDDEN = "a step outside of the tree"

-- `mode`: "free", or "history" for a history of the root.
local World = setmetatable({}, { __index = Objects })
World.__index = World

function World.new(mode, program)
  local self = Objects.new(mode == "history", program)
  self.mode, self.program = mode, program
  -- The open transactions, and all writes of the turn. `count`: the number of statements among
  -- them.
  self.frames, self.writes, self.batches = {}, {}, 0
  self.watchers, self.pending, self.count, self.touched = {}, {}, 0, {}
  return setmetatable(self, World)
end

function World:fail(text, ...) self.problem = self.problem or text:format(...) end
function World:is_quiet() return #self.frames == 0 and self.batches == 0 end

-- Writes -----------------------------------------------------------------------------------------

-- Notes a write to an object, with the open transactions that would undo it.
function World:wrote(object)
  local write = { by = {} }
  self.touched[object] = true
  for _, frame in ipairs(self.frames) do
    if frame.cover[object] then write.by[frame] = true end
    frame.writes[#frame.writes + 1] = write
  end
  self.writes[#self.writes + 1] = write
  return write
end

-- Whether there is a write that was not undone.
function World:has_moved()
  for _, write in ipairs(self.writes) do if not write.is_undone then return true end end
  return self.is_moved
end

-- Objects that came below the roots of open transactions are covered from now on.
function World:extend()
  for _, frame in ipairs(self.frames) do
    local work = {}
    for object in next, frame.cover do work[#work + 1] = object end
    for _, object in ipairs(work) do
      contents.each_inner(object, true, function(value)
        if not frame.cover[value] then
          frame.cover[value], frame.added[value] = entries(value), #self.log
          work[#work + 1] = value
        end
      end)
    end
  end
end

local function differs(a, b)
  for place in next, a do if not b[place] then return place end end
  for place in next, b do if not a[place] then return place end end
end

function World:footprint(watcher)
  return footprint(watcher.object, watcher.path, function(value)
    -- Equal numbers are no change (T5).
    return math.type(value) and ("%.14g"):format(value) or self:name(value)
  end)
end

-- Runs `body`, which writes to an object, and notes what its watchers must hear of it.
function World:writing(object, body)
  local known, deep = {}, {}
  for _, watcher in ipairs(self.watchers) do
    if watcher.handle and watcher.places then
      for _, place in ipairs(watcher.places) do
        known[#known + 1] = { watcher, place, rawget(place[1], place[2]) }
      end
    elseif watcher.handle and watcher.kind == "deep" and watcher.immediate and self:is_quiet() then
      deep[watcher], watcher.calls = self:footprint(watcher), 0
    end
  end
  self:wrote(object)
  self.is_in_steps = false
  body()
  self.count = self.count + (self.is_in_steps and 2 or 1)
  for _, entry in ipairs(known) do
    local watcher, place, old = entry[1], entry[2], entry[3]
    if self.pending[watcher] and not same(old, rawget(place[1], place[2])) then
      self.pending[watcher][self:wrote(place[1])] = true
    end
  end
  for number, watcher in ipairs(self.watchers) do
    local place = deep[watcher] and differs(deep[watcher], self:footprint(watcher))
    if place and watcher.calls == 0 then
      self:fail("X1: immediate watcher %d is not called: %s", number, place)
    elseif deep[watcher] and not place and watcher.calls > 0
      and not self.is_in_steps and not self.has_lazies then
      self:fail("X1: immediate watcher %d is called for nothing", number)
    end
  end
  self:extend()
end

-- Watchers ---------------------------------------------------------------------------------------

local PATHS = {
  "**", "**.a", "a.**", "a.**.b", "**.*", "**.b.c", "**.b.*", "*.**", "*.**.c", "**.a.**",
  "**.b.**.c", "**.**", "**.count", "**.#1", "a.*.**.b", "**.*.a", "**.n", "*", "*.a", "a.b",
  "**.mate.name", "*.mate.size", "a.mate.name", "b.mate.mate.name", "a.b.mate.*", "*.mate.*.mate",
  "mate.mate.size", "b.kids.#1.mate.name",
}
local NAMES = { "a", "b", "c" }

-- Follows all changes of an object in a copy.
function World:watch_changes(object, is_restricted)
  local watcher = {
    kind = "changes", copy = copy_tree(object), object = object, calls = 0,
    is_restricted = is_restricted,
  }
  local number = #self.watchers + 1
  self.watchers[number] = watcher
  self:note("watcher %d: changes of %s%s", number, self:name(object),
    is_restricted and " (restricted)" or "")
  watcher.handle = obs.changes(object, function(observed, changes)
    watcher.calls = watcher.calls + 1
    if #changes == 0 then self:fail("X2: watcher %d hears of no change", number) end
    if watcher.is_paused then self:fail("X2: watcher %d is paused", number) end
    if watcher.is_restricted then return end
    local wrong = laws.check_changes(watcher.copy, observed, changes)
    if wrong then self:fail("watcher %d: %s", number, wrong) end
    watcher.copy = copy_tree(observed)
  end, { path = is_restricted and "**.n" or nil, site = number % 2 == 0 })
end

-- A key for which the reference knows exactly whether a call is pending, or nil.
local function watched_key(object, number)
  local name = kind(object)
  if name == "array" or name == "set" or name == "meta" or type(object) == "userdata" then
    return nil
  end
  return name == "lazy" and "x" or (contents.FIELDS[name] or NAMES)[number % 3 + 1]
end

-- A watcher of one key, of its object or in a list with a second one.
function World:watch_key(watcher, step, is_immediate)
  local object, number = watcher.object, #self.watchers + 1
  local key = watched_key(object, step[4] // 8)
  if not key then return end
  watcher.kind, watcher.key, watcher.last = "key", key, rawget(object, key)
  watcher.is_immediate, watcher.places = is_immediate, { { object, key } }
  local root, paths = object, { key }
  local other = self:target(step[4] // 32)
  local other_key = watched_key(other, step[4] // 16)
  if not is_immediate and step[4] // 8 % 2 == 0 and other_key and other ~= object then
    watcher.places[2] = { other, other_key }
    root, paths = { object, other }, { "#1." .. key, "#2." .. other_key }
  end
  self:note("watcher %d: %s%s of %s%s", number, table.concat(paths, ", "),
    is_immediate and " immediately" or "", self:name(object),
    watcher.places[2] and " and " .. self:name(other) or "")
  watcher.root = root
  watcher.handle = obs.observe(root, paths, function(_, _, change)
    watcher.calls = watcher.calls + 1
    if is_immediate then
      if not watcher.is_unsure and self.batches == 0 and not same(change.old, watcher.last) then
        self:fail("S8: immediate watcher %d: old is %s, not %s", number, self:name(change.old),
          self:name(watcher.last))
      end
      watcher.last, watcher.is_unsure = change.new, watcher.is_unsure or self.batches > 0
    elseif number % 5 == 0 then
      error("a watcher fails", 0)
    end
  end, { immediate = is_immediate })
  self.pending[watcher] = {}
  return true
end

function World:watch_deep(watcher, step, is_immediate)
  watcher.kind, watcher.path = "deep", PATHS[step[4] // 8 % #PATHS + 1]
  self:note("watcher %d: %s of %s%s", #self.watchers + 1, watcher.path,
    self:name(watcher.object), is_immediate and " immediately" or "")
  local ok, handle = pcall(obs.observe, watcher.object, watcher.path, function()
    watcher.calls = watcher.calls + 1
  end, { immediate = is_immediate })
  -- Some objects do not accept such a component.
  if not ok then return end
  watcher.handle, watcher.immediate = handle, is_immediate
  watcher.state = not is_immediate and self:footprint(watcher)
  return true
end

function World:watch(step)
  if #self.watchers >= 12 then return end
  local object, choice = self:target(step[3]), step[4] % 8
  if type(object) == "userdata" and choice ~= 0 then choice = 3 end
  if choice == 0 and self.batches == 0 then
    -- Collections of a Swift object cannot be copied alone.
    if not contents.can_make(kind(object)) then object = self.root end
    return self:watch_changes(object, step[4] // 8 % 4 == 0)
  end
  local watcher = { object = object, calls = 0 }
  local is_new
  if choice == 1 or choice == 2 then is_new = self:watch_key(watcher, step, choice == 2)
  else is_new = self:watch_deep(watcher, step, choice == 7) end
  if is_new then self.watchers[#self.watchers + 1] = watcher end
end

-- Transactions -----------------------------------------------------------------------------------

function World:all_contents()
  local all = {}
  for _, object in ipairs(self.objects) do all[object] = entries(object) end
  return all
end

-- How a transaction ends; it fails if it has a function here.
local ENDS = {
  { "kept" }, { "kept" },
  { "fails", function(message) error(message, 0) end },
  { "aborts", obs.abort },
  { "aborts, which is caught", function(message) pcall(obs.abort, message) end },
}

function World:transaction(step, first, last)
  local roots = { step[4] % 3 > 0 and self.root or self:target(step[3]) }
  if step[4] % 5 == 0 then roots[2] = self:target(step[4]) end
  local how = ENDS[step[4] // 3 % 5 + 1]
  local frame = { cover = {}, writes = {}, added = {}, first = #self.log }
  local count = #self.watchers
  for object in next, (contents.reach(roots, true)) do frame.cover[object] = entries(object) end
  self:note("transaction on %s%s: %s", self:name(roots[1]),
    roots[2] and " and " .. self:name(roots[2]) or "", how[1])
  self.frames[#self.frames + 1], self.depth = frame, self.depth + 1
  local ok, message = obs.transaction(roots, function()
    self:run(first, last)
    if self.problem then error("stop", 0) end
    frame.final = self:all_contents()
    if how[2] then how[2] "fails" end
  end)
  self.frames[#self.frames], self.depth = nil, self.depth - 1
  if self.problem then return end
  if ok ~= not how[2] or how[2] and message ~= "fails" then
    return self:fail("S8: a transaction ends with %s %s", tostring(ok), tostring(message))
  end
  for _, object in ipairs(self.objects) do
    local wanted = how[2] and frame.cover[object] or frame.final[object]
    local key = differing(wanted, entries(object), contents.exactly)
    if key ~= nil then
      return self:fail("S8: after a transaction that %s, %s[%s] is %s, not %s%s", how[1],
        self:name(object), self:name(key), self:name(entries(object)[key]),
        self:name(wanted[key]), frame.cover[object] and "" or " (not covered)")
    end
  end
  if how[2] then self:undo_frame(frame, count) end
end

-- Brings all notes up to date after a transaction failed. `count`: the watchers before it.
function World:undo_frame(frame, count)
  self:note "failed"
  local is_all_back = true
  for _, write in ipairs(frame.writes) do
    write.is_undone = write.is_undone or write.by[frame]
    is_all_back = is_all_back and write.is_undone
  end
  -- The values that outer transactions noted during this one were undone, so these transactions
  -- note the restored values.
  for _, outer in ipairs(self.frames) do
    for object, map in next, frame.cover do
      local added = outer.added[object]
      if added and added > (frame.added[object] or frame.first) then outer.cover[object] = map end
    end
  end
  -- Watchers registered inside know the current values. If some writes stay, part of the undone
  -- values are news for them.
  for number = count + 1, #self.watchers do
    local watcher = self.watchers[number]
    if not is_all_back then
      watcher.is_restricted, watcher.state = true, nil
    elseif watcher.handle then
      if watcher.copy then watcher.copy = copy_tree(watcher.object) end
      if watcher.state then watcher.state = self:footprint(watcher) end
    end
  end
end

-- Turns ------------------------------------------------------------------------------------------

-- By kind of watcher: a check at the end of a turn.
local checks = {}

function checks.changes(self, watcher, number)
  if watcher.is_restricted or watcher.is_paused then return end
  local wrong = difference(watcher.object, watcher.copy)
  if wrong then self:fail("X2: watcher %d: after a turn %s", number, wrong) end
end

function checks.key(self, watcher, number)
  local value, writes = rawget(watcher.object, watcher.key), self.pending[watcher]
  self.pending[watcher] = {}
  if watcher.is_immediate then
    if not watcher.is_unsure and not same(watcher.last, value) then
      self:fail("S8: immediate watcher %d has %s, not %s", number, self:name(watcher.last),
        self:name(value))
    end
    watcher.is_unsure, watcher.last = false, value
    return
  end
  local is_pending = false
  for write in next, writes do is_pending = is_pending or not write.is_undone end
  if watcher.calls ~= (is_pending and 1 or 0) then
    self:fail("S8: watcher %d is called %d times", number, watcher.calls)
  end
end

function checks.deep(self, watcher, number)
  if watcher.immediate then return end
  if watcher.calls > 0 and not self:has_moved() then
    self:fail("S8: watcher %d is called, and nothing was written", number)
  end
  if not watcher.state then return end
  local state = self:footprint(watcher)
  local place = differs(watcher.state, state)
  if place and watcher.calls ~= 1 then
    self:fail("X1: watcher %d is called %d times: %s", number, watcher.calls, place)
  end
  -- A value that is written and restored is a change, as values are not compared.
  local is_single = self.count == 1 and not self.is_moved and not self.has_lazies
  if not place and watcher.calls > 0 and is_single then
    self:fail("X1: watcher %d is called for nothing", number)
  end
  watcher.state = state
end

function World:flush()
  if not self:is_quiet() then return end
  self:note "flush"
  for _ = 1, 2 do obs.flush() end
  for number, watcher in ipairs(self.watchers) do
    if self.problem then return end
    if watcher.handle then
      checks[watcher.kind](self, watcher, number)
      watcher.calls = 0
    elseif watcher.calls > 0 then
      self:fail("T7: watcher %d is called after it was stopped", number)
    end
  end
  self.is_moved, self.writes, self.count = false, {}, 0
end

-- Histories (X5) ---------------------------------------------------------------------------------
-- The states that undo and redo pass through, with the current one at `at`.

function World:begin_history()
  self.limit = self.program[1] and self.program[1][3] % 3 == 0 and 3 or 100
  self.history = obs.history(self.root, { limit = self.limit })
  self.states, self.at, self.marks = { self:state() }, 1, {}
end

function World:state()
  local map = {}
  for object in next, (contents.reach({ self.root }, false)) do map[object] = entries(object) end
  return { map = map }
end

local function state_difference(a, b)
  for object, map in next, a.map do
    if not b.map[object] then return "an object left" end
    local key = differing(map, b.map[object], same)
    if key ~= nil then return tostring(key) end
  end
  for object in next, b.map do if not a.map[object] then return "an object came" end end
end

function World:expect_state(what)
  local place = state_difference(self.states[self.at], self:state())
  if place then return self:fail("X5: after %s %s differs", what, place) end
  local history = self.history
  if history.can_undo ~= (self.at > 1) or history.can_redo ~= (self.at < #self.states) then
    self:fail("X5: after %s can_undo is %s, can_redo %s", what, tostring(history.can_undo),
      tostring(history.can_redo))
  end
end

-- The writes become a step of the history, or a part of the last one: of an open group, or of the
-- turn.
function World:record()
  local new = self:state()
  for object in next, self.touched do
    if not new.map[object] and not self.states[self.at].map[object] then
      for _, state in ipairs(self.states) do if state.map[object] then self.problem = HIDDEN end end
    end
  end
  self.touched = {}
  if not state_difference(self.states[self.at], new) then return end
  for i = #self.states, self.at + 1, -1 do self.states[i] = nil end
  local last = self.states[self.at]
  if self.open_state == last then
    last.map = new.map
    new = last
    if not state_difference(self.states[self.at - 1], last) then
      self.states[self.at], self.at, new = nil, self.at - 1, nil
    end
  else
    self.at = self.at + 1
    self.states[self.at] = new
    if #self.states > self.limit + 1 then
      table.remove(self.states, 1)
      self.at = self.at - 1
    end
  end
  self.open_state = new
end

function World:settle()
  self:record()
  self.is_open, self.open_state = false, nil
end

-- Calls undo or redo; `target`: the state that it leads to, or nil.
function World:step_back(what, target, mark)
  self:note("%s%s", what, mark and " to " .. mark or "")
  local can = self.states[target] ~= nil and target ~= self.at
  -- Lists are restored edit by edit.
  self.is_in_steps = true
  if self.history[what](self.history, mark) ~= can then
    return self:fail("X5: %s is not %s", what, tostring(can))
  end
  if can then self.at = target end
  self:expect_state(what)
end

function World:use_history(step)
  if not self:is_quiet() then return end
  self:writing(self.root, function() self:make_history(step) end)
  self.is_moved = true
end

function World:make_history(step)
  local choice, number = step[3] % 12, step[4]
  local history, name = self.history, "m" .. number % 3
  if choice <= 6 then
    self:settle()
    if choice <= 3 then self:step_back("undo", self.at - 1)
    else self:step_back("redo", self.at + 1) end
  elseif choice == 7 then
    self:note("mark %s", name)
    self:record()
    history:mark(name)
    self.marks[name] = self.states[self.at]
    if not self.is_open then self.open_state = nil end
  elseif choice == 8 and self.marks[name] then
    self:settle()
    local target
    for i = 1, self.at do if self.states[i] == self.marks[name] then target = i end end
    self:step_back("undo", target, name)
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
    self.states, self.at, self.marks, self.open_state = { self:state() }, 1, {}, nil
    self:expect_state "clear"
  end
end

-- Undoes and redoes everything.
function World:end_history()
  self:settle()
  self.history:begin()
  self.history:commit()
  while self.at > 1 and not self.problem do self:step_back("undo", self.at - 1) end
  while self.at < #self.states and not self.problem do self:step_back("redo", self.at + 1) end
end

-- Statements -------------------------------------------------------------------------------------

-- A statement is {weight, run(self, step, first, last)}; the weights add up to 40. `run` returns
-- true if the steps first…last are its body.
local statements = {
  { 22, function(self, step)
    self:writing(self:target(step[2]), function()
      local ok, message = pcall(self.write, self, step)
      if not ok then self:fail("a write fails: %s", tostring(message)) end
    end)
  end },
  { 5, function(self, step, first, last)
    self:transaction(step, first, last)
    return true
  end },
  { 4, function(self, step)
    if self.mode ~= "history" then return self:flush() end
    if not self:is_quiet() then return end
    self:record()
    self:flush()
    self:expect_state "a turn"
    if not self.is_open and step[4] % 4 > 0 then
      self:note "end the step"
      self.history:begin()
      self.history:commit()
      self.open_state = nil
    end
  end },
  { 1, function(self, step)
    self:note "collect"
    collectgarbage(step[3] % 2 == 0 and "collect" or "step")
  end },
  { 1, function(self, _, first, last)
    self:note "batch"
    self.batches = self.batches + 1
    obs.batch(function() self:run(first, last) end)
    self.batches = self.batches - 1
    return true
  end },
  { 1, function(self, _, first, last)
    self:note "coroutine"
    local body = coroutine.create(function() self:run(first, last) end)
    local ok, message = coroutine.resume(body)
    if not ok then self:fail("a coroutine fails: %s", tostring(message)) end
    return true
  end },
  { 2, World.watch },
  { 1, function(self, step)
    local number = step[3] % (#self.watchers + 1)
    local watcher = self.watchers[number]
    if not watcher or not watcher.handle then return end
    self:note("stop %d", number)
    watcher.handle:stop()
    watcher.handle, watcher.calls, self.pending[watcher] = nil, 0, nil
  end },
  { 1, function(self, step)
    local watcher = self.watchers[step[3] % (#self.watchers + 1)]
    if not watcher or not watcher.handle or watcher.kind ~= "changes" then return end
    self:note(watcher.is_paused and "resume" or "pause")
    watcher.is_paused = not watcher.is_paused
    if watcher.is_paused then watcher.handle:pause() else watcher.handle:resume() end
  end },
  -- Lazy properties of the objects that have some.
  { 1, function(self, step)
    local object = self:target(step[3])
    local key = kind(object) == "child" and "shown"
      or kind(object) == "lazy" and (step[4] % 2 == 0 and "C" or "L")
    if not key then return end
    local what = step[4] // 2 % 4
    self:note("%s.%s: %d", self:name(object), key, what)
    self.is_moved, self.has_lazies = true, true
    if what == 0 then object[key] = "override"
    elseif what == 1 then obs.invalidate(object, key)
    else pcall(obs.get, object, key) end
  end },
  { 1, function(self, step)
    if self.mode == "history" then return self:use_history(step) end
    local object = self:target(step[3])
    if step[2] % 2 == 0 then
      -- The copy of a watcher is an older state of its object.
      local watcher = self.watchers[step[3] % (#self.watchers + 1)]
      if watcher and watcher.copy and not watcher.is_restricted then
        self.problem = self.problem or laws.check_diff(watcher.copy, watcher.object)
      end
      self.problem = self.problem or laws.check_merge(object, self:target(step[4]))
    elseif kind(object) == "plain" or kind(object) == "dictionary" then
      self:note("merge into %s", self:name(object))
      self:writing(object, function() self:merge(object, step[4] % 3) end)
    end
  end },
}

-- Merges the content of an object with another value for a key into it, without one of its keys.
function World:merge(object, value)
  local data = entries(object)
  data.a, data.b = value, nil
  pcall(obs.merge, object, data)
  -- Data is copied: these objects are new.
  for _, found in ipairs((select(2, contents.reach({ object }, true)))) do
    if not self.names[found] then self:adopt(found) end
  end
  self.is_moved = true
end

local by_number = {}
for _, statement in ipairs(statements) do
  for _ = 1, statement[1] do by_number[#by_number + 1] = statement[2] end
end

function World:run(first, last)
  local i = first
  while i <= last and not self.problem do
    local step = self.program[i]
    local inner = math.min(last, i + step[2] % 7)
    if by_number[step[1] % #by_number + 1](self, step, i + 1, inner) then i = inner end
    if self.mode == "history" and #self.frames == 0 and step[1] % 7 == 0 then
      self:use_history(step)
    end
    i = i + 1
  end
end

-- The keys that are still observed after all watchers have ended, as a problem. The dependencies of
-- lazy properties stay observed.
function World:still_observed()
  local is_linked = {}
  for _, object in ipairs(self.objects) do
    local name = kind(object)
    if name == "lazy" or name == "child" then is_linked[object] = true end
    local link = name == "lazy" and rawget(object, "link")
    if type(link) == "table" then is_linked[link] = true end
  end
  for _, object in ipairs(self.objects) do
    local keys = obs.observed_keys(object)
    if #keys > 0 and not is_linked[object] then
      return self:name(object) .. " is still observed: " .. table.concat(keys, " ")
    end
  end
end

-- Otherwise Swift objects that hold each other would stay alive.
function World:part_hosts()
  for _, object in ipairs(self.objects) do
    if kind(object) == "host" then
      object.mate, object.table = nil, nil
      object.kids:clear()
    end
  end
end

local trees = { program = Objects.program, laws = laws }

-- Runs a program; returns the problem and a log of the run.
function trees.check(mode, program)
  local world, reported = World.new(mode, program), nil
  obs.on_error(function(report)
    local text = tostring(type(report) == "table" and report.error or report)
    if not text:find("a watcher fails", 1, true) then reported = reported or text end
  end)
  local ok, message = pcall(function()
    if mode == "history" then world:begin_history() else world:watch_changes(world.root) end
    world:run(1, #program)
    if world.problem then return end
    if mode == "history" then world:end_history() else world:flush() end
  end)
  for _, watcher in ipairs(world.watchers) do
    if watcher.handle then watcher.handle:stop() end
  end
  if world.history then world.history:stop() end
  pcall(obs.flush)
  obs.on_error(nil)
  if world.problem == HIDDEN then world.problem = nil end
  local problem = not ok and tostring(message) or world.problem
    or reported and "reported: " .. reported
    or mode ~= "history" and world:still_observed() or nil
  world:part_hosts()
  return problem, world.log
end

return trees
