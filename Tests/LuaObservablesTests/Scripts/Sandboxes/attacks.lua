-- Attempts of a script to harm its neighbour with each function of `obs` and each method, by the
-- name of the function. Both scripts have `shared` and `document`. A limit ends most attacks.
local obs = require "obs"

local function endless()
  while true do end
end

local function storm(body)
  local i = 0
  while true do
    i = i + 1
    body(i)
  end
end

-- Checks that a call is rejected.
local function refused(body, ...)
  local ok, message = pcall(body, ...)
  assert(not ok, "not refused")
  return tostring(message)
end

local function hides(text)
  assert(not text:find("secret", 1, true) and not text:find("victim", 1, true), text)
  return text
end

-- A watcher of this script that can be stopped.
local function watcher(options)
  return obs.observe(shared, "v", function() end, options)
end

local attacks = {}

-- Observing --------------------------------------------------------------------------------------

function attacks.observe()
  for _ = 1, 100 do watcher { immediate = true } end
  obs.observe(shared, "v", endless)
  storm(function(i) shared.v = i end)
end

function attacks.stop()
  assert(obs.stop(shared) == 0 and obs.stop(shared, "v") == 0 and obs.stop(document) == 0)
  assert(obs.stop(shared, { "v", "double", "z" }) == 0 and obs.stop(shared.list) == 0)
  assert(obs.stop(shared, { observer = shared }) == 0 and obs.stop(shared.sub) == 0)
  assert(obs.stop(shared, { callback = print }) == 0)
  watcher()
  assert(obs.stop(shared) == 1)
end

function attacks.path() storm(function(i) shared[obs.path("v")] = i end) end
function attacks.get() storm(function() obs.get(shared, "double") end) end
function attacks.set() storm(function(i) obs.set(shared, "v", i) end) end
function attacks.trigger() storm(function() obs.trigger(shared, "v") end) end

function attacks.batch()
  obs.batch(function() storm(function(i) shared.v, shared.w = i, i end) end)
end

function attacks.flush()
  storm(function(i)
    shared.v = i
    document.title = "title " .. i
    obs.flush()
  end)
end

function attacks.bind()
  local source = { v = 1 }
  obs.bind(shared, source, "v"):stop()
  obs.bind(shared, source, "v")
  storm(function(i)
    source.v = i
    obs.flush()
  end)
end

function attacks.scope()
  local scope = obs.scope(function() shared.w = (shared.w or 0) + 1 end)
  assert(#scope.members == 0)
  scope:stop()
end

-- Collections ------------------------------------------------------------------------------------

function attacks.array() storm(function() obs.array { 1, 2, 3 } end) end
function attacks.dictionary() storm(function() obs.dictionary { a = 1 } end) end
function attacks.set_of() storm(function() obs.set_of { 1 } end) end

function attacks.clear()
  storm(function()
    obs.clear(shared.list)
    shared.list:append(1)
  end)
end

function attacks.assign() storm(function(i) obs.assign(shared.list, { i }) end) end

function attacks.copy_of()
  refused(obs.copy_of, shared, "double", "list")
  obs.copy_of(shared, "copy", "list")
  storm(function(i)
    shared.list:append(i)
    shared.list:remove()
    local _ = shared.copy
  end)
end

function attacks.observe_edits()
  obs.observe_edits(shared.list, endless, { immediate = true })
  shared.list:append(1)
end

function attacks.observe_keys()
  obs.observe_keys(shared, { "v", "w" }, endless)
  storm(function(i)
    shared.v = i
    obs.flush()
  end)
end

-- Lazy properties --------------------------------------------------------------------------------

function attacks.lazy()
  refused(obs.lazy, shared, "double", endless)
  obs.lazy(shared, "z", endless)
end

function attacks.computed()
  refused(obs.computed, shared, "double", { "v" }, endless)
  obs.computed(shared, "z", { "v" }, endless)
  obs.observe(shared, "z", print, { immediate = true })
  storm(function(i)
    shared.v = i
    obs.flush()
  end)
end

function attacks.invalidate()
  storm(function()
    obs.invalidate(shared)
    local _ = shared.double
  end)
end

function attacks.is_valid() storm(function() obs.is_valid(shared, "double") end) end
function attacks.valid_names() storm(function() obs.valid_names(shared) end) end
function attacks.invalid_names() storm(function() obs.invalid_names(shared) end) end

function attacks.forget()
  refused(obs.forget, shared)
  refused(obs.forget, shared, "double")
end

function attacks.force()
  storm(function(i)
    shared.v = i
    pcall(obs.force, shared)
  end)
end

function attacks.peek() storm(function() obs.peek(shared, "double") end) end

function attacks.backed()
  local store = { double = 1, z = 2 }
  refused(obs.backed, shared, "double", store)
  obs.backed(shared, "z", setmetatable({}, { __index = endless }))
end

function attacks.model()
  local Model = obs.model("Model", { v = 1, twice = obs.computed({ "v" }, endless) })
  obs.model("Account", { pin = 0, check = endless })
  shared.z = Model {}
  obs.observe(shared, "z.twice", print)
end

-- Watching the watchers --------------------------------------------------------------------------

function attacks.observed_keys()
  hides(table.concat(obs.observed_keys(shared), " "))
  storm(function() obs.observed_keys(shared) end)
end

function attacks.observer_count() storm(function() obs.observer_count(shared, "v") end) end

function attacks.on_observed()
  obs.on_observed(shared, endless)
  obs.on_observed(shared, nil)
  obs.on_observed(shared, function() end)
  storm(function() obs.observe(shared, "other", print):stop() end)
end

function attacks.describe()
  local text = hides(obs.describe(shared))
  assert(text:find("another script", 1, true), text)
  hides(obs.describe(document))
  storm(function() obs.describe(shared) end)
end

function attacks.graph()
  for _, format in ipairs { "dot", "json", "mermaid" } do
    assert(hides(obs.graph(shared, format)):find("another script", 1, true))
  end
  storm(function() obs.graph({ shared, document }) end)
end

function attacks.why()
  assert(refused(obs.why, given):find "another script")
  refused(obs.why, shared)
end

function attacks.whynot()
  assert(refused(obs.whynot, given):find "another script")
  refused(obs.whynot, shared)
end

function attacks.log()
  obs.log(endless)
  obs.log(nil)
  obs.log(function() shared.v = shared.v + 1 end)
  storm(function(i) shared.v = i end)
end

function attacks.record()
  obs.record(true)
  obs.record(false)
end

function attacks.start_recording() refused(obs.start_recording, "file") end
attacks["Recording:stop"] = attacks.start_recording
attacks["Recording:is_active"] = attacks.start_recording

function attacks.inspect() refused(obs.inspect) end
attacks["Inspector:stop"] = attacks.inspect
function attacks.mirror() refused(obs.mirror, {}, "name", { url = "redis://127.0.0.1:1" }) end
attacks["Mirror:stop"] = attacks.mirror
attacks["Mirror:synced"] = attacks.mirror
attacks["Mirror:add"] = attacks.mirror

function attacks.reload() storm(function() obs.reload "missing" end) end
function attacks.state() storm(function(i) obs.state("s" .. i, { i }) end) end
function attacks.on_reload() obs.on_reload(endless) end

function attacks.break_on_change() refused(obs.break_on_change, shared, "v") end

function attacks.limits()
  obs.limits { watchers = 1, timers = 1, tasks = 1, path_components = 1 }
  refused(obs.limits, { retrigger_turns = 1 })
  refused(obs.limits, { immediate_depth = 1 })
end

function attacks.native() refused(obs.native, { luv = false }) end
function attacks.stats() storm(function() obs.stats() end) end
function attacks.raw() storm(function() obs.raw(shared, { computed = true }) end) end

-- Changes ----------------------------------------------------------------------------------------

function attacks.changes()
  refused(function()
    for _ = 1, 200 do obs.changes(shared.sub, endless, { site = true }) end
  end)
  storm(function(i)
    shared.sub.y = i
    obs.flush()
  end)
end

function attacks.apply()
  local account = { path = { "z" }, kind = "set", old = shared.z, new = {}, model = "Account" }
  assert(refused(obs.apply, shared, { account }):find "there is no model 'Account' here")
  account.model = "Paper"
  assert(refused(obs.apply, shared, { account }):find "there is no model 'Paper' here")
  storm(function(i)
    obs.apply(shared, { { path = { "v" }, kind = "set", old = shared.v, new = -i } })
  end)
end

function attacks.invert()
  storm(function(i)
    obs.apply(shared, obs.invert { { path = { "v" }, kind = "set", old = i, new = shared.v } })
  end)
end

function attacks.diff() storm(function() obs.diff(shared, { v = 1 }) end) end
function attacks.merge() storm(function(i) obs.merge(shared.sub, { y = i }) end) end

function attacks.history()
  local histories = {}
  refused(function()
    for i = 1, 100 do histories[i] = obs.history(shared.sub) end
  end)
  obs.observe(shared.sub, "y", function()
    for i = 1, #histories do histories[i]:undo() end
  end)
  obs.after(0, function() histories[1]:undo() end)
end

function attacks.opaque()
  assert(refused(obs.opaque, shared.sub):find "another script")
  refused(obs.opaque, shared)
end

function attacks.transaction()
  storm(function(i)
    obs.transaction({ shared, document }, function()
      shared.v, document.title = i, "title " .. i
      error "no"
    end)
  end)
end

function attacks.abort()
  refused(obs.abort)
  obs.observe(shared, "v", function() pcall(obs.abort, "no") end, { immediate = true })
end

-- The loop ---------------------------------------------------------------------------------------

function attacks.after()
  for _ = 1, 100 do obs.after(0, endless) end
  refused(function() storm(function() obs.after(1000, endless) end) end)
end

function attacks.every()
  obs.every(0.5, function() shared.v = shared.v + 1 end)
  obs.every(0.5, endless)
end

function attacks.next_turn()
  local count = 0
  local function again()
    count = count + 1
    if count < 10 then obs.next_turn(again) end
    storm(function(i) shared.v = i end)
  end
  again()
end

function attacks.now() storm(function() obs.now() end) end
function attacks.on_readable() refused(obs.on_readable, 0, endless) end
function attacks.on_writable() refused(obs.on_writable, 1, endless) end

function attacks.task()
  obs.task(function()
    obs.sleep(0)
    endless()
  end)
  refused(function()
    storm(function() obs.task(function() obs.sleep(100) end) end)
  end)
end

function attacks.sleep() obs.task(function() storm(function() obs.sleep(0.2) end) end) end

function attacks.next_change()
  obs.task(function()
    for _ = 1, 20 do
      obs.next_change(shared, "v")
      shared.v = shared.v + 1
    end
  end)
  shared.v = shared.v + 1
end

function attacks.await()
  obs.task(function()
    obs.await(function(done)
      for _ = 1, 100 do done() end
    end)
  end)
  -- The coroutine on which others are called back belongs to them.
  local thread
  obs.observe(shared, "beat", function() thread = coroutine.running() end, { immediate = true })
  obs.after(1.5, function()
    pcall(coroutine.close, thread)
    pcall(coroutine.resume, thread)
  end)
end

function attacks.on_error()
  obs.on_error(endless)
  obs.observe(shared, "v", function() error "no" end, { immediate = true })
  storm(function(i) shared.v = i end)
end

function attacks.on_exit() obs.on_exit(endless) end

-- Methods ----------------------------------------------------------------------------------------

attacks["Watcher:stop"] = function() watcher():stop() end

attacks["Watcher:pause"] = function()
  local w = watcher { immediate = true }
  storm(function(i)
    w:pause()
    shared.v = i
    w:resume()
  end)
end
attacks["Watcher:resume"] = attacks["Watcher:pause"]

attacks["Watcher:observe"] = function()
  local w = watcher()
  storm(function(i) w:observe("path" .. i) end)
end

attacks["Watcher:run"] = function()
  local w = obs.observe(shared, "v", function() shared.v = shared.v + 1 end)
  storm(function() w:run() end)
end

attacks["Watcher:schedule"] = function()
  local w
  w = obs.observe(shared, "v", function()
    shared.v = shared.v + 1
    w:schedule()
  end)
  w:schedule()
end

attacks["Watcher:snapshot"] = function()
  refused(given.snapshot, given)
  local w = obs.changes(shared, function() end, { skip = "x" })
  obs.apply(shared, { { path = { "v" }, kind = "set", old = shared.v, new = 2 } }, { origin = "x" })
  local kept = {}
  while true do kept[#kept + 1] = w:snapshot() end
end

attacks["Watcher:break_on_change"] = function()
  local w = watcher()
  refused(w.break_on_change, w)
end

attacks["Watcher:break_on_call"] = function()
  local w = watcher()
  refused(w.break_on_call, w)
end

attacks["Scope:stop"] = attacks.scope
attacks["Scope:add"] = function()
  local scope = obs.scope(function() end)
  scope:add(function() shared.v = 1 end)
  scope:stop()
end

local function on_list(method)
  return function()
    storm(function(i)
      method(shared.list, i)
      if #shared.list > 5 then shared.list:clear() end
    end)
  end
end

attacks["Array:append"] = on_list(function(l, i) l:append(i) end)
attacks["Array:insert"] = on_list(function(l, i) l:insert(1, i) end)
attacks["Array:remove"] = on_list(function(l) l:append(1) l:remove() end)
attacks["Array:remove_value"] = on_list(function(l, i) l:append(i) l:remove_value(i) end)
attacks["Array:replace"] = on_list(function(l, i) l:append(i) l:replace(1, -i) end)
attacks["Array:move"] = on_list(function(l, i) l:append(i) l:move(1, #l) end)
attacks["Array:swap"] = on_list(function(l, i) l:append(i) l:swap(1, #l) end)
attacks["Array:sort"] = on_list(function(l, i) l:append(-i) l:sort() end)
attacks["Array:reverse"] = on_list(function(l, i) l:append(i) l:reverse() end)
attacks["Array:clear"] = on_list(function(l, i) l:append(i) l:clear() end)
attacks["Array:set"] = on_list(function(l, i) l:set { i } end)
attacks["Array:index_of"] = on_list(function(l, i) l:index_of(i) end)

local function on_set(method)
  return function()
    local set = obs.set_of { 1, 2 }
    shared.z = set
    obs.observe(shared, "z.count", function() set:clear() end, { immediate = true })
    storm(function(i) method(set, i % 10) end)
  end
end

attacks["Set:add"] = on_set(function(s, i) s:add(i) end)
attacks["Set:remove"] = on_set(function(s, i) s:add(i) s:remove(i) end)
attacks["Set:contains"] = on_set(function(s, i) s:contains(i) end)
attacks["Set:union"] = on_set(function(s, i) s:union { i } end)
attacks["Set:intersect"] = on_set(function(s, i) s:intersect { i } end)
attacks["Set:subtract"] = on_set(function(s, i) s:subtract { i } end)
attacks["Set:clear"] = on_set(function(s, i) s:add(i) s:clear() end)
attacks["Set:key_of"] = on_set(function(s, i) s:key_of(i) end)
attacks["Set:object_for"] = on_set(function(s, i) s:object_for(s:key_of(i)) end)
attacks["Set:values"] = on_set(function(s) for _ in s:values() do end end)

local function on_history(method)
  return function()
    local history = obs.history(shared.sub)
    obs.every(0.5, function() method(history) end)
    obs.observe(shared.sub, "y", function() method(history) end)
    storm(function(i)
      shared.sub.y = i
      method(history)
    end)
  end
end

attacks["History:undo"] = on_history(function(h) h:undo() end)
attacks["History:redo"] = on_history(function(h) h:undo() h:redo() end)
attacks["History:mark"] = on_history(function(h) h:mark "m" h:undo "m" end)
attacks["History:begin"] = on_history(function(h) h:begin() h:commit() end)
attacks["History:commit"] = attacks["History:begin"]
attacks["History:clear"] = on_history(function(h) h:clear() end)
attacks["History:stop"] = on_history(function(h) h:stop() end)

attacks["Timer:stop"] = function() storm(function() obs.after(1, endless):stop() end) end
attacks["Timer:ref"] = function() obs.every(0.5, endless):ref() end
attacks["Timer:unref"] = function() obs.every(0.5, endless):unref() end

-- Only scripts that have `io` can handle descriptors.
attacks["Handler:stop"] = attacks.on_readable
attacks["Handler:ref"] = attacks.on_readable
attacks["Handler:unref"] = attacks.on_readable

attacks["Task:await"] = function()
  obs.task(function()
    local task = obs.task(function() obs.sleep(0.5) end)
    task:await()
    endless()
  end)
end

attacks["Task:cancel"] = function()
  local task = obs.task(function()
    local _ <close> = setmetatable({}, { __close = endless })
    obs.sleep(10)
  end)
  task:cancel()
end
attacks["Task:stop"] = attacks["Task:cancel"]

return attacks
