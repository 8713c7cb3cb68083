-- Turns that can be undone: a slice of the module `obs`.
--
-- A transaction has the contents of all objects below its roots as they were when it was opened,
-- and of those that came there meanwhile. Where it fails, what differs is written back. The engine
-- remembers which watchers are pending only for writes to these objects.
local core, obs = ...

local error, ipairs, next, pack, pcall, setmetatable, tostring, type, unpack =
  error, ipairs, next, table.pack, pcall, setmetatable, tostring, type, table.unpack
local string_format = string.format
local trees = core.trees
local contents, each_object, is_object = trees.contents, trees.each_object, trees.is_object

local Transaction = {}
Transaction.__index = Transaction

-- The transactions that are open, the outermost first.
local open = {}

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
  core.cover(object, 1)
  self.wires[object] = obs.observe(object, "*", self.mark,
    { immediate = true, name = "transaction" })
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

-- Ends the watching of the objects.
function Transaction:leave()
  for _, object in ipairs(self.order) do
    core.cover(object, -1)
    if self.wires[object] then self.wires[object]:stop() end
  end
end

-- Writes back what differs.
function Transaction:undo()
  local writes = {}
  for _, object in ipairs(self.order) do
    local present = contents(object)
    if not trees.are_same(present, self.state[object])
      or present.n ~= self.state[object].n then
      trees.add_writes(writes, object, present, self.state[object])
    end
  end
  local _, failures = trees.in_batch(trees.written, writes, true)
  for object, values in next, self.lazies do
    for key in next, core.derived_keys(object) do
      local before = values[key]
      local is_same = before and obs.is_valid(object, key)
        and trees.same(before[1], obs.peek(object, key))
      if not is_same then pcall(obs.invalidate, object, key) end
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
    { state = {}, lazies = {}, order = {}, wires = {} }, Transaction)
  function transaction.mark(_, _, change)
    if is_object(change.new) and not transaction.state[change.new] then
      trees.through_opaque(transaction.cover, transaction, change.new)
    end
  end
  local ok, message = pcall(begin, transaction, roots)
  if not ok then
    exempted(transaction.leave, transaction)
    core.written(false, message)
  end
  core.open_transaction()
  open[#open + 1] = transaction
  local results = pack(pcall(core.call_plainly, f))
  local is_undone = not results[1] or transaction.is_aborted
  local done, failure = exempted(finish, transaction, is_undone)
  core.close_transaction(is_undone)
  if not done then error(failure, 0) end
  if transaction.is_aborted then return false, transaction.reason end
  return unpack(results, 1, results.n)
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
