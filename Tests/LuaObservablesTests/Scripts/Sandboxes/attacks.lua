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

local attacks = {
  -- Observing.
  observe = function()
    for _ = 1, 100 do watcher { immediate = true } end
    obs.observe(shared, "v", endless)
    storm(function(i) shared.v = i end)
  end,
  stop = function()
    assert(obs.stop(shared) == 0 and obs.stop(shared, "v") == 0 and obs.stop(document) == 0)
    assert(obs.stop(shared, { "v", "double", "z" }) == 0 and obs.stop(shared.list) == 0)
    assert(obs.stop(shared, { observer = shared }) == 0 and obs.stop(shared.sub) == 0)
    assert(obs.stop(shared, { callback = print }) == 0)
    watcher()
    assert(obs.stop(shared) == 1)
  end,
  batch = function()
    obs.batch(function() storm(function(i) shared.v, shared.w = i, i end) end)
  end,
  bind = function()
    local source = { v = 1 }
    obs.bind(shared, source, "v"):stop()
    obs.bind(shared, source, "v")
    storm(function(i)
      source.v = i
      obs.flush()
    end)
  end,
  scope = function()
    local scope = obs.scope(function() shared.w = (shared.w or 0) + 1 end)
    assert(#scope.members == 0)
    scope:stop()
  end,
  -- Collections.
  copy_of = function()
    refused(obs.copy_of, shared, "double", "list")
    obs.copy_of(shared, "copy", "list")
    storm(function(i)
      shared.list:append(i)
      shared.list:remove()
      local _ = shared.copy
    end)
  end,
  observe_edits = function()
    obs.observe_edits(shared.list, endless, { immediate = true })
    shared.list:append(1)
  end,
  observe_keys = function()
    obs.observe_keys(shared, { "v", "w" }, endless)
    storm(function(i)
      shared.v = i
      obs.flush()
    end)
  end,
  -- Lazy properties.
  lazy = function()
    refused(obs.lazy, shared, "double", endless)
    obs.lazy(shared, "z", endless)
  end,
  computed = function()
    refused(obs.computed, shared, "double", { "v" }, endless)
    obs.computed(shared, "z", { "v" }, endless)
    obs.observe(shared, "z", print, { immediate = true })
    storm(function(i)
      shared.v = i
      obs.flush()
    end)
  end,
  forget = function()
    refused(obs.forget, shared)
    refused(obs.forget, shared, "double")
  end,
  backed = function()
    local store = { double = 1, z = 2 }
    refused(obs.backed, shared, "double", store)
    obs.backed(shared, "z", setmetatable({}, { __index = endless }))
  end,
  model = function()
    local Model = obs.model("Model", { v = 1, twice = obs.computed({ "v" }, endless) })
    obs.model("Account", { pin = 0, check = endless })
    shared.z = Model {}
    obs.observe(shared, "z.twice", print)
  end,
  -- Watching the watchers.
  observed_keys = function()
    hides(table.concat(obs.observed_keys(shared), " "))
    storm(function() obs.observed_keys(shared) end)
  end,
  on_observed = function()
    obs.on_observed(shared, endless)
    obs.on_observed(shared, nil)
    obs.on_observed(shared, function() end)
    storm(function() obs.observe(shared, "other", print):stop() end)
  end,
  describe = function()
    local text = hides(obs.describe(shared))
    assert(text:find("another script", 1, true), text)
    hides(obs.describe(document))
    storm(function() obs.describe(shared) end)
  end,
  graph = function()
    for _, format in ipairs { "dot", "json", "mermaid" } do
      assert(hides(obs.graph(shared, format)):find("another script", 1, true))
    end
    storm(function() obs.graph({ shared, document }) end)
  end,
  why = function()
    assert(refused(obs.why, given):find "another script")
    refused(obs.why, shared)
  end,
  whynot = function()
    assert(refused(obs.whynot, given):find "another script")
    refused(obs.whynot, shared)
  end,
  log = function()
    obs.log(endless)
    obs.log(nil)
    obs.log(function() shared.v = shared.v + 1 end)
    storm(function(i) shared.v = i end)
  end,
  record = function()
    obs.record(true)
    obs.record(false)
  end,
  start_recording = function() refused(obs.start_recording, "file") end,
  inspect = function() refused(obs.inspect) end,
  mirror = function() refused(obs.mirror, {}, "name", { url = "redis://127.0.0.1:1" }) end,
  on_reload = function() obs.on_reload(endless) end,
  break_on_change = function() refused(obs.break_on_change, shared, "v") end,
  limits = function()
    obs.limits { watchers = 1, timers = 1, tasks = 1, path_components = 1 }
    refused(obs.limits, { retrigger_turns = 1 })
    refused(obs.limits, { immediate_depth = 1 })
  end,
  native = function() refused(obs.native, { luv = false }) end,
  -- Changes.
  changes = function()
    refused(function()
      for _ = 1, 200 do obs.changes(shared.sub, endless, { site = true }) end
    end)
    storm(function(i)
      shared.sub.y = i
      obs.flush()
    end)
  end,
  apply = function()
    local account = { path = { "z" }, kind = "set", old = shared.z, new = {}, model = "Account" }
    assert(refused(obs.apply, shared, { account }):find "there is no model 'Account' here")
    account.model = "Paper"
    assert(refused(obs.apply, shared, { account }):find "there is no model 'Paper' here")
    storm(function(i)
      obs.apply(shared, { { path = { "v" }, kind = "set", old = shared.v, new = -i } })
    end)
  end,
  history = function()
    local histories = {}
    refused(function()
      for i = 1, 100 do histories[i] = obs.history(shared.sub) end
    end)
    obs.observe(shared.sub, "y", function()
      for i = 1, #histories do histories[i]:undo() end
    end)
    obs.after(0, function() histories[1]:undo() end)
  end,
  opaque = function()
    assert(refused(obs.opaque, shared.sub):find "another script")
    refused(obs.opaque, shared)
  end,
  abort = function()
    refused(obs.abort)
    obs.observe(shared, "v", function() pcall(obs.abort, "no") end, { immediate = true })
  end,
  -- The loop.
  after = function()
    for _ = 1, 100 do obs.after(0, endless) end
    refused(function() storm(function() obs.after(1000, endless) end) end)
  end,
  every = function()
    obs.every(0.5, function() shared.v = shared.v + 1 end)
    obs.every(0.5, endless)
  end,
  next_turn = function()
    local count = 0
    local function again()
      count = count + 1
      if count < 10 then obs.next_turn(again) end
      storm(function(i) shared.v = i end)
    end
    again()
  end,
  on_readable = function() refused(obs.on_readable, 0, endless) end,
  on_writable = function() refused(obs.on_writable, 1, endless) end,
  task = function()
    obs.task(function()
      obs.sleep(0)
      endless()
    end)
    refused(function()
      storm(function() obs.task(function() obs.sleep(100) end) end)
    end)
  end,
  sleep = function() obs.task(function() storm(function() obs.sleep(0.2) end) end) end,
  next_change = function()
    obs.task(function()
      for _ = 1, 20 do
        obs.next_change(shared, "v")
        shared.v = shared.v + 1
      end
    end)
    shared.v = shared.v + 1
  end,
  await = function()
    obs.task(function()
      obs.await(function(done)
        for _ = 1, 100 do done() end
      end)
    end)
    -- The coroutine in which another script is called back belongs to that script.
    local thread
    obs.observe(shared, "beat", function() thread = coroutine.running() end, { immediate = true })
    obs.after(1.5, function()
      pcall(coroutine.close, thread)
      pcall(coroutine.resume, thread)
    end)
  end,
  on_error = function()
    obs.on_error(endless)
    obs.observe(shared, "v", function() error "no" end, { immediate = true })
    storm(function(i) shared.v = i end)
  end,
  on_exit = function() obs.on_exit(endless) end,
  -- Methods.
  ["Watcher:stop"] = function() watcher():stop() end,
  ["Watcher:pause"] = function()
    local w = watcher { immediate = true }
    storm(function(i)
      w:pause()
      shared.v = i
      w:resume()
    end)
  end,
  ["Watcher:observe"] = function()
    local w = watcher()
    storm(function(i) w:observe("path" .. i) end)
  end,
  ["Watcher:run"] = function()
    local w = obs.observe(shared, "v", function() shared.v = shared.v + 1 end)
    storm(function() w:run() end)
  end,
  ["Watcher:schedule"] = function()
    local w
    w = obs.observe(shared, "v", function()
      shared.v = shared.v + 1
      w:schedule()
    end)
    w:schedule()
  end,
  ["Watcher:snapshot"] = function()
    refused(given.snapshot, given)
    local w = obs.changes(shared, function() end, { skip = "x" })
    local change = { path = { "v" }, kind = "set", old = shared.v, new = 2 }
    obs.apply(shared, { change }, { origin = "x" })
    local kept = {}
    while true do kept[#kept + 1] = w:snapshot() end
  end,
  ["Watcher:break_on_change"] = function()
    local w = watcher()
    refused(w.break_on_change, w)
  end,
  ["Watcher:break_on_call"] = function()
    local w = watcher()
    refused(w.break_on_call, w)
  end,
  ["Scope:add"] = function()
    local scope = obs.scope(function() end)
    scope:add(function() shared.v = 1 end)
    scope:stop()
  end,
  ["Timer:ref"] = function() obs.every(0.5, endless):ref() end,
  ["Timer:unref"] = function() obs.every(0.5, endless):unref() end,
  ["Task:await"] = function()
    obs.task(function()
      local task = obs.task(function() obs.sleep(0.5) end)
      task:await()
      endless()
    end)
  end,
  ["Task:cancel"] = function()
    local task = obs.task(function()
      local _ <close> = setmetatable({}, { __close = endless })
      obs.sleep(10)
    end)
    task:cancel()
  end,
}

-- Calls that are repeated until a limit ends them; each gets its number.
for name, body in pairs {
  -- Observing.
  path = function(i) shared[obs.path("v")] = i end,
  get = function() obs.get(shared, "double") end,
  set = function(i) obs.set(shared, "v", i) end,
  trigger = function() obs.trigger(shared, "v") end,
  flush = function(i)
    shared.v = i
    document.title = "title " .. i
    obs.flush()
  end,
  -- Collections.
  array = function() obs.array { 1, 2, 3 } end,
  dictionary = function() obs.dictionary { a = 1 } end,
  set_of = function() obs.set_of { 1 } end,
  clear = function()
    obs.clear(shared.list)
    shared.list:append(1)
  end,
  assign = function(i) obs.assign(shared.list, { i }) end,
  -- Lazy properties.
  invalidate = function()
    obs.invalidate(shared)
    local _ = shared.double
  end,
  is_valid = function() obs.is_valid(shared, "double") end,
  valid_names = function() obs.valid_names(shared) end,
  invalid_names = function() obs.invalid_names(shared) end,
  force = function(i)
    shared.v = i
    pcall(obs.force, shared)
  end,
  peek = function() obs.peek(shared, "double") end,
  -- Watching the watchers.
  observer_count = function() obs.observer_count(shared, "v") end,
  reload = function() obs.reload "missing" end,
  state = function(i) obs.state("s" .. i, { i }) end,
  stats = function() obs.stats() end,
  raw = function() obs.raw(shared, { computed = true }) end,
  -- Changes.
  invert = function(i)
    obs.apply(shared, obs.invert { { path = { "v" }, kind = "set", old = i, new = shared.v } })
  end,
  diff = function() obs.diff(shared, { v = 1 }) end,
  merge = function(i) obs.merge(shared.sub, { y = i }) end,
  transaction = function(i)
    obs.transaction({ shared, document }, function()
      shared.v, document.title = i, "title " .. i
      error "no"
    end)
  end,
  -- The loop.
  now = function() obs.now() end,
  -- Methods.
  ["Timer:stop"] = function() obs.after(1, endless):stop() end,
} do
  attacks[name] = function() storm(body) end
end

local function on_list(method)
  return function()
    storm(function(i)
      method(shared.list, i)
      if #shared.list > 5 then shared.list:clear() end
    end)
  end
end

local function on_set(method)
  return function()
    local set = obs.set_of { 1, 2 }
    shared.z = set
    obs.observe(shared, "z.count", function() set:clear() end, { immediate = true })
    storm(function(i) method(set, i % 10) end)
  end
end

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

-- Methods of objects that both scripts can see.
for name, method in pairs {
  append = function(l, i) l:append(i) end,
  insert = function(l, i) l:insert(1, i) end,
  remove = function(l) l:append(1) l:remove() end,
  remove_value = function(l, i) l:append(i) l:remove_value(i) end,
  replace = function(l, i) l:append(i) l:replace(1, -i) end,
  move = function(l, i) l:append(i) l:move(1, #l) end,
  swap = function(l, i) l:append(i) l:swap(1, #l) end,
  sort = function(l, i) l:append(-i) l:sort() end,
  reverse = function(l, i) l:append(i) l:reverse() end,
  clear = function(l, i) l:append(i) l:clear() end,
  set = function(l, i) l:set { i } end,
  index_of = function(l, i) l:index_of(i) end,
} do
  attacks["Array:" .. name] = on_list(method)
end
for name, method in pairs {
  add = function(s, i) s:add(i) end,
  remove = function(s, i) s:add(i) s:remove(i) end,
  contains = function(s, i) s:contains(i) end,
  union = function(s, i) s:union { i } end,
  intersect = function(s, i) s:intersect { i } end,
  subtract = function(s, i) s:subtract { i } end,
  clear = function(s, i) s:add(i) s:clear() end,
  key_of = function(s, i) s:key_of(i) end,
  object_for = function(s, i) s:object_for(s:key_of(i)) end,
  values = function(s) for _ in s:values() do end end,
} do
  attacks["Set:" .. name] = on_set(method)
end
for name, method in pairs {
  undo = function(h) h:undo() end,
  redo = function(h) h:undo() h:redo() end,
  mark = function(h) h:mark "m" h:undo "m" end,
  begin = function(h) h:begin() h:commit() end,
  clear = function(h) h:clear() end,
  stop = function(h) h:stop() end,
} do
  attacks["History:" .. name] = on_history(method)
end

-- Functions and methods that are tried together. Only scripts that have `io` can handle
-- descriptors.
for name, others in pairs {
  start_recording = { "Recording:stop", "Recording:is_active" },
  inspect = { "Inspector:stop" },
  mirror = { "Mirror:stop", "Mirror:synced", "Mirror:add" },
  ["Watcher:pause"] = { "Watcher:resume" },
  scope = { "Scope:stop" },
  ["History:begin"] = { "History:commit" },
  on_readable = { "Handler:stop", "Handler:ref", "Handler:unref" },
  ["Task:cancel"] = { "Task:stop" },
} do
  for _, other in ipairs(others) do attacks[other] = attacks[name] end
end

return attacks
