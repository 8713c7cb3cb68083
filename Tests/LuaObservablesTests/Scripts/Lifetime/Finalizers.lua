-- L8: finalizers that run while obs takes memory observe further keys of the object at work.
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")
local obs = require "obs"

-- Observes keys of new objects, while finalizers of garbage observe others of the same ones.
local function observe_with_finalizers(many, keys, declare)
  local count, objects = 0, {}
  -- From now on the next cycle begins where one is over.
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

check("names", function()
  observe_with_finalizers(30, 9, function(object, key) obs.observe(object, key, nothing) end)
end)

check("lazy keys", function()
  observe_with_finalizers(10, 9, function(object, key, i)
    object[key] = nil
    obs.computed(object, key, function() return i end)
    obs.observe(object, key, nothing)
  end)
end)

check("L8: a table that only the finalizer of another object brings back is dead", function()
  local saved
  local calls = 0
  local function count() calls = calls + 1 end
  local function give_up()
    local t = { x = 1, sub = { y = 1 } }
    obs.computed(t, "double", { "x" }, function(self) return 2 * self.x end)
    obs.observe(t, "x", count)
    obs.observe(t, "sub.y", count)
    obs.observe(t, "double", count)
    setmetatable({ t }, { __gc = function(holder) saved = holder[1] end })
  end
  give_up()
  collectgarbage()
  saved.x = 2
  saved.sub.y = 2
  obs.flush()
  eq(calls, 0)
  eq(saved.x, 2)
  -- Paths from other objects lead through it, and from now on it is alive.
  local root = { child = saved }
  obs.observe(root, "child.x", count)
  obs.observe(root, "child.sub.y", count)
  saved.x = 3
  saved.sub.y = 3
  obs.flush()
  eq(calls, 2)
  collectgarbage()
  collectgarbage()
  saved.x = 4
  saved.sub.y = 4
  obs.flush()
  eq(calls, 4)
end)

check("L8: one collection ends the watchers of a table", function()
  obs.flush()
  collectgarbage()
  collectgarbage()
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
  local log, saved = {}, nil
  local function give_up()
    local t = setmetatable({ x = 1 }, { __gc = function(t) saved = t end })
    for _, key in ipairs { "x", "y" } do
      obs.observe(t, key, function() log[#log + 1] = key end, {
        on_end = function(path) log[#log + 1] = "end of " .. path end,
      })
    end
    obs.observe(t, "x", function() log[#log + 1] = "x again" end)
  end
  give_up()
  collectgarbage()
  collectgarbage()
  turn()
  saved.x = 2
  turn()
  eq(table.concat(log, ", "), "x, x again")
  log, saved = {}, nil
  collectgarbage()
  collectgarbage()
  turn()
  turn()
  table.sort(log)
  eq(table.concat(log, ", "), "end of x, end of y")
end)

turns("L8: a table that a finalizer of another object brings back is watched as before", function()
  local saved
  local function give_up()
    local t = { x = 1, y = 1 }
    obs.observe(t, "x", nothing)
    setmetatable({ t = t }, { __gc = function(o) saved = o.t end })
  end
  give_up()
  collectgarbage()
  collectgarbage()
  local log = {}
  obs.observe(saved, "x", function() log[#log + 1] = saved.x end)
  local other = obs.observe(saved, "y", nothing)
  turn()
  other:stop()
  -- The keys without watchers go back when the turn ends.
  for value = 2, 3 do
    turn()
    saved.x = value
  end
  turn()
  eq(table.concat(log, " "), "2 3")
end)

finish()
