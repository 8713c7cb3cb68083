-- L5, L6: very many watchers, which leave nothing behind.
--
--   obs-lua ManyWatchers.lua [registrations]
local obs = require "obs"
local function nothing() end
local function memory()
  obs.flush()
  collectgarbage()
  collectgarbage()
  return collectgarbage "count"
end

-- On one key: each is called once, in order, and all of them end.
do
  local calls, last = 0, 0
  local object = {x = 1}
  local watchers = {}
  for i = 1, 100000 do
    watchers[i] = obs.observe(object, "x", function()
      calls = calls + 1
      assert(last == i - 1)
      last = i
    end)
  end
  assert(obs.observer_count(object, "x") == 100000)
  object.x = 2
  assert(obs.flush() == 100000 and calls == 100000)
  -- From both ends, then the middle.
  for i = 1, 30000 do watchers[i]:stop() end
  for i = 100000, 70001, -1 do watchers[i]:stop() end
  assert(obs.observer_count(object, "x") == 40000)
  assert(obs.stop(object, "x") == 40000)
  object.x = 3
  assert(obs.flush() == 0)
end

-- Registered and stopped repeatedly over several turns: memory is freed.
local times = math.tointeger(tonumber(arg and arg[1] or nil))
  or os.getenv "OBS_LIGHT" and 20000 or 100000
local object = {a = {b = {c = 1}}}
for _ = 1, 1000 do obs.observe(object, "a.b.c", nothing):stop() end
local rounds = 0
local before
local function round()
  if rounds == 1 then before = memory() end
  if rounds == 10 then
    local after = memory()
    assert(after - before < 64, ("%.0f KB are kept"):format(after - before))
    assert(obs.stats().watchers == 0)
    return
  end
  rounds = rounds + 1
  local kept = {}
  for _ = 1, times // 2000 do
    for i = 1, 100 do kept[i] = obs.observe(object, "a.b.c", nothing) end
    for i = 1, 100 do kept[i]:stop() end
    for i = 1, 100 do kept[i] = obs.observe(object, "a", nothing) end
    for i = 100, 1, -1 do kept[i]:stop() end
  end
  obs.next_turn(round)
end
obs.next_turn(round)
