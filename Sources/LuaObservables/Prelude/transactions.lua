-- Turns that can be undone: a slice of the module `obs`.
--
-- The engine knows which objects a transaction covers, and which watchers are pending only for
-- writes to these. It keeps a table's contents from before its first write. Objects of the host
-- program are read here when they are covered. If the transaction fails, differing values are
-- written back.
local core, obs = ...

local error, ipairs, next, pack, pcall, setmetatable, type, unpack =
  error, ipairs, next, table.pack, pcall, setmetatable, type, table.unpack
local string_format, string_sub = string.format, string.sub
local stored_next, trees = core.next, core.trees
local contents, is_object = trees.contents, trees.is_object

local Transaction = {}
Transaction.__index = Transaction

-- The open transactions, outermost first.
local open = {}

--- Whether code runs inside a transaction.
function trees.is_in_transaction() return #open > 0 end

-- Transactions that can still take back values read now.
local noting = setmetatable({}, { __mode = "k" })

--- Notes an object that remembers values it read. If a transaction that is open now takes back its
--- writes, the method `renew` is called with a table that is true for the objects it covers.
function core.witness(witness)
  local turn = core.turn_number()
  for transaction in next, noting do
    -- A transaction of turns takes back a single turn, so it drops witnesses of earlier turns.
    if transaction.turn ~= turn then transaction.turn, transaction.witnesses = turn, {} end
    transaction.witnesses[#transaction.witnesses + 1] = witness
  end
end

-- True for objects covered by the transaction that is being taken back.
local is_covered = setmetatable({}, {
  __index = function(_, object) return core.is_being_restored(object) end,
})

-- Updates witnesses, for which the restored values are not changes.
local function renew_witnesses(transaction)
  if transaction.turn ~= core.turn_number() then return end
  local witnesses = transaction.witnesses
  -- In reverse order, as a later witness builds on the state of an earlier one.
  for i = #witnesses, 1, -1 do pcall(witnesses[i].renew, witnesses[i], is_covered) end
end

-- Whether two values that are the same (T5) are also indistinguishable: 1 and 1.0 are not.
local function are_alike(a, b)
  return type(a) ~= "number" or type(b) ~= "number" or core.identical(a, b)
end

-- Adds writes for values that are the same as before, but not identical.
local function add_exact_writes(writes, object, present, wanted)
  if wanted.kind == "set" then return end
  for key, value in next, wanted.map do
    if not are_alike(value, present.map[key]) then
      writes[#writes + 1] = { number = 0, kind = "set", object = object, key = key, value = value }
    end
  end
end

-- The number of contents kept so far, which shows which transaction first kept an object's
-- contents.
local additions = 0

local function add(transaction, object, made)
  additions = additions + 1
  transaction.added[object] = additions
  transaction.state[object] = made
  if transaction.others then transaction.others:watch(object) end
end

-- Reads an object of the host program before it is covered.
local function cover(transaction, object)
  local made = contents(object)
  if not made.kind then
    for name, value in next, made.map do
      -- An object, such as a collection in a constant property, is rolled back itself.
      if not is_object(value) and not core.is_settable(object, name) then
        core.raise(string_format(
          "a transaction could not roll back writes to '%s' of %s: it has no setter",
          name, made.model))
      end
    end
  end
  add(transaction, object, made)
end

-- Keeps a table's contents from before the first write by the transaction's sandbox.
local function keep(transaction, object, former)
  add(transaction, object, trees.former(object, former))
end

-- Corrects transactions that read an object after this one had written to it: they must restore the
-- contents from before these writes.
function Transaction:correct_others()
  for other in next, noting do
    for object, state in next, self.state do
      local added = other.added[object]
      if other ~= self and added and added > (self.added[object] or added) then
        other.state[object] = state
      end
    end
  end
end

-- Writes back differing values. Called in a batch: immediate watchers are called at its end.
function Transaction:undo(objects)
  local writes, changed = {}, {}
  for _, object in ipairs(objects) do
    local present = contents(object)
    -- Writes of other sandboxes stay.
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
  renew_witnesses(self)
  if self.others then self.others:report("transaction", core.site()) end
  if failures > 0 then
    core.report(string_format("%d writes of a transaction could not be rolled back", failures), "",
      "watcher", "transaction", core.site())
  end
end

-- Gives objects their former contents. `written` has each object, followed by the former contents
-- of a table, or by false. Names of metamethods are not observed, and stay.
local function restore(transaction, written)
  local objects = {}
  for i = 1, #written, 2 do
    local object, former = written[i], written[i + 1]
    objects[#objects + 1] = object
    if former and not transaction.others then
      transaction.state[object] = trees.former(object, former)
    end
    local kind = trees.kind_of(object)
    if former and kind ~= "array" and kind ~= "set" then
      for key, value in stored_next, object do
        if type(key) == "string" and string_sub(key, 1, 2) == "__" then
          transaction.state[object].map[key] = value
        end
      end
    end
  end
  transaction:undo(objects)
end

-- Reads objects of the host program again, after a turn whose writes stay.
local function renew(transaction, objects)
  for _, object in ipairs(objects) do transaction.state[object] = contents(object) end
end

-- Begins a transaction that `obs.abort` ends.
local function enter(transaction)
  open[#open + 1], noting[transaction] = transaction, true
end

-- Runs the function of a transaction, and keeps its results.
local function run(transaction, f) transaction.results = pack(core.call_plainly(f)) end

-- Ends the transaction, without limits. Callers allocate nothing before `begin_exempt`, and call it
-- directly, as an indirect call may need memory. Returns whether this worked, or false and the
-- error.
local function finish(transaction, is_undone)
  if open[#open] == transaction then open[#open] = nil end
  noting[transaction] = nil
  local ok, message = pcall(core.end_transaction, transaction.number, is_undone)
  if transaction.others then pcall(transaction.others.stop, transaction.others) end
  return ok, message
end

-- Whether `count` nested calls are possible here, as taking back a transaction nests calls.
local function can_nest(count)
  if count == 0 then return true end
  local ok, fits = pcall(can_nest, count - 1)
  return ok and fits
end

local function check_roots(roots)
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
end

-- Begins a transaction, which `conclude` ends.
local function begin(roots)
  if not can_nest(20) then
    core.raise "a transaction was opened in calls that are nested too deep"
  end
  local transaction = setmetatable({
    state = {}, witnesses = {}, added = {}, number = 0, turn = 0, sandbox = core.sandbox(),
  }, Transaction)
  if transaction.sandbox ~= 0 then transaction.others = trees.others(transaction.state) end
  -- The program's functions see a list as it is stored, and this one may be observed.
  local objects = {}
  for i = 1, #roots do objects[i] = roots[i] end
  local ok, message = pcall(core.begin_transaction, transaction, objects)
  if not ok then core.written(false, message) end
  transaction.number = message
  -- From here on, the transaction is ended even without memory.
  ok, message = pcall(enter, transaction)
  if ok then return transaction end
  core.begin_exempt()
  finish(transaction, false)
  core.end_exempt()
  core.written(false, message)
end

-- Ends a transaction whose function has returned (`ok`) or raised `message`. Returns whether its
-- writes stay, and the error if they do not. Called without limits, and in a batch: at the batch's
-- end the transaction is over, so writes of immediate watchers called then are not part of it.
local function conclude(transaction, ok, message)
  if ok then
    local failure = core.transaction_failure(transaction.number)
    if failure ~= nil then ok, message = false, failure end
  end
  local done, failure = finish(transaction, not ok or transaction.is_aborted)
  if not done then error(failure, 0) end
  if transaction.is_aborted then return false, transaction.reason end
  return ok, message
end

function obs.transaction(roots, f)
  check_roots(roots)
  core.check_function(f, 2, "transaction")
  local transaction = begin(roots)
  local ok, message = pcall(run, transaction, f)
  core.begin_exempt()
  core.begin_batch()
  local done
  done, ok, message = pcall(conclude, transaction, ok, message)
  core.end_exempt()
  core.end_batch()
  if not done then error(ok, 0) end
  if not ok then return false, message end
  return true, unpack(transaction.results, 1, transaction.results.n)
end

function obs.abort(reason)
  local transaction = open[#open]
  -- A callback of another sandbox may run inside the transaction.
  if not transaction or transaction.sandbox ~= core.sandbox() then
    core.raise "obs.abort was called outside a transaction"
  end
  transaction.is_aborted, transaction.reason = true, reason
  if reason == nil then transaction.reason = "the transaction was aborted" end
  error(transaction.reason, 0)
end

-- Makes a transaction that covers one turn after the other.
local function make_turns()
  local turns = setmetatable({ state = {}, witnesses = {}, added = {}, turn = 0 }, Transaction)
  noting[turns] = true
  return turns
end

core.set_transaction_functions {
  begin = function(roots)
    check_roots(roots)
    return begin(roots)
  end,
  conclude = conclude, make_turns = make_turns,
  cover = function(...) return trees.through_opaque(cover, ...) end,
  keep = keep, restore = restore, renew = renew, contents = contents,
  tools = trees.tools,
}

return obs
