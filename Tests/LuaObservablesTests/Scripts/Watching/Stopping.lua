-- L5: obs.stop ends exactly the watchers and paths that its filter selects, also if an object has
-- many watchers.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

local function pick(list) return list[math.random(#list)] end

local paths, observers, callbacks = {}, {}, {}
for i = 1, 8 do
  paths[i], observers[i], callbacks[i] = "key" .. i, {}, function() return i end
end

-- Does the same as `obs.stop`, on a list of {watcher, paths, observer, callback}.
local function stop(model, path, observer, callback)
  local count = 0
  for _, known in ipairs(model) do
    local is_selected = (not observer or known.observer == observer)
      and (not callback or known.callback == callback)
    for i = #known.paths, 1, -1 do
      if is_selected and (not path or known.paths[i] == path) then
        table.remove(known.paths, i)
        count = count + 1
      end
    end
  end
  return count
end

check("L5: stopping by path, observer and callback among many watchers", function()
  for seed = 1, 40 do
    math.randomseed(seed)
    local t, other, model = {}, {}, {}
    for step = 1, 300 do
      local known = #model > 0 and pick(model)
      local choice = math.random(20)
      if choice <= 12 then
        known = { paths = { pick(paths) }, callback = pick(callbacks) }
        if math.random(2) == 1 then known.observer = pick(observers) end
        known.watcher =
          obs.observe(t, known.paths[1], known.callback, { observer = known.observer })
        model[#model + 1] = known
      elseif choice <= 14 and known and #known.paths > 0 then
        local path = pick(paths)
        known.watcher:observe(path)
        known.paths[#known.paths + 1] = path
      elseif choice == 15 and known then
        known.watcher:stop()
        known.paths = {}
      elseif choice == 16 then
        -- Another object, whose watchers stay.
        obs.observe(other, pick(paths), pick(callbacks))
        obs.stop(other, "absent")
      elseif step % 3 > 0 then
        local path = math.random(2) == 1 and pick(paths) or nil
        local observer = math.random(3) == 1 and pick(observers) or nil
        local callback = math.random(3) == 1 and pick(callbacks) or nil
        if path or observer or callback then
          eq(
            obs.stop(t, { path = path, observer = observer, callback = callback }),
            stop(model, path, observer, callback))
        end
      end
      for _, each in ipairs(model) do
        eq(each.watcher.active, #each.paths > 0)
      end
    end
    eq(obs.stop(t), stop(model))
  end
end)
finish()
