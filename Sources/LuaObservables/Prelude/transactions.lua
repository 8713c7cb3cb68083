-- Turns that can be undone: a slice of the module `obs`.
--
-- A transaction has the contents of all objects below its roots as they were when it was opened,
-- and of those that came there meanwhile. Where it fails, what differs is written back. The engine
-- remembers which watchers are pending only for writes to these objects.
local core, obs = ...

local error, ipairs, next, pack, pcall, setmetatable, type, unpack =
  error, ipairs, next, table.pack, pcall, setmetatable, type, table.unpack
local string_format = string.format
local trees = core.trees
local contents, is_object = trees.contents, trees.is_object

local Transaction = {}
Transaction.__index = Transaction

-- The transactions that are open, the outermost first.
local open = {}

--- Whether a function is called inside a transaction.
function trees.is_in_transaction() return #open > 0 end

-- What may still take back what is seen now.
local noting = setmetatable({}, { __mode = "k" })

--- Something was made that remembers what it has seen. Where that is taken back, its method `renew`
--- is called with the objects to which that happened.
function core.witness(witness)
  for transaction in next, noting do
    transaction.witnesses[#transaction.witnesses + 1] = witness
  end
end

-- What was taken back is no news for what was made meanwhile.
local function renew_witnesses(transaction)
  for _, witness in ipairs(transaction.witnesses) do
    pcall(witness.renew, witness, transaction.state)
  end
end

-- Calls `visit` with each object in contents. Members of sets are covered, too.
local function each_object(made, visit)
  if made.kind ~= "set" then return trees.each_object(made, visit) end
  for member in next, made.map do
    if is_object(member) then visit(nil, member) end
  end
end

-- A transaction is notified of writes that bring objects: these are covered from then on.
local arrivals = { "*", kind = "arrivals" }

-- The keys of an object that are lazy or computed; nil where there are none.
local function lazy_keys(object)
  local keys
  if type(object) == "table" then
    keys = core.derived_keys(object)
  elseif not trees.kind_of(object) then
    keys = {}
    for _, name in ipairs(core.lazy_names(object)) do keys[name] = true end
  end
  return keys and next(keys) ~= nil and keys or nil
end

-- The lazy keys of an object that are valid, with their values, and whether these were assigned.
local function lazy_values(object)
  local keys = lazy_keys(object)
  if not keys then return nil end
  local values = {}
  for key in next, keys do
    if core.own.is_valid(object, key) then
      values[key] = { core.own.peek(object, key), is_assigned = core.is_overridden(object, key) }
    end
  end
  return values
end

local function assign(object, key, value) object[key] = value end

-- Makes lazy keys what they were: a value that was assigned is assigned again, any other one is
-- computed again where it is not there any more.
local function restore_lazies(object, values)
  for key in next, lazy_keys(object) or {} do
    local before = values[key]
    local is_same = before and core.own.is_valid(object, key)
      and trees.same(before[1], core.own.peek(object, key))
      and before.is_assigned == core.is_overridden(object, key)
    if not is_same then
      -- A property without a value of its own would announce a change.
      if core.own.is_valid(object, key) then pcall(core.own.invalidate, object, key) end
      if before and before.is_assigned then pcall(assign, object, key, before[1]) end
    end
  end
end

-- Whether two values that are the same (T5) cannot be told apart: 1 and 1.0 can.
local function are_alike(a, b)
  return type(a) ~= "number" or type(b) ~= "number" or core.identical(a, b)
end

-- Adds the writes that make values of contents not only the same, but what they were.
local function add_exact_writes(writes, object, present, wanted)
  if wanted.kind == "set" then return end
  for key, value in next, wanted.map do
    if not are_alike(value, present.map[key]) then
      writes[#writes + 1] = { number = 0, kind = "set", object = object, key = key, value = value }
    end
  end
end

-- How many objects were covered so far, to tell which transaction covers one for longer.
local additions = 0

function Transaction:add(object)
  additions = additions + 1
  self.added[object] = additions
  local made = contents(object)
  if made.is_host and not made.kind then
    for name, value in next, made.map do
      -- A collection that a class always has needs none.
      if not is_object(value) and not core.is_settable(object, name) then
        core.raise(string_format(
          "a transaction could not take back what is written to '%s' of %s: it has no setter",
          name, made.model))
      end
    end
  end
  self.state[object] = made
  self.lazies[object] = lazy_values(object)
  self.order[#self.order + 1] = object
  core.cover(object, self.number, true)
  self.wires[object] = core.register(object, arrivals, self.mark, { name = "transaction" })
  if self.others then self.others:watch(object) end
  return made
end

-- Covers an object and all below it that are not covered yet.
function Transaction:cover(root)
  if self.state[root] then return end
  local work, first = { root }, 1
  self:add(root)
  while first <= #work do
    each_object(self.state[work[first]], function(_, object)
      if not self.state[object] then
        self:add(object)
        work[#work + 1] = object
      end
    end)
    first = first + 1
  end
end

-- Covers what came to an object. An operation is reported once, for the first key that changed;
-- `also` has what else it put in.
function Transaction:cover_new(object, change)
  local key = change.key
  -- What is under a key that is an object is not below it; a set names its members as keys.
  local is_member = key == nil or trees.kind_of(object) == "set"
  if not is_member and not trees.holds_objects({}, key) then return end
  if is_object(change.new) then self:cover(change.new) end
  for _, value in ipairs(change.also or {}) do
    if is_object(value) then self:cover(value) end
  end
end

-- Covers what came to an object. Where that fails, for want of memory, so does the transaction:
-- what comes later is not covered, either, and the rest of the function need not try.
function Transaction:notice(object, change)
  if self.failure ~= nil then return end
  local ok, message = pcall(trees.through_opaque, self.cover_new, self, object, change)
  if not ok then self.failure = message end
end

-- Ends the watching of the objects.
function Transaction:leave()
  for _, object in ipairs(self.order) do
    core.cover(object, self.number, false)
    if self.wires[object] then self.wires[object]:stop() end
  end
  if self.others then self.others:stop() end
end

-- Those that came to cover an object meanwhile have seen what is taken back now: they know what was
-- there before.
function Transaction:correct_others()
  for other in next, noting do
    for object, state in next, self.state do
      local added = other.added[object]
      if other ~= self and added and added > self.added[object] then
        other.state[object], other.lazies[object] = state, self.lazies[object]
      end
    end
  end
end

-- Writes back what differs; of `objects`, if only these can. Immediate watchers are called when the
-- batch ends that this is called in.
function Transaction:undo(objects)
  local writes, changed = {}, {}
  for _, object in ipairs(objects or self.order) do
    local present = contents(object)
    -- What others have written stays.
    if self.others then self.state[object] = self.others:wanted(object, present) end
    local wanted = self.state[object]
    if not trees.are_same(present, wanted) or present.n ~= wanted.n then
      trees.add_writes(writes, object, present, wanted)
      changed[#changed + 1] = object
    else
      add_exact_writes(writes, object, present, wanted)
    end
  end
  local failures = trees.restore(writes)
  local exact = {}
  for _, object in ipairs(changed) do
    add_exact_writes(exact, object, contents(object), self.state[object])
  end
  trees.restore(exact)
  self:correct_others()
  for object, values in next, self.lazies do restore_lazies(object, values) end
  renew_witnesses(self)
  if self.others then self.others:report("transaction", core.site()) end
  if failures > 0 then
    core.report(string_format("%d writes of a transaction could not be taken back", failures), "",
      "watcher", "transaction", core.site())
  end
end

local function begin(transaction, roots)
  trees.through_opaque(function()
    for i = 1, #roots do transaction:cover(roots[i]) end
  end)
end

-- Begins a transaction that `obs.abort` ends.
local function enter(transaction, roots)
  begin(transaction, roots)
  open[#open + 1], noting[transaction] = transaction, true
end

-- Runs the function of a transaction, and keeps its results.
local function run(transaction, f) transaction.results = pack(core.call_plainly(f)) end

-- Ends the transaction, which no limit stops. Nothing is allocated before `begin_exempt`, and that
-- is called directly: a call of a call may need memory. Returns whether the end worked, and the
-- error where it did not.
local function finish(transaction, is_undone)
  if open[#open] == transaction then open[#open] = nil end
  noting[transaction] = nil
  local ok, message = true, nil
  if is_undone then ok, message = pcall(transaction.undo, transaction) end
  core.close_transaction(transaction.number, is_undone)
  local has_left, failure = pcall(transaction.leave, transaction)
  core.end_transaction(transaction.number)
  if not ok then return false, message end
  return has_left, failure
end

-- Whether so many calls fit into each other here, as taking a transaction back needs them.
local function can_nest(count)
  if count == 0 then return true end
  local ok, fits = pcall(can_nest, count - 1)
  return ok and fits
end

function obs.transaction(roots, f)
  if type(roots) ~= "table" then
    core.bad_argument(1, "transaction", "list of objects expected, got "
      .. (roots == nil and "no value" or type(roots)))
  end
  if #roots == 0 then
    core.bad_argument(1, "transaction", "the list of objects is empty; for one "
      .. "object it is { object }")
  end
  for i = 1, #roots do
    if not is_object(roots[i]) and not core.is_object(roots[i]) then
      core.bad_argument(1, "transaction", string_format(
        "list of tables and objects of the host program expected, got one with a %s",
        type(roots[i])))
    end
  end
  core.check_function(f, 2, "transaction")
  if not can_nest(20) then
    core.raise "a transaction was opened in calls that are nested too deep"
  end
  local transaction = setmetatable({
    state = {}, lazies = {}, order = {}, wires = {}, witnesses = {}, added = {}, number = 0,
    sandbox = core.sandbox(),
  }, Transaction)
  if transaction.sandbox ~= 0 then transaction.others = trees.others(transaction.state) end
  function transaction.mark(object, _, change) transaction:notice(object, change) end
  -- What is opened from here on is closed below, also where there is no memory: no call in between
  -- can fail.
  transaction.number = core.open_transaction()
  local ok, message = pcall(enter, transaction, roots)
  if not ok then
    core.begin_exempt()
    finish(transaction, false)
    core.end_exempt()
    core.written(false, message)
  end
  ok, message = pcall(run, transaction, f)
  if ok and transaction.failure ~= nil then ok, message = false, transaction.failure end
  core.begin_exempt()
  local is_undone = not ok or transaction.is_aborted
  -- Immediate watchers are called for the way back when the transaction is over: what they write
  -- then is no part of it.
  if is_undone then core.begin_batch() end
  local done, failure = finish(transaction, is_undone)
  core.end_exempt()
  if is_undone then core.end_batch() end
  if not done then error(failure, 0) end
  if transaction.is_aborted then return false, transaction.reason end
  if not ok then return false, message end
  return true, unpack(transaction.results, 1, transaction.results.n)
end

-- Turns ------------------------------------------------------------------------------------------

-- A transaction for one turn after the other: what stays is known from turn to turn. Where an
-- object was written is noticed, so that the rest need not be looked at.
local Turns = setmetatable({}, { __index = Transaction })
Turns.__index = Turns

local first_write = { "*", kind = "first write" }

function Turns:add(object)
  local made = Transaction.add(self, object)
  self.notices[object] = core.register(object, first_write, self.note, { name = "turn" })
  return made
end

-- Whether some object is no more among the contents of another one.
local function loses(old, new)
  local kept, is_less = {}, false
  each_object(new, function(_, object) kept[object] = true end)
  each_object(old, function(_, object) is_less = is_less or not kept[object] end)
  return is_less
end

-- Lets go of the objects to which no way leads.
function Turns:prune()
  local reached, work, first = {}, {}, 1
  for _, root in ipairs(self.roots) do
    if not reached[root] then
      reached[root] = true
      work[#work + 1] = root
    end
  end
  while first <= #work do
    each_object(self.state[work[first]], function(_, object)
      if self.state[object] and not reached[object] then
        reached[object] = true
        work[#work + 1] = object
      end
    end)
    first = first + 1
  end
  for _, object in ipairs(self.order) do
    if not reached[object] then self:let_go(object) end
  end
  self.order = work
end

function Turns:let_go(object)
  core.cover(object, self.number, false)
  if self.wires[object] then self.wires[object]:stop() end
  if self.notices[object] then self.notices[object]:stop() end
  self.state[object], self.lazies[object], self.added[object] = nil, nil, nil
  self.wires[object], self.notices[object] = nil, nil
end

function Turns:take_written()
  local written = self.written
  self.written, self.is_written = {}, {}
  core.rearm()
  return written
end

-- As for a transaction; the error is reported, which takes the turn back.
function Turns:notice(object, change)
  if self.failure ~= nil then return end
  Transaction.notice(self, object, change)
  if self.failure ~= nil then error(self.failure, 0) end
end

-- The turn that begins now is taken back to what there is.
function Turns:renew()
  self.witnesses, self.failure = {}, nil
  if #self.written == 0 and not self.has_undone then return end
  local has_lost = self.has_undone
  self.has_undone = false
  for _, object in ipairs(self:take_written()) do
    local old = self.state[object]
    if old then
      local new = contents(object)
      self.state[object], self.lazies[object] = new, lazy_values(object)
      has_lost = has_lost or loses(old, new)
    end
  end
  if has_lost then self:prune() end
end

function Turns:take_back()
  self.has_undone = true
  self:undo(self:take_written())
end

function Turns:end_all()
  noting[self] = nil
  for _, object in ipairs(self.order) do self:let_go(object) end
  self.order = {}
end

-- Covers turns; returns the functions that renew, that take back what was written and that end it.
function core.cover_turns(number, roots)
  local turns = setmetatable({
    state = {}, lazies = {}, order = {}, wires = {}, notices = {}, written = {}, is_written = {},
    witnesses = {}, added = {}, roots = roots, number = number,
  }, Turns)
  noting[turns] = true
  function turns.note(object)
    if turns.is_written[object] then return end
    turns.is_written[object] = true
    turns.written[#turns.written + 1] = object
  end
  function turns.mark(object, _, change) turns:notice(object, change) end
  local ok, message = pcall(begin, turns, roots)
  if not ok then
    turns:end_all()
    core.written(false, message)
  end
  local function function_of(method)
    return function() trees.through_opaque(method, turns) end
  end
  return function_of(turns.renew), function_of(turns.take_back), function_of(turns.end_all)
end

function obs.abort(reason)
  local transaction = open[#open]
  -- A callback of another sandbox may run inside of the transaction.
  if not transaction or transaction.sandbox ~= core.sandbox() then
    core.raise "obs.abort was called outside of a transaction"
  end
  transaction.is_aborted, transaction.reason = true, reason
  if reason == nil then transaction.reason = "the transaction was aborted" end
  error(transaction.reason, 0)
end

return obs
