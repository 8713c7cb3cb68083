-- The module `obs`, built from the host's functions in `core`.
local core = ...

local obs = core.module
local begin_batch, call_plainly, end_scope, end_batch =
  core.begin_batch, core.call_plainly, core.close_scope, core.end_batch
local is_host_object, is_path, close_luv, begin_scope =
  core.is_host_object, core.is_path, core.luv.close, core.open_scope
local exact_path, path_parts, path_text, raise, run_exit_hooks, current_sandbox, running_owner =
  core.path, core.path_parts, core.path_text, core.raise, core.run_exit_hooks, core.sandbox,
  core.tasks.owner

-- Functions are read before any script can replace them.
local error, getmetatable, next, pcall, rawget, setmetatable, type =
  error, getmetatable, next, pcall, rawget, setmetatable, type
local coroutine_running, pack, unpack = coroutine.running, table.pack, table.unpack
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
  if getmetatable(self) == class then return end
  if type(self) ~= "table" or not core.is_instance(self, class) then
    bad_argument(1, name, string_format("%s expected, got %s", class.__name,
      self == nil and "no value" or type(self)))
  end
end

local function check_function(value, number, name)
  if type(value) == "function" then return end
  local meta = getmetatable(value)
  if not (type(meta) == "table" and meta.__call) then
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
core.bad_argument, core.check_observed, core.check_function, core.check_self =
  bad_argument, check_observed, check_function, check_self

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

local function stop_member(member)
  local kind = type(member)
  if kind == "function" then return member() end
  if kind == "table" then
    if core.cancel_running(member) then return end
    if type(member.cancel) == "function" then return member:cancel() end
  end
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

core.classes = { Scope }

-- The open scopes, innermost last, with the sandboxes that opened them.
local open_scopes = {}

--- Adds an object with a method `stop` to the innermost open scope of the running sandbox, if any.
--- The innermost scope of all may belong to another sandbox whose code caused this call.
function core.add_to_scope(member)
  local sandbox = #open_scopes > 0 and current_sandbox()
  for i = #open_scopes, 1, -1 do
    local open = open_scopes[i]
    if open.sandbox == sandbox then return open.scope:add(member) end
  end
  return member
end

-- Opens a scope, which may fail halfway, and calls its body.
local function run_scope(open, body)
  open_scopes[open.height + 1] = open
  open.sandbox = begin_scope(open.scope.members)
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
  local scope = setmetatable({ members = {}, stopped = false }, Scope)
  local open = setmetatable(
    { scope = scope, sandbox = false, height = #open_scopes }, scope_end)
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
