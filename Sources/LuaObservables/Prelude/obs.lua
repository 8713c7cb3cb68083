-- The module `obs`, built from the host's functions in `core`.
local core = ...

local obs = core.module
local begin_batch, call_plainly, end_scope, end_batch, is_computing =
  core.begin_batch, core.call_plainly, core.close_scope, core.end_batch, core.is_computing
local is_host_object, is_path, close_luv, begin_scope, outer =
  core.is_host_object, core.is_path, core.luv.close, core.open_scope, core.outer
local end_wait, exact_path, path_parts, path_text, raise, register, report_error =
  core.end_wait, core.path, core.path_parts, core.path_text, core.raise, core.register, core.report
local run_exit_hooks, current_sandbox, site_of, number_task, collect =
  core.run_exit_hooks, core.sandbox, core.site, core.tasks.began, core.tasks.collect
local enter, give_task_back, is_sandbox_open, later, running_owner =
  core.tasks.enter, core.tasks.give_back, core.tasks.is_open, core.tasks.later, core.tasks.owner
local recount_tasks, count_task, wake_after, traceback =
  core.tasks.recount, core.tasks.take, core.tasks.wake_after, core.traceback

-- Functions are read before any script can replace them.
local error, getmetatable, ipairs, next, setmetatable, tostring, type =
  error, getmetatable, ipairs, next, setmetatable, tostring, type
local pcall, rawget = pcall, rawget
local coroutine_create, coroutine_resume, coroutine_running, coroutine_status, coroutine_yield =
  coroutine.create, coroutine.resume, coroutine.running, coroutine.status, coroutine.yield
local coroutine_close, coroutine_isyieldable = coroutine.close, coroutine.isyieldable
local pack, unpack, sort = table.pack, table.unpack, table.sort
local string_find, string_format, string_match, string_sub =
  string.find, string.format, string.match, string.sub

-- The error's place is the script's call, however deep in the module it is raised.
local function bad_argument(number, name, message)
  raise(string_format("bad argument #%d to '%s' (%s)", number, name, message))
end

local function is_observable(value)
  local kind = type(value)
  return kind == "table" or kind == "userdata" and is_host_object(value)
end

local function check_observed(value, number, name)
  if not is_observable(value) then
    bad_argument(number, name, "table or object of the host program expected, got " .. type(value))
  end
end

-- Whether a value is of a class whose metatable may be hidden.
function core.is_instance(value, class)
  local meta = getmetatable(value)
  return meta ~= nil and (meta == class or meta == class.__metatable)
end

-- A method called with a dot has no object.
local function check_self(self, class, name)
  if type(self) ~= "table" or not core.is_instance(self, class) then
    bad_argument(1, name, string_format("%s expected, got %s", class.__name,
      self == nil and "no value" or type(self)))
  end
end

local function check_function(value, number, name)
  local meta = type(value) ~= "function" and getmetatable(value)
  if type(value) ~= "function" and not (type(meta) == "table" and meta.__call) then
    bad_argument(number, name, "function expected, got "
      .. (value == nil and "no value" or type(value)))
  end
end

-- Raises the error of a write again. An error of the module gets the caller's place.
function core.written(ok, message)
  if ok then return end
  local own = type(message) == "string" and string_match(message, "^obs:%d+: (.*)")
  if own then raise(own) end
  error(message, 0)
end

-- The other slices of the module need these functions.
core.bad_argument, core.check_observed, core.check_function =
  bad_argument, check_observed, check_function

-- Observing ------------------------------------------------------------------------------------

obs.observe, obs.path, obs.flush = core.observe, core.path, core.flush
obs.array, obs.set_of, obs.dictionary = core.array, core.set_of, core.dictionary

function core.watcher.snapshot(watcher)
  core.load "trees"
  return core.snapshot(watcher)
end

core.set_methods("Watcher", core.watcher)
core.set_methods("Timer", core.timer)
core.set_methods("Handler", core.handler)

local function is_object(value)
  local kind = type(value)
  return kind == "table" or kind == "userdata"
end
core.is_object = is_object

-- Closes the batch after an error, too; the error is raised on from its origin.
local batch_end = setmetatable({}, { __close = end_batch, __name = "obs.batch" })

-- Calls `body` in a coroutine, where an error does not close variables. The results go into a
-- table, so that the batch also ends if the stack has no room for all of them.
local function batch_in_coroutine(body, ...)
  local results, is_open
  local function run(...)
    begin_batch()
    is_open = true
    results = pack(call_plainly(body, ...))
  end
  local ok, message = pcall(run, ...)
  if is_open then end_batch() end
  if not ok then error(message, 0) end
  return unpack(results, 1, results.n)
end

function obs.batch(body, ...)
  check_function(body, 1, "batch")
  -- A batch must not contain a wait, as it would stay open at the end of the turn, or for ever.
  local _, is_main = coroutine_running()
  if not is_main then return batch_in_coroutine(body, ...) end
  begin_batch()
  local guard <close> = batch_end
  return call_plainly(body, ...)
end

-- Literal names ---------------------------------------------------------------------------------

--- Refuses a property name that can only be meant as a key path (C5). `takes_path`: whether the
--- function takes `obs.path(name)` for the key.
function core.check_literal(object, text, number, name, takes_path)
  if text == "*" or text == "**" then
    bad_argument(number, name, string_format("'%s' is not a name: obs.observe watches all keys of "
      .. "an object, obs.observe_edits reports the changed ones", text))
  end
  local dot = string_find(text, ".", 1, true)
  if not dot or type(object) ~= "table" then return end
  local first = string_sub(text, 1, dot - 1)
  if is_observable(rawget(object, first)) then
    bad_argument(number, name, string_format("'%s' is a key path, as '%s' is an object: "
      .. "use obs.observe for the path%s", text, first,
      takes_path and string_format(", or obs.path('%s') for the key", text) or ""))
  end
end

--- The literal key for a function, and its path. `obs.path(key)` passes a key that looks like a
--- path.
function core.exact_key(object, key, number, name)
  if is_path(key) then
    local keys, kinds = path_parts(key, name, number)
    if #keys ~= 1 or kinds[1] ~= "key" and kinds[1] ~= "name" then
      bad_argument(number, name, string_format("'%s' is not a key: obs.observe takes paths",
        path_text(key)))
    end
    return keys[1], key
  end
  if type(key) == "string" then core.check_literal(object, key, number, name, true) end
  return key, exact_path(key)
end

-- Scopes ---------------------------------------------------------------------------------------

local Scope = { __name = "obs.Scope", __index = {} }

local function get_stop(member) return member.stop or member.cancel end

-- Whether a member can be stopped; access to an object of other code may raise an error.
local function can_stop(member)
  local ok, stop = pcall(get_stop, member)
  return ok and stop
end

-- Cancels a task that is running, or that runs another one, when it waits; returns false for
-- another member.
local cancel_running

local function stop_member(member)
  if type(member) == "function" then return member() end
  if cancel_running(member) then return end
  if type(member) == "table" and type(member.cancel) == "function" then return member:cancel() end
  return member:stop()
end

function Scope.__index:stop()
  check_self(self, Scope, "stop")
  local members = self.members
  self.members, self.stopped = {}, true
  local failure
  -- Stop the members in reverse order, as `<close>` does; after an error, stop the others, too.
  for i = #members, 1, -1 do
    local ok, message = pcall(stop_member, members[i])
    if not ok and not failure then failure = { message } end
  end
  if failure then error(failure[1], 0) end
end

function Scope.__index:add(member)
  check_self(self, Scope, "add")
  local kind = type(member)
  if kind ~= "function" and not (is_object(member) and can_stop(member)) then
    bad_argument(1, "add", "watcher, timer or function expected, got " .. kind)
  end
  if self.stopped then stop_member(member) else self.members[#self.members + 1] = member end
  return member
end

-- The open scopes, innermost last, with the sandboxes that opened them.
local open_scopes = {}

--- Adds an object with a method `stop` to the innermost open scope of the running sandbox, if any.
--- The innermost scope of all may belong to another sandbox whose code caused this call.
function core.add_to_scope(member)
  local sandbox = current_sandbox()
  for i = #open_scopes, 1, -1 do
    local open = open_scopes[i]
    if open.sandbox == sandbox then return open.scope:add(member) end
  end
  return member
end

-- Opens a scope, which may fail halfway, and calls its body.
local function run_scope(open, body)
  open_scopes[open.height + 1] = open
  begin_scope(open.scope.members)
  call_plainly(body, open.scope)
end

-- Closes a scope, and scopes inside it that are still open. If the body raised an error, the
-- members are stopped.
local function close_scope(open, has_failed)
  for i = #open_scopes, open.height + 1, -1 do open_scopes[i] = nil end
  end_scope(open.height)
  if has_failed then return open.scope:stop() end
  core.add_to_scope(open.scope)
end

-- With a `__close` variable, the error is raised on from its origin.
local scope_end = {
  __close = function(open, failure) close_scope(open, failure ~= nil) end,
  __name = "obs.scope",
}

function obs.scope(body, ...)
  check_function(body, 1, "scope")
  if (...) ~= nil then bad_argument(2, "scope", "no value expected, got " .. type((...))) end
  local scope = setmetatable({ members = {} }, Scope)
  local open = setmetatable(
    { scope = scope, sandbox = current_sandbox(), height = #open_scopes }, scope_end)
  -- A scope must not contain a wait, as it would collect registrations of other code.
  local _, is_main = coroutine_running()
  if is_main then
    local guard <close> = open
    run_scope(open, body)
  else
    -- An error that ends a coroutine closes none of its variables.
    local ok, message = pcall(run_scope, open, body)
    close_scope(open, not ok)
    if not ok then error(message, 0) end
  end
  return scope
end

-- Modules --------------------------------------------------------------------------------------

-- The slice `reload` replaces this: before the first reload, no change has to be taken back.
function core.note_undo() end

-- Objects with a method `stop` -> the number of the module that made them.
local owned = setmetatable({}, { __mode = "k" })

--- A weak table that the prelude keeps for the running sandbox (S5), made when it is first needed.
function core.sandbox_table(name, mode)
  local data = core.sandbox_data()
  local found = data[name]
  if not found then
    found = setmetatable({}, { __mode = mode })
    data[name] = found
  end
  return found
end

-- Objects -> the sandbox's hook of `on_observed`, and the number of the module that set it.
local function hooked_objects() return core.sandbox_table("hooked", "k") end

--- Notes that an object with a method `stop` ends with the running module.
function core.note_owned(member)
  local module = running_owner() >> 32
  if module ~= 0 then owned[member] = module end
  return member
end

local on_observed = obs.on_observed

local function set_hook(target, hook, module)
  on_observed(target, hook)
  hooked_objects()[target] = hook ~= nil and { hook = hook, module = module } or nil
end

function obs.on_observed(target, hook)
  local former = hooked_objects()[target]
  set_hook(target, hook, running_owner() >> 32)
  core.note_callback(hook)
  core.note_undo(function()
    set_hook(target, former and former.hook, former and former.module)
  end)
end

--- Stops the noted objects of a module, and removes its hooks.
function core.stop_owned(module)
  -- To stop an object can call the script, which may make others.
  local ending = {}
  for member, owner in next, owned do
    if owner == module then ending[#ending + 1] = member end
  end
  for i = 1, #ending do
    owned[ending[i]] = nil
    ending[i]:stop()
  end
  for target, set in next, hooked_objects() do
    if set.module == module then set_hook(target, nil) end
  end
end

-- Inspecting watchers ----------------------------------------------------------------------------

obs.observed_keys = core.observed_keys

-- The class of events that `log` reports. `print` shows an event as a sentence.
local Event = { __name = "obs.Event" }
core.Event = Event

function Event:__tostring()
  core.load "events"
  return core.event_text(self)
end

-- The loop ---------------------------------------------------------------------------------------

obs.after, obs.now, obs.on_readable, obs.on_exit =
  core.after, core.now, core.on_readable, core.on_exit

-- Tasks ------------------------------------------------------------------------------------------

local Task = { __name = "obs.Task", __index = {} }

-- Coroutine -> task, while it runs or waits.
local tasks = setmetatable({}, { __mode = "k" })
-- Task -> the code that started it, which is the number of its sandbox and, in the upper half, that
-- of its module. The task runs as this code.
local owners = setmetatable({}, { __mode = "k" })
-- The value that a waiting task yields; no other code has it.
local waiting = {}

-- The results of a task that ended without memory to keep them.
local no_results = { false, "not enough memory", n = 2 }

local function finish(task, ...)
  local ok, results = pcall(pack, ...)
  task.results = ok and results or nil
  task.done = true
  give_task_back(owners[task], task.number)
  task.thread = nil
  task.wake = nil
  local waiters = task.waiters
  task.waiters = nil
  if waiters then
    -- Each waiting task is woken in a separate turn, so a long chain of waiting tasks needs no
    -- stack. If there is no memory for this, wake them at once.
    for _, wake in ipairs(waiters) do
      if not pcall(later, wake) then pcall(wake) end
    end
  end
end

function cancel_running(member)
  local thread = core.is_instance(member, Task) and member.thread
  if not thread or coroutine_status(thread) == "suspended" then return false end
  -- This timer must not belong to a module, whose timers end with it.
  local owner = enter(owners[member] & 0xffffffff)
  later(function() member:cancel() end)
  enter(owner)
  return true
end

local step

local function step_later(task) later(function() step(task) end) end

local function after_step(task, thread, ok, ...)
  local first = ...
  if ok and coroutine_status(thread) == "dead" then return finish(task, true, ...) end
  if ok and first ~= waiting then
    -- This is a plain yield: the task goes on in the next turn.
    ok, first = pcall(step_later, task)
  end
  if ok then return end
  local is_known, trace = pcall(traceback, thread, first)
  coroutine_close(thread)
  local is_awaited = task.waiters ~= nil
  finish(task, false, first)
  local function report()
    if task.is_read then return end
    report_error(first, is_known and trace or "", "task", task.name, task.site)
  end
  -- Waiting tasks read the error in an earlier turn, unless they are cancelled.
  if not is_awaited or not pcall(later, report) then report() end
end

local function leave(owner, ...)
  enter(owner)
  return ...
end

function step(task, ...)
  local thread = task.thread
  if task.done or not thread or not is_sandbox_open(owners[task]) then return end
  -- A task runs as code of its owner, whoever wakes it.
  local owner = enter(owners[task])
  return leave(owner, after_step(task, thread, coroutine_resume(thread, ...)))
end

local function running_task(name)
  local task = tasks[coroutine_running()]
  if (not task or not coroutine_isyieldable()) and is_computing() then
    raise(string_format(
      "%s was called inside a getter, which cannot yield: its value is needed at once", name))
  end
  if not task then
    raise(string_format(
      "%s was called outside a task: it waits, which works only inside obs.task", name))
  end
  if not coroutine_isyieldable() then
    raise(string_format(
      "%s was called inside a watcher, a transaction, a batch or a scope, which cannot yield; "
        .. "start a task (obs.task)", name))
  end
  return task
end

function core.check_timeout(timeout, number, name)
  if timeout == nil or type(timeout) == "number" and timeout >= 0 then return end
  bad_argument(number, name, "number of seconds expected, got "
    .. (type(timeout) == "number" and tostring(timeout) or type(timeout)))
end

-- Waits until the function passed to `arm` is called. `arm` returns a function that ends the wait
-- early.
local function wait(task, arm)
  local function wake(...)
    if task.wake ~= wake then return end
    local disarm = task.disarm
    task.wake, task.disarm = nil, nil
    -- Other events that would have ended the wait must not keep the loop alive.
    disarm()
    return step(task, ...)
  end
  -- If `arm` runs out of memory, nothing wakes the task.
  local disarm = arm(wake)
  task.wake, task.disarm = wake, disarm
  return coroutine_yield(waiting)
end

--- Checks that a task is running, which can wait.
core.check_task = running_task

--- Waits as `wait` does, in the task that calls the named function.
function core.wait(name, arm) return wait(running_task(name), arm) end

local function awaited(ok, ...)
  -- Raised here, the error has the place of the call that waited.
  if not ok then core.raise_failure() end
  return ...
end

--- Makes the host program's function with which a task waits for a result. `start` gets a function
--- that wakes the task, with true and the results or with false and a failure that waits for
--- `raise_failure`; and the arguments. It returns a function that cancels the wait.
function core.awaiting(name, start)
  return outer(function(...)
    local task, arguments = running_task(name), pack(...)
    return awaited(wait(task, function(wake)
      return start(wake, unpack(arguments, 1, arguments.n))
    end))
  end)
end

-- Counts a sandbox's new task. Tasks that wait for ever are collected without notice, so the tasks
-- are counted again before one is refused.
local function take_task(owner)
  if count_task(owner) then return end
  collect()
  local count = 0
  for _, task in next, tasks do
    if not task.done and owners[task] & 0xffffffff == owner & 0xffffffff then count = count + 1 end
  end
  recount_tasks(owner, count)
end

local function make_task(body)
  local owner = running_owner()
  take_task(owner)
  local thread = coroutine_create(type(body) == "function" and body
    or function(...) return body(...) end)
  local task = setmetatable({
    thread = thread, done = false, site = site_of(body), name = "task",
    number = number_task(),
  }, Task)
  owners[task] = owner
  core.note_callback(body)
  tasks[thread] = task
  core.add_to_scope(task)
  return task
end

function obs.task(body, ...)
  check_function(body, 1, "task")
  local task = make_task(body)
  step(task, ...)
  return task
end

--- Like `obs.task`, for a program that waits for the task: calls `done` with true and the results,
--- or with false and an error.
function core.call_in_task(body, done, ...)
  local task = make_task(body)
  task.waiters = { function()
    task.is_read = true
    local results = task.results or no_results
    done(unpack(results, 1, results.n))
  end }
  step(task, ...)
  return task
end

--- Lets nothing wake the tasks of a module any more, and returns a function that cancels them. The
--- running task is cancelled when it waits.
function core.detach_tasks(module)
  local stopped, own = {}, tasks[coroutine_running()]
  if own and owners[own] >> 32 == module then cancel_running(own) end
  for _, task in next, tasks do
    if not task.done and task ~= own and owners[task] >> 32 == module then
      stopped[#stopped + 1] = task
    end
  end
  sort(stopped, function(a, b) return a.number < b.number end)
  for i = 1, #stopped do
    local task = stopped[i]
    local disarm = task.disarm
    task.wake, task.disarm = nil, nil
    if disarm then disarm() end
  end
  return function()
    for i = 1, #stopped do
      if not stopped[i].done then stopped[i]:cancel() end
    end
  end
end

--- The sites of unfinished tasks that began after task `number`, in order.
function core.live_tasks(number)
  local found = {}
  for _, task in next, tasks do
    if not task.done and task.number > number then found[#found + 1] = task end
  end
  sort(found, function(a, b) return a.number < b.number end)
  for i = 1, #found do found[i] = found[i].site end
  return found
end

function Task.__index:await(timeout)
  check_self(self, Task, "await")
  core.check_timeout(timeout, 1, "await")
  local task = not self.done and running_task("obs.Task:await") or nil
  if not self.done then
    if task == self then raise("a task cannot wait for itself") end
    local done = wait(task, function(wake)
      local waiters = self.waiters or {}
      local function finished() wake(true) end
      local timer
      local function leave()
        if timer then timer:stop() end
        -- Once the task has ended, its waiters are being woken.
        if self.waiters ~= waiters then return end
        for i, waiter in ipairs(waiters) do
          if waiter == finished then table.remove(waiters, i) break end
        end
        if #waiters == 0 then self.waiters = nil end
      end
      timer = timeout and wake_after(timeout, function() wake(false) end)
      waiters[#waiters + 1] = finished
      self.waiters = waiters
      return leave
    end)
    if not done then return false end
  end
  self.is_read = true
  local results = self.results or no_results
  if not results[1] then error(results[2], 0) end
  return unpack(results, 2, results.n)
end

function Task.__index:cancel()
  check_self(self, Task, "cancel")
  if self.done then return end
  local thread, disarm = self.thread, self.disarm
  self.disarm = nil
  if disarm then disarm() end
  if coroutine_status(thread) ~= "suspended" then
    raise("a task cannot cancel itself; let it return")
  end
  -- Its `<close>` variables are closed as the task's code, whoever cancels it.
  local owner = enter(owners[self])
  local ok, message = coroutine_close(thread)
  enter(owner)
  finish(self, false, "the task was cancelled")
  if not ok then report_error(message, "", "task", self.name, self.site) end
end

Task.__index.stop = Task.__index.cancel
core.classes = { Scope, Task }

function obs.sleep(seconds)
  local task = running_task("obs.sleep")
  if type(seconds) ~= "number" then
    bad_argument(1, "sleep", "number of seconds expected, got " .. type(seconds))
  end
  if not (seconds >= 0) then
    bad_argument(1, "sleep", "a number of seconds from 0 on expected, got " .. seconds)
  end
  wait(task, function(wake)
    local timer = wake_after(seconds, function() wake() end)
    return function() timer:stop() end
  end)
end

-- The registration request for a watcher that a task waits for.
local function waiting_for(path)
  if path == nil then bad_argument(2, "next_change", "key path expected, got nil") end
  if type(path) ~= "table" then return { path, kind = "wait" } end
  local request = { kind = "wait" }
  for i = 1, #path do request[i] = path[i] end
  return request
end

function obs.next_change(observed, path, timeout)
  local task = running_task("obs.next_change")
  core.check_timeout(timeout, 3, "next_change")
  return wait(task, function(wake)
    local timer, watcher
    local function changed() wake(true) end
    local function leave()
      end_wait(watcher)
      if timer then timer:stop() end
    end
    watcher = register(observed, waiting_for(path), function(root)
      -- Other code has stopped the watcher.
      if root == nil then return wake(nil, "stopped") end
      -- The task runs in a separate turn, as a watcher cannot wait.
      later(changed)
      leave()
    end, { name = "next_change" })
    if timeout then timer = wake_after(timeout, function() wake(false) end) end
    return leave
  end)
end

function obs.await(start, timeout)
  local task = running_task("obs.await")
  check_function(start, 1, "await")
  core.check_timeout(timeout, 2, "await")
  return wait(task, function(wake)
    local timer
    local is_over = false
    -- The caller with the result may be a watcher or a getter, which cannot wait.
    local function finish_wait(...)
      if is_over then return end
      local results = pack(...)
      later(function() wake(unpack(results, 1, results.n)) end)
      is_over = true
    end
    start(finish_wait)
    if timeout and not is_over then timer = wake_after(timeout, function() wake(false) end) end
    return function()
      is_over = true
      if timer then timer:stop() end
    end
  end)
end

-- The end ----------------------------------------------------------------------------------------

if os and os.exit then
  local exit = os.exit
  function os.exit(status, closes)
    run_exit_hooks()
    if closes then close_luv() end
    return exit(status, closes)
  end
end

return obs
