-- Signals in plain Lua, the peer of the graph shapes: writes push marks, reads pull values, as in
-- the fastest published libraries.
--
-- A dependency is one link record in two lists: the dependents of its source and the sources of its
-- dependent. While a getter runs, a cursor walks the list of the previous run, so that a stable
-- graph allocates nothing. A stamp shows in one comparison whether a source was already read in
-- this run. Marking and checking use loops instead of recursion. Getters and effects must not
-- raise.
local signals = {}

-- The states of a node's value. Sources are always clean. A stale node has to check its sources
-- first; a dirty node has to run.
local CLEAN <const>, STALE <const>, DIRTY <const> = 0, 1, 2

-- Nodes and links are arrays, as a constant index is a quarter faster than a name. A node is the
-- head of both its lists, and therefore has these three fields at the same indexes as a link.
local NEXT_SOURCE <const>, NEXT_DEPENDENT <const>, DEPENDENT <const> = 1, 2, 3
-- The other fields of a link.
local SOURCE <const>, PREVIOUS_DEPENDENT <const> = 4, 5
-- The other fields of a node. STAMP is the stamp of the last run that read the node. ENTRY is the
-- link by which a check reached it.
local VALUE <const>, STATE <const>, STAMP <const>, LAST_DEPENDENT <const> = 4, 5, 6, 7
local GETTER <const>, EFFECT <const>, ENTRY <const> = 8, 9, 10

-- The last link of the running node that is reused in this run, or the node itself if no link is
-- reused yet, or nil if no node runs; and the stamp of this run.
local cursor, run
local runs = 0

local forks = {}
local queue, queued, next_queued = {}, 0, 1
local depth, is_flushing = 0, false

local function node(value, state, getter, effect)
  local self = { nil, nil, nil, value, state, 0, nil, getter, effect, nil }
  self[DEPENDENT] = self
  return self
end

--- Links `source` to the running node, after the cursor.
local function connect(source)
  local last = source[LAST_DEPENDENT] or source
  local link = { cursor[NEXT_SOURCE], nil, cursor[DEPENDENT], source, last }
  cursor[NEXT_SOURCE] = link
  last[NEXT_DEPENDENT] = link
  source[LAST_DEPENDENT] = link
  cursor = link
end

--- Removes `link` and all links after it from the lists of their sources. A getter without
--- dependents also releases its own sources, and starts again when it is read.
local function disconnect(link)
  local orphans, count = nil, 0
  repeat
    local source, previous, following =
      link[SOURCE], link[PREVIOUS_DEPENDENT], link[NEXT_DEPENDENT]
    previous[NEXT_DEPENDENT] = following
    if following then
      following[PREVIOUS_DEPENDENT] = previous
    elseif previous ~= source then
      source[LAST_DEPENDENT] = previous
    else
      source[LAST_DEPENDENT] = nil
      if source[NEXT_SOURCE] then
        orphans = orphans or {}
        count = count + 1
        orphans[count] = source
      end
    end
    link = link[NEXT_SOURCE]
    if not link and count > 0 then
      local orphan = orphans[count]
      count = count - 1
      link = orphan[NEXT_SOURCE]
      orphan[NEXT_SOURCE] = nil
      orphan[STATE] = DIRTY
    end
  until not link
end

--- Runs a getter. If its value has changed, marks the waiting dependents as dirty.
local function update(self)
  local outer_cursor, outer_run = cursor, run
  runs = runs + 1
  cursor, run = self, runs
  self[STATE] = CLEAN
  local value = self[GETTER]()
  local unused = cursor[NEXT_SOURCE]
  if unused then
    cursor[NEXT_SOURCE] = nil
    disconnect(unused)
  end
  cursor, run = outer_cursor, outer_run
  if value == self[VALUE] then return end
  self[VALUE] = value
  local link = self[NEXT_DEPENDENT]
  while link do
    local dependent = link[DEPENDENT]
    if dependent[STATE] == STALE then dependent[STATE] = DIRTY end
    link = link[NEXT_DEPENDENT]
  end
end

--- Finds out whether a stale node has to run: updates its sources in order until one has changed.
--- Afterwards the node is dirty or clean.
local function check(self)
  local link = self[NEXT_SOURCE]
  while true do
    local source = link[SOURCE]
    local state = source[STATE]
    if state == STALE then
      source[ENTRY] = link
      link = source[NEXT_SOURCE]
    else
      if state == DIRTY then update(source) end
      -- Back up to the nearest node with another source to check.
      while true do
        local dependent = link[DEPENDENT]
        if dependent[STATE] == DIRTY then
          if dependent == self then return end
          update(dependent)
        else
          link = link[NEXT_SOURCE]
          if link then break end
          dependent[STATE] = CLEAN
          if dependent == self then return end
        end
        link = dependent[ENTRY]
        dependent[ENTRY] = nil
      end
    end
  end
end

--- Returns the value of a source or a getter, and notes the dependency if a getter or effect is
--- running.
local function get(self)
  local state = self[STATE]
  if state ~= CLEAN then
    if state == STALE then check(self) end
    if self[STATE] == DIRTY then update(self) end
  end
  if cursor then
    local following = cursor[NEXT_SOURCE]
    if following and following[SOURCE] == self then
      cursor = following
      self[STAMP] = run
    elseif self[STAMP] ~= run then
      self[STAMP] = run
      connect(self)
    end
  end
  return self[VALUE]
end

--- Marks everything that depends on getters that may change, and queues the effects among it.
local function mark(link)
  local fork = 0
  while true do
    local dependent, following = link[DEPENDENT], link[NEXT_DEPENDENT]
    if dependent[STATE] == CLEAN then
      dependent[STATE] = STALE
      local below = dependent[NEXT_DEPENDENT]
      if below then
        if following then
          fork = fork + 1
          forks[fork] = following
        end
        following = below
      elseif dependent[EFFECT] then
        queued = queued + 1
        queue[queued] = dependent
      end
    end
    if following then
      link = following
    elseif fork > 0 then
      link = forks[fork]
      forks[fork] = nil
      fork = fork - 1
    else
      return
    end
  end
end

--- Runs the queued effects. Effects that their writes queue run in the same loop.
local function flush()
  is_flushing = true
  while next_queued <= queued do
    local effect = queue[next_queued]
    queue[next_queued] = nil
    next_queued = next_queued + 1
    if effect[STATE] == STALE then check(effect) end
    if effect[STATE] == DIRTY then
      runs = runs + 1
      cursor, run = effect, runs
      effect[STATE] = CLEAN
      effect[EFFECT]()
      local unused = cursor[NEXT_SOURCE]
      if unused then
        cursor[NEXT_SOURCE] = nil
        disconnect(unused)
      end
      cursor, run = nil, nil
    end
  end
  queued, next_queued = 0, 1
  is_flushing = false
end

function signals.source(value) return node(value, CLEAN) end

function signals.computed(getter) return node(nil, DIRTY, getter) end

signals.get = get

function signals.set(self, value)
  if value == self[VALUE] then return end
  self[VALUE] = value
  local link = self[NEXT_DEPENDENT]
  if not link then return end
  repeat
    local dependent = link[DEPENDENT]
    local state = dependent[STATE]
    dependent[STATE] = DIRTY
    if state == CLEAN then
      local below = dependent[NEXT_DEPENDENT]
      if below then
        mark(below)
      elseif dependent[EFFECT] then
        queued = queued + 1
        queue[queued] = dependent
      end
    end
    link = link[NEXT_DEPENDENT]
  until not link
  if depth == 0 and not is_flushing then flush() end
end

--- Calls `effect` now (in a batch, at its end), and again after each change of a value it has read.
function signals.effect(effect)
  queued = queued + 1
  queue[queued] = node(nil, DIRTY, nil, effect)
  if depth == 0 and not is_flushing then flush() end
end

--- Runs `body`; effects run when the outermost batch ends.
function signals.batch(body)
  depth = depth + 1
  body()
  depth = depth - 1
  if depth == 0 and not is_flushing then flush() end
end

return signals
