-- Calls and values for comparing the definitions with the running module. The calls run in a task.

local obs = require "obs"
local samples = {}

local function noop() end

local function person() return { name = "Ada", age = 36, tags = { "b", "a" } } end

local function watcher() return obs.observe(person(), "name", noop) end

local function lazy_person()
  local person = person()
  obs.lazy(person, "key", function() return "ada" end)
  return person
end

local function handler()
  local made = obs.on_readable(0, noop)
  made:stop()
  return made
end

local function recording()
  local path = os.tmpname()
  local made = assert(obs.start_recording(path))
  os.remove(path)
  return made
end

local function inspector() return assert(obs.inspect {}) end

local mirrors = 0
-- No server is at this address.
local function mirror(options)
  mirrors = mirrors + 1
  options = options or {}
  options.url = options.url or "redis://127.0.0.1:1"
  return obs.mirror(person(), "m" .. mirrors, options)
end

-- Instances, whose methods are compared with the declarations of their class.
samples.instances = {
  ["obs.Watcher"] = watcher(), ["obs.Timer"] = obs.next_turn(noop),
  ["obs.Scope"] = obs.scope(noop), ["obs.Task"] = obs.task(noop),
  ["obs.Handler"] = handler(), ["obs.History"] = obs.history(person()),
  ["obs.Array"] = obs.array { 1 }, ["obs.Set"] = obs.set_of { 1 },
  ["obs.Recording"] = recording(), ["obs.Inspector"] = inspector(), ["obs.Mirror"] = mirror(),
}

--- Whether a table is of a class that has no name at run time.
function samples.is_of(class, value)
  if class == "obs.Model" then
    local meta = getmetatable(value)
    return meta ~= nil and meta.__call ~= nil
  end
  return false
end

-- Calls by the names of their functions. Each returns the results of the function.
local calls = {}
samples.calls = calls

local function method(class, name, make, ...)
  local arguments = table.pack(...)
  calls[class .. ":" .. name] = function()
    local object = make()
    return object[name](object, table.unpack(arguments, 1, arguments.n))
  end
end

local function call(name, make)
  calls["obs." .. name] = function() return obs[name](make()) end
end

call("observe", function() return person(), "name", noop end)
call("stop", function() return person() end)
call("path", function() return "a", 1 end)
call("get", function() return person(), "name" end)
call("set", function() return person(), "name", "Grace" end)
call("trigger", function() return person(), "name" end)
call("batch", function() return function(...) return ... end, 1, 2 end)
call("bind", function() return {}, person(), { "name" } end)
call("scope", function() return noop end)
call("flush", noop)
for _, name in ipairs { "stop", "pause", "resume", "run", "schedule" } do
  method("obs.Watcher", name, watcher)
end
method("obs.Watcher", "observe", watcher, "age")
method("obs.Watcher", "break_on_change", watcher)
method("obs.Watcher", "break_on_call", watcher)
local function scope() return obs.scope(noop) end
method("obs.Scope", "stop", scope)
method("obs.Scope", "add", scope, noop)

local function array() return obs.array { 3, 1, 2 } end
method("obs.Array", "append", array, 4)
method("obs.Array", "insert", array, 1, 4)
method("obs.Array", "remove", array)
method("obs.Array", "remove_value", array, 3)
method("obs.Array", "replace", array, 1, 4)
method("obs.Array", "move", array, 1, 3)
method("obs.Array", "swap", array, 1, 3)
method("obs.Array", "sort", array)
method("obs.Array", "reverse", array)
method("obs.Array", "clear", array)
method("obs.Array", "set", array, { 1 })
method("obs.Array", "index_of", array, 1)
local function set() return obs.set_of { "a" } end
for _, name in ipairs { "add", "remove", "contains", "key_of" } do
  method("obs.Set", name, set, "a")
end
for _, name in ipairs { "union", "intersect", "subtract" } do
  method("obs.Set", name, set, { "b" })
end
method("obs.Set", "clear", set)
method("obs.Set", "values", set)
method("obs.Set", "object_for", set, set():key_of "a")
call("array", function() return { 1 } end)
call("dictionary", function() return { a = 1 } end)
call("set_of", function() return { 1 } end)
call("clear", function() return person() end)
call("assign", function() return person(), { name = "Grace" } end)
call("copy_of", function() return person(), "copy", "tags" end)
call("observe_edits", function() return array(), noop end)
call("observe_keys", function() return person(), { "name" }, noop end)

call("lazy", function() return person(), "key", noop end)
call("computed", function() return person(), "key", { "name" }, noop end)
call("invalidate", lazy_person)
call("is_valid", function() return lazy_person(), "key" end)
call("valid_names", lazy_person)
call("invalid_names", lazy_person)
call("forget", lazy_person)
call("force", lazy_person)
call("peek", function() return lazy_person(), "key" end)
call("backed", function() return {}, "name", person() end)
call("model", function() return "Person", { name = "" } end)

call("observed_keys", person)
call("observer_count", function() return person(), "name" end)
call("on_observed", function() return person(), noop end)
call("describe", person)
call("graph", person)
call("why", watcher)
call("whynot", watcher)
call("log", function() return nil end)
call("break_on_change", function() return person(), "name" end)
call("record", function() return true end)
call("limits", function() return nil end)
call("native", function() return { ["no.such.module"] = false } end)
call("stats", noop)
call("native", function() return { unheard_of = false } end)
call("raw", person)

call("after", function() return 0, noop end)
call("every", function() return 1, noop end)
call("next_turn", function() return noop end)
call("now", noop)
local function timer() return obs.after(1, noop) end
for _, name in ipairs { "stop", "ref", "unref" } do method("obs.Timer", name, timer) end
call("task", function() return noop end)
local function task() return obs.task(obs.sleep, 1) end
method("obs.Task", "await", function() return obs.task(function() return 1, "a" end) end)
method("obs.Task", "cancel", task)
method("obs.Task", "stop", task)
call("sleep", function() return 0 end)
call("next_change", function() return person(), "name", 0 end)
call("on_error", function() return nil end)
call("on_exit", function() return noop end)
call("await", function() return function(done) done(1, "a") end end)
call("on_readable", function()
  handler()
  return 0, noop
end)
for _, name in ipairs { "stop", "ref", "unref" } do method("obs.Handler", name, handler) end

call("changes", function() return person(), noop end)
local function changes()
  local before = person()
  local after = obs.raw(before)
  after.name = "Grace"
  return obs.diff(before, after), before
end
call("diff", function() return person(), { name = "Grace" } end)
call("apply", function()
  local made, target = changes()
  return target, made
end)
call("invert", function() return (changes()) end)
call("merge", function() return person(), { name = "Grace" } end)
call("opaque", person)
call("transaction", function() return { person() }, function() return 1 end end)
calls["obs.abort"] = function()
  obs.transaction({ person() }, function() obs.abort "no" end)
end
method("obs.Recording", "stop", recording)
method("obs.Inspector", "stop", inspector)
method("obs.Mirror", "stop", mirror)
method("obs.Mirror", "synced", mirror, 0.01)
calls["obs.Mirror:add"] = function()
  local tree = { visits = 1 }
  return obs.mirror(tree, "numbers", { url = "redis://127.0.0.1:1" }):add(tree, "visits", 1)
end
call("mirror", function() return person(), "m", { url = "redis://127.0.0.1:1" } end)
call("reload", function() return "missing" end)
call("state", function() return "sample", {} end)
calls["obs.on_reload"] = function()
  local chunk = io.open("sampled.lua", "w")
  chunk:write "return require 'obs'.on_reload(function() end)"
  chunk:close()
  require "sampled"
  os.remove "sampled.lua"
end
local function history() return obs.history(person()) end
for _, name in ipairs { "undo", "redo", "begin", "clear", "stop" } do
  method("obs.History", name, history)
end
method("obs.History", "mark", history, "name")
method("obs.History", "commit", function()
  local made = history()
  made:begin()
  return made
end)

-- Tables that the module returns, by their classes.
samples.tables = {}

function samples.tables.Change()
  local change
  local person = person()
  obs.observe(person, "name", function(_, _, given) change = given end, { immediate = true })
  person.name = "Grace"
  return { change }
end

function samples.tables.Edit()
  local list, all = obs.array { 1, 2, 3 }, {}
  obs.observe_edits(list, function(_, edits) table.move(edits, 1, #edits, #all + 1, all) end)
  list:append(4)
  obs.flush()
  list:replace(1, 9)
  obs.flush()
  list:move(1, 3)
  obs.flush()
  list:remove(1)
  obs.flush()
  return all
end

function samples.tables.Cause()
  obs.record(true)
  local person = person()
  obs.computed(person, "label", { "name" }, function(person) return person.name end)
  local watcher = obs.observe(person, "label", noop)
  local _ = person.label
  person.name = "Grace"
  obs.flush()
  return (obs.why(watcher))
end

function samples.tables.DeepChange()
  local all = {}
  local person = person()
  local made = obs.changes(person, function(_, changes)
    table.move(changes, 1, #changes, #all + 1, all)
  end, { site = true })
  person.name = "Grace"
  person.tags[3] = "c"
  person.friend = { name = "Eve" }
  obs.flush()
  person.best = person.friend
  person.tags = nil
  obs.flush()
  made:stop()
  return all
end

function samples.tables.Silence() return { (obs.whynot(watcher())) } end

function samples.tables.Event()
  local events = {}
  obs.log(function(event) events[#events + 1] = event end)
  local person = lazy_person()
  local watcher = obs.observe(person, { "name", "key" }, noop)
  local _ = person.key
  person.name = "Grace"
  obs.invalidate(person)
  obs.flush()
  watcher:stop()
  obs.log(nil)
  return events
end

function samples.tables.Mirror() return { mirror() } end

function samples.tables.Limits() return { obs.limits() } end

function samples.tables.Stats() return { obs.stats() } end

function samples.tables.ErrorPlace()
  local places = {}
  obs.on_error(function(_, where) places[#places + 1] = where end)
  local person = person()
  obs.observe(person, "name", function() error "no" end)
  person.name = "Grace"
  obs.flush()
  obs.task(error, "no")
  obs.on_error(nil)
  return places
end

-- Tables that the module accepts: how to pass them, and a value for each option.
samples.options = {
  ["obs.Options"] = {
    pass = function(options) obs.observe(person(), "name", noop, options) end,
    values = {
      observer = {}, immediate = true, initial = true, once = true, equals = rawequal, name = "n",
      on_end = noop,
    },
  },
  ["obs.StopFilter"] = {
    pass = function(filter) obs.stop(person(), filter) end,
    values = { path = "name", observer = {}, callback = noop },
  },
  ["obs.LazyOptions"] = {
    pass = function(options) obs.lazy(person(), "key", options) end,
    values = {
      get = noop, deps = { "name" }, cached = false, track = true, loader = noop, create = noop,
      configure = noop, with = 1, readonly = true,
    },
  },
  ["obs.RawOptions"] = {
    pass = function(options) obs.raw(person(), options) end, values = { computed = true },
  },
  ["obs.ChangeOptions"] = {
    pass = function(options) obs.changes(person(), noop, options) end,
    values = {
      observer = {}, once = true, name = "n", on_end = noop, path = "tags.**", site = true,
      skip = "editor",
    },
  },
  ["obs.ApplyOptions"] = {
    pass = function(options) obs.apply(person(), {}, options) end,
    values = { force = true, origin = "editor" },
  },
  ["obs.MergeOptions"] = {
    pass = function(options) obs.merge(person(), {}, options) end,
    values = { key = "id", add_only = true },
  },
  ["obs.HistoryOptions"] = {
    pass = function(options) obs.history(person(), options):stop() end,
    values = { limit = 10, group = 0.5 },
  },
  ["obs.MirrorOptions"] = {
    pass = function(options) mirror(options):stop() end,
    values = {
      url = "redis://127.0.0.1:1", write = false, on_rejected = noop, check = true, key = "id",
      journal = os.tmpname(), snapshot = 10, keep = 10, limit = 1 << 20,
    },
  },
  ["obs.Limits"] = {
    pass = function(settings) obs.limits(settings) end,
    values = {
      retrigger_turns = 1000, immediate_depth = 100, watchers = 100000, timers = 100000,
      tasks = 100000, path_components = 10000, chunk_size = 1000000, call_depth = 10000,
    },
  },
}

-- The shorter forms of functions, as the definitions spell them.
samples.overloads = {
  ["obs.computed"] = {
    "fun(target: table, name: any, get: obs.Getter)",
    "fun(deps: obs.Dependencies, get: obs.Getter): obs.Lazy",
    "fun(get: obs.Getter): obs.Lazy",
  },
  ["obs.lazy"] = { "fun(get_or_options: obs.Getter|obs.LazyOptions): obs.Lazy" },
  ["obs.Model"] = { "fun(fields?: table): table" },
}

return samples
