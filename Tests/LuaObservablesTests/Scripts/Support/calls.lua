-- A call of each function of `obs`, with an input of any size.
--
-- `calls[name](size)` makes an input of `size` elements and calls the function. It leaves nothing
-- behind after the next turns, unless `kept` has its name. `names()` lists the functions of the
-- running module, sorted. A function without a call here is an error, so that a new function needs
-- its call.
local obs = require "obs"

local function nothing() end

local function list(size)
  local made = {}
  for i = 1, size do made[i] = i end
  return made
end

local function records(size)
  local made = {}
  for i = 1, size do made[i] = {x = i} end
  return made
end

local function record(size) return {list = records(size), x = 0} end

local function lazies(size)
  local made = {}
  obs.lazy(made, list(size), function(_, name) return name end)
  return made
end

-- Runs `body` in a task, which ends with the next turn at the latest.
local function in_task(body)
  return function(size) obs.task(body, size) end
end

-- A file for reading and writing at any time; only some hosts have files.
local file

local function handled(name)
  return function()
    if not io then return pcall(obs[name], 0, nothing) end
    file = file or assert(io.tmpfile())
    obs[name](file, nothing):stop()
  end
end

local calls = {}

-- The observed --------------------------------------------------------------------------------

function calls.observe(size)
  local t = record(size)
  obs.observe(t, {"list.*.x", "x"}, nothing, {name = "n", equals = rawequal, on_end = nothing})
  t.list[1].x = 0
end
function calls.observe_edits(size)
  local t = list(size)
  obs.observe_edits(t, nothing)
  table.remove(t, 1)
end
function calls.observe_keys(size)
  local t = list(size)
  obs.observe_keys(t, list(size), nothing)
  t[1] = 0
end
function calls.on_observed(size)
  local t = record(size)
  obs.on_observed(t, nothing)
  obs.observe(t, "x", nothing)
end
function calls.stop(size)
  local t = record(size)
  obs.observe(t, "list.*.x", nothing)
  obs.stop(t)
end
function calls.bind(size)
  local keys = {}
  for i = 1, size do keys[i] = "k" .. i end
  obs.bind({}, {k1 = 1}, keys)
end
function calls.scope(size)
  obs.scope(function() for _ = 1, size do obs.observe({x = 1}, "x", nothing) end end)
end
function calls.path(size) obs.path(table.unpack(list(math.min(size, 100)))) end
function calls.get(size) return obs.get(record(size), "list.@sum.x") end
function calls.set(size) obs.set(record(size), "list", records(size)) end
function calls.trigger(size)
  local t = record(size)
  obs.observe(t, "x", nothing)
  obs.trigger(t, "x")
end
function calls.batch(size)
  local t = record(size)
  obs.observe(t, "list.*.x", nothing, {immediate = true})
  obs.batch(function() for _, element in ipairs(t.list) do element.x = 0 end end)
end

function calls.flush(size)
  local t = record(size)
  obs.observe(t, "list.*.x", nothing)
  t.list = records(size)
  obs.flush()
end

-- Collections ---------------------------------------------------------------------------------

function calls.array(size)
  local t = obs.array(list(size))
  t:append(0)
  t:sort()
  t:set(list(size))
end
function calls.dictionary(size)
  local t = obs.dictionary(list(size))
  t[1] = nil
end
function calls.set_of(size)
  local t = obs.set_of(list(size))
  t:add(0)
  t:union(list(size))
end
function calls.clear(size)
  local t = obs.array(list(size))
  obs.observe_edits(t, nothing)
  obs.clear(t)
end
function calls.assign(size)
  local t = obs.array(list(size))
  obs.observe_edits(t, nothing)
  obs.assign(t, obs.array(records(size)))
end
function calls.copy_of(size)
  local t = {list = obs.array(list(size))}
  obs.copy_of(t, "copy", "list")
  return #t.copy
end

-- Lazy properties -----------------------------------------------------------------------------

function calls.lazy(size)
  local t = lazies(size)
  return t[1]
end
function calls.computed(size)
  local t = record(size)
  obs.computed(t, "sum", {"list.*.x"}, function(self) return #self.list end)
  obs.computed(t, "tracked", function(self) return self.list[1].x + self.sum end)
  return t.tracked
end
function calls.backed(size)
  local t, names, store = {}, {}, {}
  for i = 1, size do names[i], store["k" .. i] = "k" .. i, i end
  obs.backed(t, names, store)
  return t.k1
end
function calls.invalidate(size)
  local t = lazies(size)
  obs.force(t)
  obs.invalidate(t)
end
function calls.is_valid(size) return obs.is_valid(lazies(size), 1) end
function calls.valid_names(size)
  local t = lazies(size)
  obs.force(t)
  return #obs.valid_names(t)
end
function calls.invalid_names(size) return #obs.invalid_names(lazies(size)) end
function calls.forget(size) obs.forget(lazies(size)) end
function calls.force(size) obs.force(lazies(size)) end
function calls.peek(size) return obs.peek(lazies(size), 1) end
function calls.model(size)
  local body = {sum = obs.computed({"list.*.x"}, function(self) return #self.list end)}
  body.list = records(size)
  local instance = obs.model("Model", body) {}
  return instance.sum
end

-- Inspection --------------------------------------------------------------------------------------

function calls.observed_keys(size)
  local t = list(size)
  for i = 1, size do obs.observe(t, "#" .. i, nothing) end
  return #obs.observed_keys(t)
end
function calls.observer_count(size)
  local t = record(size)
  obs.observe(t, "x", nothing)
  return obs.observer_count(t, "x")
end
function calls.describe(size)
  local t = {x = 1}
  for _ = 1, size do obs.observe(t, "x", nothing) end
  return #obs.describe(t)
end
function calls.graph(size)
  local t = record(size)
  for _, element in ipairs(t.list) do obs.observe(element, "x", nothing) end
  return #obs.graph(t)
end

-- Writes `size` values under a watched key, and passes the watcher to `look`.
local function write(size, value, look)
  local t = {}
  local watcher = obs.observe(t, "x", nothing)
  for i = 1, size do t.x = value(i) end
  obs.flush()
  look(watcher)
end
local function long_text(i) return ("x"):rep(100) .. i end

function calls.why(size)
  obs.record(true)
  write(size, function(i) return i end, obs.why)
  obs.record(false)
end
function calls.whynot(size)
  obs.record(true)
  write(size, nothing, obs.whynot)
  obs.record(false)
end
function calls.record(size)
  obs.record(true)
  write(size, long_text, nothing)
  obs.record(false)
end
function calls.log(size)
  obs.log(nothing)
  write(size, long_text, nothing)
  obs.log(nil)
end
function calls.start_recording(size)
  if not io then return pcall(obs.start_recording, "file") end
  local path = os.tmpname()
  os.remove(path)
  local watcher = obs.observe(record(size), "**", nothing)
  assert(obs.start_recording(path)):stop()
  os.remove(path)
  watcher:stop()
end
function calls.inspect()
  -- Only programs with the library have inspectors.
  local ok, inspector = pcall(obs.inspect)
  if ok and inspector then inspector:stop() end
end
function calls.mirror(size)
  -- Nothing answers there; only programs with the library for it get that far.
  local ok, mirror = pcall(obs.mirror, record(size), "calls", { url = "redis://127.0.0.1:1" })
  if ok then mirror:stop() end
end
function calls.reload() obs.reload "missing" end
function calls.state(size) obs.state("calls", record(size)) end
function calls.on_reload() pcall(obs.on_reload, nothing) end
function calls.break_on_change(size) obs.break_on_change(record(size), "x") end
function calls.limits() obs.limits() end
function calls.stats() obs.stats() end
function calls.native() obs.native {unused = false} end
function calls.raw(size)
  local t = record(size)
  obs.observe(t, "list.*.x", nothing)
  return obs.raw(t)
end

-- Deep changes --------------------------------------------------------------------------------

function calls.changes(size)
  local t = record(size)
  obs.changes(t, nothing, {site = true})
  t.list = records(size)
end
function calls.diff(size) return obs.diff(record(size), {list = {}}) end
function calls.apply(size)
  local t = {list = {}}
  obs.apply(t, obs.diff(t, record(size)))
end
function calls.invert(size) return obs.invert(obs.diff(record(size), {list = {}})) end
function calls.merge(size) obs.merge({list = {}}, record(size)) end
function calls.history(size)
  local t = {list = {}}
  local history = obs.history(t, {limit = 3})
  t.list = records(size)
  obs.flush()
  history:undo()
  history:redo()
end
function calls.opaque(size) obs.opaque(record(size)) end

-- Fills objects of all kinds in a transaction, which ends with `finish`.
local function transact(size, finish)
  local t = {list = obs.array(), set = obs.set_of(), map = obs.dictionary(), plain = {}}
  obs.transaction({t}, function()
    for i = 1, size do
      t.list:append(i)
      t.set:add(i)
      t.map[i] = i
      t.plain[i] = i
    end
    finish()
  end)
end
function calls.transaction(size) transact(size, nothing) end
function calls.abort(size) transact(size, function() obs.abort "enough" end) end

-- The loop ------------------------------------------------------------------------------------

function calls.after(size) for _ = 1, size do obs.after(0, nothing) end end
function calls.every(size) for _ = 1, size do obs.every(1, nothing):stop() end end
function calls.next_turn(size) for _ = 1, size do obs.next_turn(nothing) end end
function calls.now() obs.now() end
function calls.task(size) for _ = 1, size do obs.task(nothing) end end
calls.sleep = in_task(function() obs.sleep(0) end)
calls.await = in_task(function() obs.await(function(done) done() end) end)
calls.next_change = in_task(function(size)
  local t, paths = { x = 0 }, {}
  for i = 1, size do paths[i] = "x" end
  obs.task(function() t.x = 1 end)
  obs.next_change(t, paths, 0)
end)
calls.on_readable = handled "on_readable"
calls.on_writable = handled "on_writable"
function calls.on_error() obs.on_error(nil) end
function calls.on_exit() obs.on_exit(nothing) end

-- Functions that keep something with each call until the program ends.
local kept = {on_exit = true}

local module = {calls = calls, kept = kept, list = list, nothing = nothing}

--- The functions of the running module, sorted.
function module.names()
  local names = {}
  for name, value in next, obs do
    if type(value) == "function" then
      names[#names + 1] = name
      assert(calls[name], "Support/calls.lua has no call of obs." .. name)
    end
  end
  table.sort(names)
  return names
end

return module
