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
