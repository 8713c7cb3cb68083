-- Tasks: a slice of the module `obs`.
local core, obs = ...

local bad_argument, check_function, check_self, end_wait, is_computing, outer =
  core.bad_argument, core.check_function, core.check_self, core.end_wait, core.is_computing,
  core.outer
local raise, register, report_error, site_of, traceback =
  core.raise, core.register, core.report, core.site, core.traceback
local number_task, collect, enter, give_task_back, is_sandbox_open, later =
  core.tasks.began, core.tasks.collect, core.tasks.enter, core.tasks.give_back, core.tasks.is_open,
  core.tasks.later
local running_owner, recount_tasks, count_task, wake_after =
  core.tasks.owner, core.tasks.recount, core.tasks.take, core.tasks.wake_after

local error, ipairs, next, pcall, setmetatable, tostring, type =
  error, ipairs, next, pcall, setmetatable, tostring, type
local coroutine_create, coroutine_resume, coroutine_running, coroutine_status, coroutine_yield =
  coroutine.create, coroutine.resume, coroutine.running, coroutine.status, coroutine.yield
local coroutine_close, coroutine_isyieldable = coroutine.close, coroutine.isyieldable
local pack, remove, sort, unpack = table.pack, table.remove, table.sort, table.unpack
local string_format = string.format

local Task = { __name = "obs.Task", __index = {} }

-- Coroutine -> task, while it runs or waits.
local tasks = setmetatable({}, { __mode = "k" })
-- Task -> the code that started it: the number of its sandbox, and in the upper half the number of
-- its module. The task runs as this code.
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

--- If a member of a scope is a task that is running, or that runs another one, cancels it when it
--- next waits; otherwise returns false.
function core.cancel_running(member)
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
    -- This is a plain yield: the task continues in the next turn.
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

--- Checks that a task is running and can wait, and returns it.
core.check_task = running_task

--- Waits as `wait` does, in the task that calls the named function.
function core.wait(name, arm) return wait(running_task(name), arm) end

local function awaited(ok, ...)
  -- Raised here, the error has the place of the call that waited.
  if not ok then core.raise_failure() end
  return ...
end

--- Makes the host program's function with which a task waits for a result. `start` receives a
--- function that wakes the task, and the arguments; it returns a function that cancels the wait.
--- The task is woken with true and the results, or with false and a failure for `raise_failure`.
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

--- From now on nothing wakes the tasks of a module; returns a function that cancels them. The
--- running task is cancelled when it next waits.
function core.detach_tasks(module)
  local stopped, own = {}, tasks[coroutine_running()]
  if own and owners[own] >> 32 == module then core.cancel_running(own) end
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
          if waiter == finished then remove(waiters, i) break end
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
core.classes[#core.classes + 1] = Task

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
