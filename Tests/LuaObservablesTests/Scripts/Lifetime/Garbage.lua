-- L8: tables that are garbage, but that the collector has not freed yet.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/collecting.lua")

-- Drops the result of `make`. Stops the collector when it has found the result dead, but before its
-- finalizers run: they wait behind the finalizers of many objects.
function condemn(make)
  local probe = setmetatable({}, { __mode = "v" })
  collectgarbage()
  collectgarbage("stop")
  collectgarbage("incremental", 1000, 40, 5)
  probe[1] = make()
  local waste = {}
  for i = 1, 5000 do waste[i] = setmetatable({}, { __gc = nothing }) end
  waste = nil
  repeat collectgarbage("step") until probe[1] == nil
end
function restart()
  collectgarbage("incremental", 200, 100, 13)
  collectgarbage("restart")
  collect()
end

check("L8: watchers of a dead table are not called, coalesced or immediate", function()
  reporting(function()
    local item, calls = { price = 1 }, 0
    local function count() calls = calls + 1 end
    condemn(function()
      local view = { item = item }
      obs.observe(view, "item.price", count)
      obs.observe(view, "item.price", count, { immediate = true })
      obs.observe(view, "*.price", count)
      obs.observe(view, "item.price", count, { equals = function() return false end })
      obs.computed(view, "twice", { "item.price" }, function(v) return v.item.price * 2 end)
      obs.observe(view, "twice", count)
      obs.observe(view, "twice", count, { immediate = true })
      return view
    end)
    item.price = 2
    eq(obs.flush(), 0)
    obs.batch(function() item.price = 3 end)
    eq(obs.flush(), 0)
    restart()
    item.price = 4
    eq(obs.flush(), 0)
    eq(calls, 0)
    eq(#reports, 0)
  end)
end)
check("L8: … nor do weak references to the table cause errors, or inspection", function()
  reporting(function()
    local item, holder = { price = 1 }, setmetatable({}, { __mode = "v" })
    condemn(function()
      local view = { item = item }
      obs.observe(view, "item.price", nothing, { name = "gone" })
      obs.computed(view, "twice", { "item.price" }, function(v) return v.item.price * 2 end)
      holder.view = view
      obs.observe(holder, "view.twice", nothing)
      return view, view.twice
    end)
    for _, name in ipairs { "describe", "graph", "observed_keys", "stats" } do
      obs[name](name ~= "stats" and item or nil)
    end
    obs.observer_count(item, "price")
    obs.log(nothing)
    item.price = 2
    obs.flush()
    obs.log(nil)
    restart()
    obs.flush()
    eq(obs.observer_count(item, "price"), 0)
    eq(#reports, 0)
  end)
end)
example("L8: a table that its own finalizer brings back receives missed changes", "told()", [[
  local note, told = recorder()
  local item, saved = { price = 1 }, nil
  condemn(function()
    local view = setmetatable({ item = item }, { __gc = function(view) saved = view end })
    obs.observe(view, "item.price", function(view) note(view.item.price) end)
    return view
  end)
  item.price = 2              --> -
  restart()                   --> 2
  saved.item.price = 3        --> 3
  saved.item = { price = 4 }  --> 4
  item.price = 5              --> -
]])
turns("L8: views that are dropped while their items keep changing", function()
  local failure
  obs.on_error(function(e) failure = failure or tostring(e) end)
  for _, mode in ipairs { "incremental", "generational" } do
    collectgarbage(mode)
    local items, calls = {}, 0
    for i = 1, 100 do items[i] = { price = i } end
    local function count(view) calls = calls + view.item.price * 0 + 1 end
    for _ = 1, 150 do
      for i = 1, 20 do
        local view = { item = items[i * 5] }
        obs.observe(view, "item.price", count, { immediate = i % 5 == 0 })
      end
      for i = 1, 50 do
        local item = items[i * 2]
        item.price = item.price + 1
      end
      turn()
    end
    eq(failure, nil)
    assert(calls > 0)
  end
  obs.on_error(nil)
  collectgarbage("incremental")
end)
check("L8: an object with a hook and a watcher dies while another watcher is called", function()
  local t, dead = { n = 0 }, 0
  obs.observe(t, "n", function()
    for _ = 1, 20 do
      local view = { a = { b = 1 } }
      obs.on_observed(view, nothing)
      obs.observe(view, "a.b", nothing, { on_end = function() dead = dead + 1 end })
    end
    collect()
  end)
  for i = 1, 5 do
    t.n = i
    obs.flush()
  end
  turns("L8: … and on_end is called for each", function()
    turn()
    eq(dead, 100)
  end)
end)

finish()
