-- L1–L6 with collections: removed objects are collected, and ended watchers leave nothing behind.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

-- Each check runs in its own turn: journals are released at the end of a turn.
local check = turns
local function collect()
  turn()
  collectgarbage()
  collectgarbage()
  turn()
end
local scale = os.getenv "OBS_LIGHT" and 10 or 1

local kinds = {
  array = obs.array, list = function(list) return list end,
}
local PATHS = {
  "*", "#1", "#2", "1", "2", "*.x", "1.x", "@count", "@sum.x", "@avg.x", "@min.x", "@max.x",
  "@first", "@first.x", "@last.x", "@any.x", "@all.x", "@unionOfObjects", "@distinctUnionOfObjects",
  "@distinctUnionOfObjects.x", "@unionOfArrays.tags", "*.tags.*", "@sum.tags.@count",
}

for kind, make in pairs(kinds) do
  for _, path in ipairs(PATHS) do
    for _, way in ipairs {"remove", "replace", "clear", "turn by turn"} do
      check(("an element that left %s is collected (%s, %s)"):format(kind, path, way), function()
        local weak = setmetatable({}, {__mode = "k"})
        local function element(n)
          local made = {x = n, tags = make {n}}
          weak[made], weak[made.tags] = true, true
          return made
        end
        local list = make {element(1), element(2), element(3)}
        local w = obs.observe(list, path, function() end)
        collect()
        if way == "replace" then
          for i = 1, 3 do list[i] = {x = 7, tags = make {}} end
        elseif way == "turn by turn" then
          for _ = 1, 3 do
            table.remove(list, 1)
            collect()
          end
        elseif way == "clear" then
          obs.clear(list)
        else
          for _ = 1, 3 do table.remove(list) end
        end
        collect()
        eq(next(weak), nil)
        w:stop()
      end)
    end
    check(("%s that is watched is collected, with its watcher (%s)"):format(kind, path), function()
      local weak, handle = setmetatable({}, {__mode = "v"}), nil
      do
        local list = make {{x = 1, tags = make {1}}, {x = 2}}
        weak[1], weak[2] = list, list[1]
        handle = obs.observe(list, path, function() return list end)
        table.insert(list, {x = 3})
        obs.flush()
      end
      collect()
      eq(weak[1], nil)
      eq(weak[2], nil)
      eq(handle.active, false)
    end)
  end
  check("an element that left " .. kind .. " is collected, though edits were told", function()
    local weak = setmetatable({}, {__mode = "k"})
    local list = make {}
    local w = obs.observe_edits(list, function() end)
    for n = 1, 3 do
      local made = {x = n}
      weak[made] = true
      table.insert(list, made)
      obs.flush()
    end
    table.remove(list, 1)
    table.insert(list, {x = 5})
    table.sort(list, function(a, b) return a.x > b.x end)
    obs.flush()
    obs.clear(list)
    collect()
    eq(next(weak), nil)
    w:stop()
    local calls = 0
    local other = obs.observe_edits(list, function() calls = calls + 1 end)
    -- A paused watcher keeps its pending edits until it is resumed.
    other:pause()
    list[1] = {}
    weak[list[1]] = true
    collect()
    list[1] = nil
    collect()
    other:resume()
    collect()
    eq(calls, 0)
    eq(next(weak), nil)
  end)
  check("a watcher of edits ends with its " .. kind, function()
    local weak, handle, told = setmetatable({}, {__mode = "v"}), nil, nil
    do
      local list = make {1}
      weak[1] = list
      handle = obs.observe_edits(list, function() return list end,
        {on_end = function(path) told = path end})
      table.insert(list, 2)
    end
    collect()
    collect()
    eq(weak[1], nil)
    eq(handle.active, false)
    assert(told)
  end)
  check("a watcher of edits ends with its observer, of " .. kind, function()
    local list, calls = make {1}, 0
    local handle = obs.observe_edits(list, function() calls = calls + 1 end, {observer = {}})
    collect()
    table.insert(list, 2)
    obs.flush()
    eq(calls, 0)
    eq(handle.active, false)
  end)
  check("a cleared " .. kind .. " of many elements frees its memory", function()
    local count = (kind == "array" and 100000 or 10000) // scale
    local list = make {}
    local watchers = {
      obs.observe(list, "*.x", nothing), obs.observe(list, "@sum.x", nothing),
      obs.observe(list, "#1", nothing), obs.observe_edits(list, nothing),
    }
    collect()
    local before = collectgarbage "count"
    for i = 1, count do list[i] = {x = i} end
    collect()
    local full = collectgarbage "count"
    assert(full - before > count / 50, full - before)
    obs.clear(list)
    -- The table releases its slots when it grows again.
    for i = 1, 5 do list[i] = {x = 1} end
    for _ = 1, 3 do collect() end
    local after = collectgarbage "count"
    assert(after - before < (full - before) / 3,
      ("%.0f kB, %.0f kB, %.0f kB"):format(before, full, after))
    eq(obs.get(list, "@sum.x"), 5)
    for _, watcher in ipairs(watchers) do watcher:stop() end
  end)
  check("rounds of watching, changing and stopping leave nothing behind: " .. kind, function()
    local list = make {{x = 1}, {x = 2}}
    local paths = {"*.x", "1", "@max.x", "#3"}
    local function round(n)
      local watchers = {
        obs.observe(list, paths[n % 4 + 1], nothing), obs.observe_edits(list, nothing),
      }
      table.insert(list, 1, {x = n})
      obs.flush()
      table.remove(list, 2)
      if n % 2 == 0 then turn() end
      for _, watcher in ipairs(watchers) do watcher:stop() end
      if n % 3 == 0 then turn() end
    end
    for n = 1, 200 do round(n) end
    collect()
    local before, stats = collectgarbage "count", obs.stats()
    for n = 1, (kind == "array" and 10000 or 2000) // scale do round(n) end
    collect()
    assert(collectgarbage "count" - before < 50, collectgarbage "count" - before)
    eq(obs.stats().watchers, stats.watchers)
    eq(#obs.observed_keys(list), 0)
  end)
end

for _, path in ipairs {"*", "*.x", "count", "@sum.x", "@unionOfObjects"} do
  check("a member that left a set, or a value a dictionary, is collected: " .. path, function()
    local weak = setmetatable({}, {__mode = "k"})
    local set, dictionary = obs.set_of {}, obs.dictionary {}
    obs.observe(set, path, nothing)
    obs.observe(dictionary, path, nothing)
    obs.observe_edits(set, nothing)
    obs.observe_edits(dictionary, nothing)
    obs.observe_keys(dictionary, {"key"}, nothing)
    -- A separate function, so that its variables leave no references on the stack.
    local function put(n)
      local made = {x = n}
      weak[made] = true
      set:add(made)
      dictionary.key = made
    end
    for n = 1, 3 do
      put(n)
      turn()
    end
    set:clear()
    dictionary.key = nil
    collect()
    eq(next(weak), nil)
  end)
end
check("the key of an object does not keep it alive, and is not reused", function()
  local set, weak = obs.set_of {}, setmetatable({}, {__mode = "v"})
  local seen = {}
  for n = 1, 200 do
    local object = {}
    weak[n] = object
    local key = set:key_of(object)
    assert(not seen[key], key)
    seen[key] = true
    object = nil
    if n % 20 == 0 then collectgarbage() end
  end
  collect()
  eq(next(weak), nil)
end)
check("a watched set and a watched dictionary are collected", function()
  local weak = setmetatable({}, {__mode = "v"})
  do
    local set, dictionary = obs.set_of {1}, obs.dictionary {a = {}}
    weak[1], weak[2] = set, dictionary
    for _, collection in ipairs {set, dictionary} do
      obs.observe(collection, {"*", "count", "*.x"}, function() return set, dictionary end)
      obs.observe_edits(collection, function() return set, dictionary end)
    end
    set:add(dictionary)
    dictionary.a = set
    obs.flush()
  end
  collect()
  collect()
  eq(weak[1], nil)
  eq(weak[2], nil)
end)
check("the copy of a collection keeps neither its object nor the collection", function()
  local weak = setmetatable({}, {__mode = "v"})
  do
    local object = {items = obs.array {1, 2}}
    weak[1], weak[2] = object, object.items
    obs.copy_of(object, "copy", "items")
    weak[3] = object.copy
    obs.observe(object, "copy", function() return object end)
    object.items:append(3)
    obs.flush()
    eq(#object.copy, 3)
  end
  collect()
  collect()
  eq(weak[1], nil)
  eq(weak[2], nil)
  eq(weak[3], nil)
end)
finish()
