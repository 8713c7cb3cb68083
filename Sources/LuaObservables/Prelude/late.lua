-- Slices that not every script needs: each group is compiled at the first call of one of its
-- functions.
local core, obs = ...

local assert, error, pcall, rawget, setmetatable = assert, error, pcall, rawget, setmetatable
-- Loops with `each` are not tracked as reads.
local classes, lazy_keys, each, raise, redirect, run_late =
  core.classes, core.lazy_keys, core.next, core.raise, core.redirect, core.run_late
local set_object_methods = core.set_object_methods

-- The functions of each group. Swift knows which slices belong to a group.
local groups = {
  backed = { "backed" },
  bind = { "bind" },
  collections = { "assign", "clear", "copy_of", "observe_edits", "observe_keys", "raw" },
  events = {},
  graph = { "describe", "graph" },
  inspecting = { "inspect" },
  lazy = {
    "computed", "force", "forget", "invalid_names", "invalidate", "is_valid", "lazy", "peek",
    "valid_names",
  },
  luv = {},
  mirrors = { "mirror" },
  models = { "model" },
  native = { "native" },
  options = {},
  reading = { "get", "set" },
  recording = { "start_recording" },
  reload = { "on_reload", "reload", "state" },
  tasks = { "await", "next_change", "sleep", "task" },
  trees = { "abort", "apply", "changes", "diff", "history", "invert", "merge", "transaction" },
}

-- Groups that need other groups.
local needed = {
  backed = { "lazy" }, collections = { "lazy" }, inspecting = { "options" },
  mirrors = { "tasks", "trees" }, models = { "lazy" }, recording = { "options" },
  reload = { "collections", "lazy", "tasks" }, trees = { "lazy", "options" },
}

-- The most arguments of functions that count theirs, so nil is not the same as none.
local most = { computed = 4, graph = 2, is_valid = 2, lazy = 3, peek = 2 }

-- The library functions that these slices use, read before any script can replace them.
local globals = {
  assert = assert, error = error, getmetatable = getmetatable, ipairs = ipairs, next = next,
  package = package, pairs = pairs, pcall = pcall, rawequal = rawequal, rawget = rawget,
  rawlen = rawlen, rawset = rawset, select = select, setmetatable = setmetatable,
  tostring = tostring, type = type,
  coroutine = {
    close = coroutine.close, create = coroutine.create, isyieldable = coroutine.isyieldable,
    resume = coroutine.resume, running = coroutine.running, status = coroutine.status,
    yield = coroutine.yield,
  },
  string = {
    find = string.find, format = string.format, match = string.match, pack = string.pack,
    sub = string.sub, unpack = string.unpack,
  },
  table = {
    concat = table.concat, insert = table.insert, move = table.move, pack = table.pack,
    remove = table.remove, sort = table.sort, unpack = table.unpack,
  },
}

-- The definitions of the slices, which find everything else in the module.
local functions = setmetatable({}, { __index = obs })

-- The module's functions that call them, by name.
local callers = {}

local is_loaded = {}

local function run(group, known)
  run_late(group, functions, globals)
  for i = known + 1, #classes do core.outward(classes[i].__index, 1) end
  for _, name in each, groups[group] do
    redirect(callers[name], rawget(functions, name), most[name])
  end
end

-- Loads a group. If this fails for lack of memory, the next call tries again.
local function load(group)
  if is_loaded[group] then return end
  for _, other in each, needed[group] or {} do load(other) end
  local known = #classes
  local ok, message = pcall(run, group, known)
  if not ok then
    for i = #classes, known + 1, -1 do classes[i] = nil end
    error(message, 0)
  end
  is_loaded[group] = true
end

--- Loads a group, or all of them.
function core.load(group)
  if group then return load(group) end
  for each_group in each, groups do load(each_group) end
end

-- A function that loads the group and calls the function of this name in `loaded`: the definition,
-- or a function that calls it.
local function late(group, loaded, name)
  return function(...)
    load(group)
    return loaded[name](...)
  end
end

for group, names in each, groups do
  for _, name in each, names do obs[name] = late(group, callers, name) end
end

-- Calls of this function can be nested deeper than calls from C, so it has no caller in C that
-- could be redirected.
obs.task = late("tasks", functions, "task")

-- Functions that the host program calls.
for _, name in each, { "awaiting", "call_in_task", "live_tasks" } do
  core[name] = late("tasks", core, name)
end

-- Before the first task, none is running.
function core.cancel_running() return false end

--- Called after the module has the functions that scripts will find; loading a group redirects
--- them.
function core.note_callers()
  for _, names in each, groups do
    for _, name in each, names do callers[name] = obs[name] end
  end
end

-- Methods of collections of the host program.
core.HostArray, core.HostSet = {}, {}

local function late_methods(loaded, names)
  local methods = {}
  for _, name in each, names do methods[name] = late("collections", loaded, name) end
  return methods
end

set_object_methods(
  late_methods(core.HostArray, { "set", "sort" }),
  late_methods(core.HostSet, { "values", "union", "intersect", "subtract" }))

-- Means nil in the body of a model.
local None = { __name = "obs.none", __metatable = false }
function None.__tostring() return "obs.none" end
function None.__newindex() raise "obs.none cannot be changed" end
core.none = setmetatable({}, None)
obs.none = core.none

-- Before the first model, no object is an instance of one.
local none = {}
function core.model_named() end
function core.instantiate() end
function core.forgotten() end
function core.check_own_dependencies() end
function core.derived_keys(object) return lazy_keys(object) or none end

-- Before the first transaction, nothing has to be restored.
function core.witness() end

return obs
