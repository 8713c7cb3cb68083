-- M1: random writes of scripts and of C to the keys of tables.
local obs, raw, check = require "obs", require "rawaccess", require "check"

local names = { "a", "b", "c", 1, 2.5, true }

for seed = 1, tonumber(os.getenv("OBS_COUNT")) or 150 do
  math.randomseed(seed)
  local tables, called = { {}, {}, obs.dictionary {} }, {}
  -- The values that watchers know: at the last flush, and from the last immediate call.
  local flushed, told = {}, {}
  for number, t in ipairs(tables) do
    flushed[number], told[number], called[number] = {}, {}, {}
    for _, name in ipairs(names) do
      if math.random(3) > 1 then t[name] = math.random(3) end
      flushed[number][name], told[number][name] = t[name], t[name]
      obs.observe(t, obs.path(name), function()
        called[number][name] = (called[number][name] or 0) + 1
      end)
      if math.random(2) == 1 then
        obs.observe(t, obs.path(name), function(_, _, change)
          local before = told[number][name]
          if change.old ~= before then
            error(string.format("seed %d: the value was %s, told %s", seed, before, change.old))
          end
          told[number][name] = change.new
        end, { immediate = true })
      else
        told[number][name] = obs
      end
    end
  end
  for step = 1, 40 do
    local number = math.random(#tables)
    local t, name = tables[number], names[math.random(#names)]
    local value = math.random(4)
    if value == 4 then value = nil end
    local kind = math.random(6)
    if kind <= 3 then raw.set(t, name, value)
    elseif kind == 4 then t[name] = value
    elseif kind == 5 then rawset(t, name, value)
    else
      obs.flush()
      for n, each in ipairs(tables) do
        for _, key in ipairs(names) do
          local place = string.format("seed %d, step %d, table %d, key %s", seed, step, n, key)
          -- A value that was different in between may have been delivered, once (T5).
          local calls = called[n][key] or 0
          local is_changed = each[key] ~= flushed[n][key]
          check.equal(calls == 1 or calls == 0 and not is_changed, true, place)
          check.equal(raw.get(each, key), each[key], place)
          if told[n][key] ~= obs then check.equal(told[n][key], each[key], place) end
          flushed[n][key] = each[key]
        end
        called[n] = {}
      end
    end
  end
end

check.done()
