-- L8: tables that are garbage, tables that finalizers bring back, and what finalizers may do.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/collecting.lua")

-- Observes keys of new objects while finalizers of garbage observe other keys of the same objects.
local function observe_with_finalizers(many, keys, declare)
  local count, objects = 0, {}
  -- From now on, a new cycle begins as soon as the last one has ended.
  collectgarbage("incremental", 1, 1000, 1)
  collectgarbage()
  for _ = 1, many do
    local object = {}
    objects[#objects + 1] = object
    local function finalize()
      local key = "late" .. count
      count = count + 1
      object[key] = 0
      obs.observe(object, key, nothing)
    end
    for i = 1, keys do
      setmetatable({}, {__gc = finalize})
      object["k" .. i] = i
      declare(object, "k" .. i, i)
    end
  end
  collectgarbage("incremental", 200, 100, 13)
  assert(count > 0)
  for _, object in ipairs(objects) do
    for i = 1, keys do
      eq(obs.observer_count(object, "k" .. i), 1)
      eq(object["k" .. i], i)
    end
    for key in pairs(object) do eq(obs.observer_count(object, key), 1) end
  end
end

check("L8: finalizers that run while keys are observed observe more keys", function()
  observe_with_finalizers(30, 9, function(object, key) obs.observe(object, key, nothing) end)
end)
check("L8: … or while keys are declared lazy", function()
  observe_with_finalizers(10, 9, function(object, key, i)
    object[key] = nil
    obs.computed(object, key, function() return i end)
    obs.observe(object, key, nothing)
  end)
end)

-- A garbage table that another object's finalizer brings back; `make` receives it first.
function revived(make)
  local saved
  local function give_up()
    local t = { x = 1 }
    make(t)
    setmetatable({ t }, { __gc = function(holder) saved = holder[1] end })
  end
  give_up()
  collectgarbage()
  return saved
end

function double(self) return 2 * self.x end

example("L8: a table that only the finalizer of another object brings back is dead", "calls", [[
  calls = 0
  local function count() calls = calls + 1 end
  local saved = revived(function(t)
    t.sub = { y = 1 }
    obs.computed(t, "double", { "x" }, double)
    for _, path in ipairs { "x", "sub.y", "double" } do obs.observe(t, path, count) end
  end)
  local function write(value)
    saved.x, saved.sub.y = value, value
    obs.flush()
  end
  write(2)                    --> 0
  = saved.x                   --> 2
  -- Paths from other objects lead through it, and it is alive again.
  local root = { child = saved }
  obs.observe(root, "child.x", count)
  obs.observe(root, "child.sub.y", count)
  write(3)                    --> 2
  collect()
  write(4)                    --> 4
]])
example("L8: a dead table stays dead when it gets its own finalizer", "told()", [[
  local note, told = recorder()
  local t = revived(function(t)
    obs.computed(t, "d", { "x" }, double)
    obs.observe(t, "d", function() note "d" end)
    obs.observe(t, "x", function() note "x" end)
  end)
  setmetatable(t, { __gc = nothing })
  t.x = 8                     --> -
  t = nil
  collectgarbage()            --> -
]])
example("L8: lazy keys of a dead table are plain keys", "t.d, n()", [[
  local n = nothing
  local t = revived(function(t)
    obs.computed(t, "d", { "x" }, double)
    agrees("2", "t.d", t.d)
  end)
  t.d = 7
  = t.d                       --> 7
  rawset(t, "d", 8)
  n = counter(t, "d")         --> 8 0
  t.d = 9                     --> 9 1
  obs.computed(t, "d", { "x" }, function(self) return 3 * self.x end)
  t.x = 5                     --> 15 1
]])
example("L8: a tracked getter reads a dead table like any other; obs.stop knows nothing of it",
  "reader.sum", [[
  local function observe(t) obs.observe(t, "y", nothing) end
  local t, reader = revived(observe), {}
  obs.computed(reader, "sum", function() return t.x + (t.y or 0) end)  --> 1
  t.x = 4                     --> 4
  t.y = 2                     --> 6
  t = revived(observe)
  has(obs.describe(t), "not observed")
  = obs.stop(t), #obs.observed_keys(t)  --> 0 0
]])

turns("L8: a table that its own finalizer brings back keeps its computed properties", function()
  local log, saved = {}, nil
  local function give_up()
    local t = setmetatable({ x = 1 }, { __gc = function(t) t.x = 2 saved = t end })
    obs.computed(t, "d", { "x" }, double)
    obs.computed(t, "e", function(self) return 3 * self.x end)
    obs.observe(t, "d", function(t) log[#log + 1] = t.d end)
    eq(t.e, 3)
  end
  give_up()
  collect()
  turn()
  saved.x = 7
  turn()
  eq(table.concat(log, " "), "4 14")
  eq(saved.e, 21)
end)

check("L8: the paths of a table that its own finalizer brings back still work", function()
  local log, saved = {}, nil
  local function note(name) return function() log[#log + 1] = name end end
  local function give_up()
    local t = {
      sub = { a = 1, deep = { b = 1 } }, list = { { p = 1 }, { p = 2 } },
    }
    for _, path in ipairs { "sub.a", "sub.deep.b", "list.*.p", "list.@sum.p" } do
      obs.observe(t, path, note(path))
    end
    obs.computed(t, "c", { "sub.a" }, function(self) return self.sub.a + 1 end)
    obs.observe(t, "c", note "c")
    setmetatable(t, { __gc = function(t) saved = t end })
  end
  give_up()
  collectgarbage()
  obs.flush()
  local function heard(write)
    log = {}
    write()
    obs.flush()
    table.sort(log)
    return table.concat(log, " ")
  end
  for _ = 1, 2 do
    eq(heard(function() saved.sub.a = saved.sub.a + 1 end), "c sub.a")
    eq(saved.c, saved.sub.a + 1)
    eq(heard(function() saved.sub.deep = { b = saved.sub.deep.b + 1 } end), "sub.deep.b")
    eq(heard(function() saved.sub.deep.b = 0 end), "sub.deep.b")
    eq(heard(function() saved.list[1].p = saved.list[1].p + 1 end), "list.*.p list.@sum.p")
    eq(heard(function() saved.list[#saved.list + 1] = { p = 5 } end), "list.*.p list.@sum.p")
    eq(heard(function() saved.list[#saved.list].p = 6 end), "list.*.p list.@sum.p")
    collect()
  end
end)

turns("L8: a finalizer that sets itself again keeps the watchers of its table", function()
  for order = 1, 2 do
    local log, saved, class = {}, nil, {}
    function class.__gc(t)
      setmetatable(t, class)
      saved = t
    end
    local function make()
      local t = { x = 1 }
      if order == 1 then setmetatable(t, class) end
      obs.observe(t, "x", function(t) log[#log + 1] = t.x end, {
        on_end = function(path) log[#log + 1] = "end of " .. path end,
      })
      if order == 2 then setmetatable(t, class) end
    end
    make()
    for i = 1, 4 do
      saved = nil
      collect()
      saved.x = 10 * i
      turn()
    end
    class.__gc, saved = nil, nil
    for _ = 1, 4 do collectgarbage() turn() end
    eq(table.concat(log, " "), "10 20 30 40 end of x")
  end
end)

check("L7: a finalizer may be a callable table", function()
  local got
  local function make()
    local class = { __gc = setmetatable({}, { __call = function(_, t) got = t.x end }) }
    obs.observe(setmetatable({ x = 4 }, class), "x", nothing)
  end
  make()
  collectgarbage()
  eq(got, 4)
end)

check("L8: one collection ends the watchers of a table", function()
  obs.flush()
  collect()
  local before = obs.stats()
  for _ = 1, 10 do
    local t = { a = { b = 1 } }
    for i = 1, 12 do obs.observe(t, "k" .. i, nothing) end
    obs.observe(t, "a.b", nothing)
    obs.observe(setmetatable({}, { __index = { c = 1 } }), "c", nothing)
  end
  obs.flush()
  collectgarbage()
  local after = obs.stats()
  eq(after.watchers, before.watchers)
  eq(after.observed, before.observed)
end)

turns("L3: on_end of several watchers of a table that its own finalizer brings back", function()
  local note, told = recorder()
  local saved
  local function give_up()
    local t = setmetatable({ x = 1 }, { __gc = function(t) saved = t end })
    for _, key in ipairs { "x", "y" } do
      obs.observe(t, key, function() note(key) end, {
        on_end = function(path) note("end of", path) end,
      })
    end
    obs.observe(t, "x", function() note "x again" end)
  end
  give_up()
  collect()
  turn()
  saved.x = 2
  turn()
  eq(told(), "x x again")
  saved = nil
  collect()
  turn()
  turn()
  local text = told()
  eq(#text, #"end of x end of y")
  for _, key in ipairs { "x", "y" } do has(text, "end of " .. key) end
end)

turns("L8: a table that a finalizer of another object brings back is watched as before", function()
  local saved
  local function give_up()
    local t = { x = 1, y = 1 }
    obs.observe(t, "x", nothing)
    setmetatable({ t = t }, { __gc = function(o) saved = o.t end })
  end
  give_up()
  collect()
  local log = {}
  obs.observe(saved, "x", function() log[#log + 1] = saved.x end)
  local other = obs.observe(saved, "y", nothing)
  turn()
  other:stop()
  -- Keys without watchers become plain again when the turn ends.
  for value = 2, 3 do
    turn()
    saved.x = value
  end
  turn()
  eq(table.concat(log, " "), "2 3")
end)

finish()
