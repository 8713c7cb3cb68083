-- Turns that can be undone: a slice of the module `obs`.
--
-- A transaction has the contents of all objects below its roots as they were when it was opened,
-- and of those that came there meanwhile. Where it fails, what differs is written back. The engine
-- remembers which watchers are pending only for writes to these objects.
local core, obs = ...

local error, ipairs, next, pack, pcall, select, setmetatable, type, unpack =
  error, ipairs, next, table.pack, pcall, select, setmetatable, type, table.unpack
local string_format = string.format
local trees = core.trees
local contents, each_object, is_object = trees.contents, trees.each_object, trees.is_object

local Transaction = {}
Transaction.__index = Transaction

-- The transactions that are open, the outermost first.
local open = {}

-- A transaction is told of writes that bring objects: these are covered from then on.
local arrivals = { "*", tells = "arrivals" }

-- The lazy keys of an object that are valid, with their values.
local function lazy_values(object)
  if type(object) ~= "table" then return nil end
  local keys = core.derived_keys(object)
  if next(keys) == nil then return nil end
  local values = {}
  for key in next, keys do
    if obs.is_valid(object, key) then values[key] = { obs.peek(object, key) } end
  end
  return values
end

function Transaction:add(object)
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

-- Covers what came to an object. An operation on a list is told once, for the first element that
-- changed: others may have come behind that.
function Transaction:cover_new(object, change)
  local position, new = change.key, change.new
  if not is_object(new) then return end
  self:cover(new)
  if trees.position_of(position) == nil then return end
  while true do
    position = position + 1
    local element = trees.element(object, position)
    if element == nil or self.state[element] then return end
    if is_object(element) then self:cover(element) end
  end
end

-- Ends the watching of the objects.
function Transaction:leave()
  for _, object in ipairs(self.order) do
    core.cover(object, self.number, false)
    if self.wires[object] then self.wires[object]:stop() end
  end
end

-- Whether values are the same to whoever prints them: 1 and 1.0 are the same value (T5), and yet
-- not what was there.
local function are_identical(a, b)
  return core.identical(a, b) or trees.is_value(a) and trees.same(a, b)
end

local function has_contents(a, b)
  if a.n ~= b.n then return false end
  for key, value in next, a.map do
    if not are_identical(value, b.map[key]) then return false end
  end
  for key in next, b.map do
    if a.map[key] == nil then return false end
  end
  return true
end

-- Adds the writes that give an object numbers of the types that they had.
local function add_exact_writes(writes, object, former)
  local present = contents(object).map
  for key, value in next, former.map do
    if trees.same(present[key], value) and not are_identical(present[key], value) then
      writes[#writes + 1] = { number = 0, kind = "set", object = object, key = key, value = value }
    end
  end
end

-- Writes back what differs; of `objects`, if only these can.
function Transaction:undo(objects)
  local writes, exact, changed = {}, {}, {}
  for _, object in ipairs(objects or self.order) do
    local present, former = contents(object), self.state[object]
    if not has_contents(present, former) then
      trees.add_writes(writes, object, present, former)
      changed[#changed + 1] = object
    end
  end
  local _, failures = trees.in_batch(trees.written, writes, true)
  for _, object in ipairs(changed) do
    if self.state[object].kind ~= "set" then
      add_exact_writes(exact, object, self.state[object])
    end
  end
  if #exact > 0 then failures = failures + select(2, trees.in_batch(trees.written, exact, true)) end
  for object, values in next, self.lazies do
    for key in next, core.derived_keys(object) do
      local before = values[key]
      if obs.is_valid(object, key)
        and not (before and trees.same(before[1], obs.peek(object, key)))
      then
        pcall(obs.invalidate, object, key)
      end
    end
  end
  if failures > 0 then
    core.report(string_format("%d writes of a transaction could not be taken back", failures), "",
      "watcher", "transaction", core.site())
  end
end

-- Calls a function that is not stopped by limits.
local function exempted(body, ...)
  core.begin_exempt()
  local ok, message = pcall(body, ...)
  core.end_exempt()
  return ok, message
end

local function begin(transaction, roots)
  trees.through_opaque(function()
    for i = 1, #roots do transaction:cover(roots[i]) end
  end)
end

-- Ends the transaction; what a script is stopped for must not end this.
local function finish(transaction, is_undone)
  open[#open] = nil
  if is_undone then trees.through_opaque(transaction.undo, transaction) end
  transaction:leave()
end

function obs.transaction(roots, f)
  if type(roots) ~= "table" then
    core.bad_argument(1, "transaction", "list of objects expected, got "
      .. (roots == nil and "no value" or type(roots)))
  end
  if #roots == 0 then
    core.bad_argument(1, "transaction", "the list of objects is empty")
  end
  for i = 1, #roots do
    if not is_object(roots[i]) and not core.is_object(roots[i]) then
      core.bad_argument(1, "transaction", string_format(
        "list of tables and objects of the host program expected, got one with a %s",
        type(roots[i])))
    end
  end
  core.check_function(f, 2, "transaction")
  local transaction = setmetatable(
    { state = {}, lazies = {}, order = {}, wires = {}, number = core.open_transaction() },
    Transaction)
  function transaction.mark(object, _, change)
    trees.through_opaque(transaction.cover_new, transaction, object, change)
  end
  local ok, message = pcall(begin, transaction, roots)
  if not ok then
    exempted(transaction.leave, transaction)
    core.close_transaction(transaction.number, false)
    core.written(false, message)
  end
  open[#open + 1] = transaction
  local results = pack(pcall(core.call_plainly, f))
  local is_undone = not results[1] or transaction.is_aborted
  local done, failure = exempted(finish, transaction, is_undone)
  core.close_transaction(transaction.number, is_undone)
  if not done then error(failure, 0) end
  if transaction.is_aborted then return false, transaction.reason end
  return unpack(results, 1, results.n)
end

-- Turns ------------------------------------------------------------------------------------------

-- A transaction for one turn after the other: what stays is known from turn to turn. Where an
-- object was written is noticed, so that the rest need not be looked at.
local Turns = setmetatable({}, { __index = Transaction })
Turns.__index = Turns

local first_write = { "*", tells = "first" }

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
  self.state[object], self.lazies[object] = nil, nil
  self.wires[object], self.notices[object] = nil, nil
end

function Turns:take_written()
  local written = self.written
  self.written, self.is_written = {}, {}
  core.rearm()
  return written
end

-- The turn that begins now is taken back to what there is.
function Turns:renew()
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
  for _, object in ipairs(self.order) do self:let_go(object) end
  self.order = {}
end

-- Covers turns; returns the functions that renew, that take back what was written and that end it.
function core.cover_turns(number, roots)
  local turns = setmetatable({
    state = {}, lazies = {}, order = {}, wires = {}, notices = {}, written = {}, is_written = {},
    roots = roots, number = number,
  }, Turns)
  function turns.note(object)
    if turns.is_written[object] then return end
    turns.is_written[object] = true
    turns.written[#turns.written + 1] = object
  end
  function turns.mark(object, _, change)
    trees.through_opaque(turns.cover_new, turns, object, change)
  end
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
  if not transaction then
    core.raise "obs.abort was called outside of a transaction"
  end
  transaction.is_aborted, transaction.reason = true, reason
  if reason == nil then transaction.reason = "the transaction was aborted" end
  error(transaction.reason, 0)
end

return obs
