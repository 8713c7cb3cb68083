-- One call of a function of the module with an input of some size: arguments are the name of the
-- function, and the size. Prints "ready" before the call, then the CPU time of the turn in
-- milliseconds, and "whole" if the call has returned. Then waits until the process is ended.
local obs = require "obs"
local functions = require "calls"
local list, nothing = functions.list, functions.nothing

local name, size = arg[1], tonumber(arg[2])

-- Watches a collection in all ways; larger inputs get more watchers.
local function heard(collection, size)
  for _ = 1, math.min(1000, size // 100) do
    obs.observe_edits(collection, nothing)
    obs.observe(collection, "*", nothing)
  end
  obs.observe_edits(collection, nothing)
  obs.observe(collection, "@count", nothing)
  return collection
end

-- Calls a method many times in a turn, at whose end the watchers are called.
local function on_array(call)
  return function(size)
    local array = heard(obs.array(list(size)), size)
    for i = 1, math.min(size, 1000) do call(array, i, size) end
  end
end

local function on_set(call)
  return function(size)
    local set = heard(obs.set_of(list(size)), size)
    for i = 1, math.min(size, 1000) do call(set, i, size) end
  end
end

local function on_watcher(call)
  return function(size)
    local t = { list = {} }
    for i = 1, size do t.list[i] = { x = i } end
    local first, last
    for _ = 1, math.min(size, 1000) do
      local watcher = obs.observe(t, "list.*.x", nothing)
      first, last = first or watcher, watcher
    end
    for i = 1, size do t.list[i].x = 0 end
    t.list = { { x = 1 } }
    call(first, t)
    call(last, t)
  end
end

local function on_scope(call)
  return function(size)
    local scope = obs.scope(function() end)
    for i = 1, size do scope:add(obs.observe({ x = i }, "x", nothing)) end
    call(scope)
  end
end

local function on_history(call)
  return function(size)
    local t = { list = {}, array = obs.array {} }
    local history = obs.history(t, { limit = 1000 })
    for step = 1, 10 do
      for i = 1, size // 10 do
        t.list[i] = { step }
        t.array:append(i)
      end
      history:mark("step" .. step)
    end
    call(history)
  end
end

local function on_timer(call)
  return function(size)
    for _ = 1, size do
      local timer = obs.after(1000, nothing)
      call(timer)
      timer:stop()
    end
  end
end

local function on_task(call)
  return function(size)
    for _ = 1, size do
      local task = obs.task(function() obs.sleep(1000) end)
      call(task)
      task:cancel()
    end
  end
end

local methods = {
  ["Watcher:stop"] = on_watcher(function(watcher) watcher:stop() end),
  ["Watcher:pause"] = on_watcher(function(watcher) watcher:pause() end),
  ["Watcher:resume"] = on_watcher(function(watcher) watcher:pause() watcher:resume() end),
  ["Watcher:observe"] = on_watcher(function(watcher) watcher:observe "list.*.y" end),
  ["Watcher:run"] = on_watcher(function(watcher) watcher:run() end),
  ["Watcher:schedule"] = on_watcher(function(watcher) watcher:schedule() end),
  ["Watcher:snapshot"] = function(size)
    local t = { list = list(size) }
    for i = 1, size // 10 do t[i] = { i } end
    local watcher = obs.changes(t, nothing)
    while true do watcher:snapshot() end
  end,
  ["Watcher:break_on_change"] = on_watcher(function(watcher)
    pcall(watcher.break_on_change, watcher)
  end),
  ["Watcher:break_on_call"] = on_watcher(function(watcher)
    pcall(watcher.break_on_call, watcher)
  end),
  ["Scope:stop"] = on_scope(function(scope) scope:stop() end),
  ["Scope:add"] = on_scope(nothing),
  ["Array:append"] = on_array(function(array) array:append(1) end),
  ["Array:insert"] = on_array(function(array) array:insert(1, 1) end),
  ["Array:remove"] = on_array(function(array) array:remove(1) end),
  ["Array:remove_value"] = on_array(function(array, i, size) array:remove_value(size - i) end),
  ["Array:replace"] = on_array(function(array, i) array:replace(i, 0) end),
  ["Array:move"] = on_array(function(array, _, size) array:move(1, size) end),
  ["Array:swap"] = on_array(function(array, _, size) array:swap(1, size) end),
  ["Array:sort"] = on_array(function(array) array:sort(function(a, b) return a > b end) end),
  ["Array:reverse"] = on_array(function(array) array:reverse() end),
  ["Array:clear"] = on_array(function(array) array:clear() end),
  ["Array:set"] = on_array(function(array, _, size) array:set(list(size)) end),
  ["Array:index_of"] = on_array(function(array) array:index_of "none" end),
  ["Set:add"] = on_set(function(set, i, size) set:add(size + i) end),
  ["Set:remove"] = on_set(function(set, i) set:remove(i) end),
  ["Set:contains"] = on_set(function(set, i) set:contains(i) end),
  ["Set:union"] = on_set(function(set, i, size) set:union(list(size + i)) end),
  ["Set:intersect"] = on_set(function(set, i, size) set:intersect(list(size - i)) end),
  ["Set:subtract"] = on_set(function(set, _, size) set:subtract(list(size)) end),
  ["Set:clear"] = on_set(function(set) set:clear() end),
  ["Set:key_of"] = on_set(function(set, i) set:key_of(i) end),
  ["Set:object_for"] = on_set(function(set, i) set:object_for(tostring(i)) end),
  ["Set:values"] = on_set(function(set) set:values() end),
  ["History:undo"] = on_history(function(history) history:undo() end),
  ["History:redo"] = on_history(function(history) history:undo "step1" history:redo() end),
  ["History:mark"] = on_history(function(history) history:mark "last" end),
  ["History:begin"] = on_history(function(history) history:begin "last" end),
  ["History:commit"] = on_history(function(history) history:begin() history:commit() end),
  ["History:clear"] = on_history(function(history) history:clear() end),
  ["History:stop"] = on_history(function(history) history:stop() end),
  ["Timer:stop"] = on_timer(nothing),
  ["Timer:ref"] = on_timer(function(timer) timer:ref() end),
  ["Timer:unref"] = on_timer(function(timer) timer:unref() end),
  ["Task:await"] = on_task(function(task) obs.task(function() task:await(0) end) end),
  ["Task:cancel"] = on_task(function(task) task:cancel() end),
  ["Task:stop"] = on_task(function(task) task:stop() end),
}
-- Safe hosts have no files.
for _, method in ipairs { "stop", "ref", "unref" } do methods["Handler:" .. method] = nothing end
for _, method in ipairs { "stop", "is_active" } do methods["Recording:" .. method] = nothing end
methods["Inspector:stop"] = nothing
for _, method in ipairs { "add", "stop", "synced" } do methods["Mirror:" .. method] = nothing end

local case = methods[name] or functions.calls[name:match "^obs%.(.*)"]
assert(case, "there is no case of " .. name)

obs.on_error(nothing)

local start, is_whole

local function show()
  local taken = (os.clock() - start) * 1000
  print(string.format("%.1f %s", taken, is_whole and "whole" or "part"))
  obs.after(1e6, nothing)
end

obs.next_turn(function()
  obs.next_turn(show)
  print "ready"
  start = os.clock()
  is_whole = pcall(case, size)
end)
