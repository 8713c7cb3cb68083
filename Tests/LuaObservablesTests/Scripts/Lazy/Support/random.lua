-- Random graphs of lazy properties, against a reference that computes everything again after each
-- statement: values read, watchers called, and no getter that runs for nothing.
--
-- A program is a list of statements, which are tables. Failing programs are shortened as far as
-- possible and printed; `random.run(kind, program)` runs a printed program again.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)"
local obs = require "obs"
local adapters = dofile(folder .. "adapters.lua")
local reference = dofile(folder .. "reference.lua")
local programs = dofile(folder .. "../../Support/programs.lua")

local random = {}
local COUNT = 7
-- `root` fails below zero, and `careful` catches the error.
local OPERATIONS = {
  "sum", "sum", "sum", "choose", "sign", "choose", "root", "root", "careful", "careful",
}

local Run = {}
Run.__index = Run

local function fail(text, ...) error({text:format(...)}, 0) end

function Run.new(kind, setup)
  local self = setmetatable({A = adapters[kind](), nodes = {}, watchers = {}, calls = {}}, Run)
  for i, entry in ipairs(setup) do self:make(i, entry[1], entry[2]) end
  self.before = reference.look()
  for _, node in ipairs(self.nodes) do self.before:result(node) end
  return self
end

function Run:make(i, operation, source)
  local node = reference.new(operation, source)
  node.number = i
  node.real = self.A.new(operation, source)
  node.way = self.A.way_of(node.real)
  node.runs, node.may_run = 0, true
  self.nodes[i] = node
end

-- Statements --------------------------------------------------------------------------------------
-- Each statement acts on the real graph and on the reference. Links go only to nodes with a smaller
-- number: the cases cover rings.

local Statements = {}

local function real(node) return node and node.real end
-- A node that node i may refer to, or nil.
function Run:lower(i, j) if i > 1 then return self.nodes[(j - 1) % (i - 1) + 1] end end

function Statements:write(i, value)
  local node = self.nodes[i]
  self.A.write(node.real, value)
  node.former, node.source = node.source, value
end
function Statements:restore(i)
  local former = self.nodes[i].former
  if former then Statements.write(self, i, former) end
end
function Statements:link(i, key, j)
  local node, other = self.nodes[i], j and self:lower(i, j) or nil
  self.A.link(node.real, key, real(other))
  node[key] = other
end
function Statements:list(i, numbers)
  local node, others, reals = self.nodes[i], {}, {}
  if i == 1 then numbers = {} end
  for k, j in ipairs(numbers or {}) do
    others[k] = self:lower(i, j)
    reals[k] = others[k].real
  end
  self.A.list(node.real, numbers and reals or nil)
  node.inputs = numbers and others or nil
end
function Statements:insert(i, at, j)
  local node, other = self.nodes[i], self:lower(i, j)
  if not other or not node.inputs then return end
  at = (at - 1) % (#node.inputs + 1) + 1
  self.A.insert(node.real, at, other.real)
  table.insert(node.inputs, at, other)
end
function Statements:remove(i, at)
  local node = self.nodes[i]
  if not node.inputs or #node.inputs == 0 then return end
  at = (at - 1) % #node.inputs + 1
  self.A.remove(node.real, at)
  table.remove(node.inputs, at)
end
function Statements:read(i)
  local node = self.nodes[i]
  self:check_read(node, self.before:result(node))
end
function Statements:override(i, value)
  local node = self.nodes[i]
  self.A.set(node.real, "value", value)
  node.read = node.override and node.read or self.before.traces[node]
  node.override = value
end
function Statements:invalidate(i)
  local node = self.nodes[i]
  self.A.invalidate(node.real, "value")
  node.override, node.may_run = nil, true
  self.invalidated = node
end
function Statements:valid(i)
  local node = self.nodes[i]
  local is_valid = self.A.is_valid(node.real, "value")
  if is_valid and self.before:result(node).failure then
    fail("node %d is valid with an error", i)
  end
  if is_valid then
    -- A valid value is right, and reading it computes nothing.
    self:check_read(node, self.before:result(node))
    self:check_runs({}, {})
  end
end
function Statements:drop(i, operation, source)
  local node = self.nodes[i]
  -- A dropped node could not be asked whether its override has ended.
  if node.override then return end
  self.A.release(node.real)
  node.real, node.number = nil, nil
  for _, w in ipairs(self.watchers) do if w.root == node then w.is_loose = true end end
  self:make(i, operation, source)
end
function Statements:collect()
  collectgarbage()
  collectgarbage()
end
function Statements:watch(i, path, is_immediate)
  local node = self.nodes[i]
  local w = {id = #self.watchers + 1, root = node, path = path, immediate = is_immediate, heard = 0,
    active = true}
  w.handle = self.A.observe(node.real, path, function()
    if not w.active then fail("watcher %d was called after its end", w.id) end
    if is_immediate then w.heard = w.heard + 1 else self.calls[#self.calls + 1] = w end
  end, {immediate = is_immediate})
  w.shot = self:shot(w)
  w.delivered = w.shot
  self.watchers[w.id] = w
end
for _, name in ipairs {"stop", "pause", "resume"} do
  Statements[name] = function(self, n)
    local w = #self.watchers > 0 and self.watchers[n % #self.watchers + 1]
    if not w or not w.active or w.immediate and name ~= "stop" then return end
    w.handle[name](w.handle)
    if name == "stop" then w.active = false else w.is_paused = name == "pause" end
  end
end
function Statements:flush()
  self.calls = {}
  obs.flush()
  self:check_calls()
end

-- Watchers ----------------------------------------------------------------------------------------

-- The stored elements of a watcher's path, and the computed values at its end.
function Run:shot(w, look)
  look = look or self.before
  local stored, values, is_broken = {}, {}, false
  local function value(node)
    local result = look:result(node)
    values[#values + 1] = tostring(result.text)
    is_broken = is_broken or result.failure ~= nil
    return result.value
  end
  local root, path = w.root, w.path
  if path == "value" then
    value(root)
  elseif path == "left.value" then
    stored[1] = tostring(root.left)
    if root.left then value(root.left) end
  elseif path == "inputs.*.value" then
    stored[1] = tostring(root.inputs)
    for i, other in ipairs(root.inputs or {}) do
      stored[i + 1] = tostring(other)
      value(other)
    end
  else
    stored[1] = tostring(root.inputs)
    local sum = 0
    for _, other in ipairs(root.inputs or {}) do sum = sum + (value(other) or 0) end
    -- An operator gives one value, or nil if there is no list.
    values = {root.inputs and tostring(sum) or "nil"}
  end
  return {stored = table.concat(stored, " "), values = table.concat(values, " "),
    is_broken = is_broken}
end

function Run:check_calls()
  local called, last = {}, 0
  for _, w in ipairs(self.calls) do
    if called[w] then fail("watcher %d was called twice", w.id) end
    if w.id < last then fail("watcher %d was called after %d", w.id, last) end
    called[w], last = true, w.id
  end
  for _, w in ipairs(self.watchers) do
    if w.active and not w.immediate and not w.is_loose then
      local expected = w.must or w.shot.values ~= w.delivered.values
      local is_sure = not w.shot.is_broken and not w.delivered.is_broken and not w.is_unsure
      if w.is_paused then
        if called[w] then fail("watcher %d of '%s' was called while paused", w.id, w.path) end
      else
        if is_sure and expected and not called[w] then
          fail("watcher %d of '%s' was not called", w.id, w.path)
        elseif is_sure and not expected and called[w] then
          fail("watcher %d of '%s' was called for nothing", w.id, w.path)
        end
        -- After an error, the last delivered value is not known.
        if w.shot.is_broken then w.is_unsure = true else w.is_unsure = false end
        w.delivered, w.must = w.shot, false
      end
      if not w.handle.active then fail("watcher %d of '%s' ended", w.id, w.path) end
    end
  end
end

function Run:check_read(node, result)
  local ok, value = pcall(self.A.read, node.real, "value")
  if result.failure then
    if ok then fail("node %d is %s, not an error", node.number, value) end
    if not tostring(value):find(result.failure, 1, true) then
      fail("node %d raises %q, not %q", node.number, tostring(value), result.failure)
    end
  elseif not ok then
    fail("node %d raises %q instead of being %s", node.number, tostring(value), result.value)
  elseif value ~= result.value then
    fail("node %d is %s, not %s", node.number, value, result.value)
  end
end

-- Number of getter runs ---------------------------------------------------------------------------

-- After a statement that may compute each node in `allowed` once.
function Run:check_runs(what, allowed)
  for i, node in ipairs(self.nodes) do
    local runs = self.A.runs(node.real, "value")
    local count = runs - node.runs
    node.runs = runs
    -- An error is not kept: each reader computes again.
    if count > 0 and not (node.is_broken or self.before:result(node).failure) then
      if count > 1 then
        fail("node %d was computed %d times by %s", i, count, what[1] or "a read")
      end
      if not node.may_run then fail("node %d was computed for nothing", i) end
      if not allowed[node] then fail("node %d was computed and nobody needs it", i) end
    end
    if count > 0 then node.may_run = false end
    node.is_broken = self.before:result(node).failure ~= nil
  end
end

-- Brings the reference up to date.
function Run:settle()
  local look = reference.look()
  for _, node in ipairs(self.nodes) do look:result(node) end
  for _, node in ipairs(self.nodes) do
    local old, new = self.before.traces[node], look.traces[node]
    if not old or not reference.same_trace(old, new) then node.may_run = true end
  end
  return look
end

-- An override ends when something changes that the node depends on, directly or not, whether the
-- values in between change. If one of these nodes has failed, its former dependencies count, too,
-- which the reference does not know: then the node is asked.
function Run:resolve(look)
  for _, node in ipairs(self.nodes) do
    local sources = node.override and node ~= self.assigned and self.sources[node]
    if sources then
      local is_over = sources.nodes[self.invalidated] or look:differs(sources.entries)
      if not is_over and sources.has_failure and self.touched then
        local ok, value = pcall(self.A.read, node.real, "value")
        is_over = not (ok and value == node.override)
        self.asked[node] = true
      end
      if is_over then
        node.override, node.may_run = nil, true
        return true
      end
    end
  end
end

function Run:perform(statement)
  local name = statement[1]
  local is_change = Statements[name] and not ({read = 1, valid = 1, flush = 1, watch = 1, pause = 1,
    resume = 1, stop = 1, collect = 1})[name]
  self.touched, self.asked, self.invalidated, self.sources = is_change, {}, nil, {}
  for _, node in ipairs(self.nodes) do
    if node.override then self.sources[node] = self.before:sources(node) end
  end
  self.assigned = name == "override" and self.nodes[statement[2]] or nil
  Statements[name](self, table.unpack(statement, 2))
  local look = self:settle()
  while self:resolve(look) do look = self:settle() end
  self.before = look

  -- Decides which watchers must be called. The values on the paths of a pending watcher may be
  -- computed to see whether they have changed.
  local allowed, watched = self.watched or {}, {}
  self.watched = name ~= "flush" and allowed or nil
  for _, w in ipairs(self.watchers) do
    if w.active then
      local shot = self:shot(w, look)
      if w.immediate then
        local stored, derived = shot.stored ~= w.shot.stored, shot.values ~= w.shot.values
        local expected = (stored or derived) and 1 or 0
        local is_sure = not shot.is_broken and not w.shot.is_broken and not w.is_loose
          and name ~= "override"
        if is_sure and (w.heard ~= expected and not (stored and w.heard > 0)) then
          fail("immediate watcher %d of '%s' was called %d times, not %d",
            w.id, w.path, w.heard, expected)
        end
        w.heard = 0
      elseif shot.stored ~= w.shot.stored then
        w.must = true
      end
      w.shot = shot
      reference.reachable(w.root, watched)
    end
  end
  for node in pairs(watched) do allowed[node] = true end
  local needed = {}
  if name == "read" or name == "valid" or name == "override" then
    reference.reachable(self.nodes[statement[2]], needed)
  end
  -- An assignment computes what the node depends on, and the node itself if it is tracked.
  if self.assigned and self.assigned.way == "declared" then needed[self.assigned] = nil end
  for node in pairs(self.asked) do reference.reachable(node, needed) end
  self:check_runs(statement, setmetatable(needed, {__index = allowed}))
end

-- nil, or the failure.
function random.difference(kind, program)
  local run
  obs.on_error(function() end)
  local ok, message = xpcall(function()
    run = Run.new(kind, program.setup)
    for _, statement in ipairs(program) do run:perform(statement) end
    run:perform {"flush"}
    for i = 1, #run.nodes do run:perform {"read", i} end
  end, function(message)
    return type(message) == "table" and message[1] or debug.traceback(message)
  end)
  obs.on_error(nil)
  if run then
    for _, w in ipairs(run.watchers) do w.handle:stop() end
    for _, node in ipairs(run.nodes) do
      if node.real then run.A.release(node.real) end
    end
  end
  obs.flush()
  if not ok then return message end
end

-- Programs ---------------------------------------------------------------------------------------

local function pick(list) return list[math.random(#list)] end

local PATHS = {"value", "value", "value", "left.value", "inputs.*.value", "inputs.@sum.value"}

function random.program()
  local program = {setup = {}}
  for i = 1, COUNT do
    program.setup[i] = {i <= 2 and "source" or pick(OPERATIONS), math.random(-1, 3)}
  end
  local function node() return math.random(COUNT) end
  local function list()
    local numbers = {}
    for k = 1, math.random(0, 3) do numbers[k] = node() end
    return numbers
  end
  local function link()
    return {"link", node(), pick {"left", "left", "right"}, math.random(5) > 1 and node()}
  end
  -- First some links.
  for i = 2, COUNT do
    program[#program + 1] = {"link", i, "left", node()}
    if math.random(2) == 1 then program[#program + 1] = {"link", i, "right", node()} end
    if math.random(3) == 1 then program[#program + 1] = {"list", i, list()} end
  end
  -- An error that is caught right above it.
  if math.random(2) == 1 then
    program.setup[3][1], program.setup[4][1] = "root", "careful"
    program[#program + 1] = {"link", 3, "left", math.random(2)}
    program[#program + 1] = {"link", 4, "left", 3}
  end
  local overrides = 0
  for _ = 1, math.random(10, 50) do
    local r = math.random(42)
    local statement
    if r >= 41 then
      -- A value, or a failure, that comes and goes.
      local i = math.random(3)
      program[#program + 1] = {"read", node()}
      program[#program + 1] = {"write", i, math.random(-1, 0)}
      program[#program + 1] = {pick {"read", "valid"}, node()}
      statement = {"restore", i}
    elseif r <= 10 then statement = {"write", node(), math.random(-1, 3)}
    elseif r <= 17 then statement = {"read", node()}
    elseif r <= 21 then statement = link()
    elseif r == 22 then statement = {"list", node(), math.random(4) > 1 and list()}
    elseif r <= 24 then statement = {"insert", node(), node(), node()}
    elseif r == 25 then statement = {"remove", node(), node()}
    elseif r <= 28 then
      overrides = overrides + 1
      statement = {"override", node(), 1000 * overrides}
    elseif r == 40 then statement = {"invalidate", node()}
    elseif r == 29 then statement = {"valid", node()}
    elseif r <= 32 then
      statement = {"watch", node(), pick(PATHS), math.random(5) == 1}
    elseif r == 33 then statement = {pick {"stop", "pause", "resume", "resume"}, node()}
    elseif r == 34 and math.random(2) == 1 then
      local i = node()
      statement = {"drop", i, i <= 2 and "source" or pick(OPERATIONS), math.random(-1, 3)}
    elseif r == 35 and math.random(4) == 1 then statement = {"collect"}
    else statement = {"flush"} end
    program[#program + 1] = statement
  end
  return program
end

local function text(value)
  if type(value) == "string" then return ("%q"):format(value) end
  if type(value) ~= "table" then return tostring(value) end
  local texts = {}
  for i, element in ipairs(value) do texts[i] = text(element) end
  return "{" .. table.concat(texts, ", ") .. "}"
end

-- Runs one printed program.
function random.run(kind, program) programs.run(random, kind, program) end

-- Runs `OBS_COUNT` or `count` programs, beginning with seed `OBS_SEED`.
function random.try(kind, count)
  local first, last = programs.seeds(count)
  for seed = first, last do
    math.randomseed(seed)
    local program = random.program()
    local message = random.difference(kind, program)
    if message then
      local setup = program.setup
      local function copy(whole) return {setup = whole.setup} end
      program, message = programs.shrink(random, kind, program, message, copy)
      local lines = {}
      for i, statement in ipairs(program) do lines[i] = "  " .. text(statement) .. "," end
      error(("seed %d: %s\n\nlocal random = dofile '%srandom.lua'\nrandom.run('%s', {\n"
        .. "  setup = %s,\n%s\n})")
        :format(seed, message, folder, kind, text(setup), table.concat(lines, "\n")), 0)
    end
  end
end

return random
