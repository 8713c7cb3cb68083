-- Rule S10, as a script sees it: texts for people are cut, and values stay whole.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

-- A cut text of bytes that are not UTF-8 has three bytes for each of them.
local LONG, MOST = ("\xff"):rep(1 << 20), 100000

local function raised(f, ...) return select(2, pcall(f, ...)) end
local function watched(options)
  local t = { x = 1 }
  local w = obs.observe(t, "x", nothing, options)
  return t, w
end

-- Each returns texts.
local texts = {
  ["describe, with the name of a watcher"] = function()
    return obs.describe((watched { name = LONG }))
  end,
  ["graph, with the name of a watcher"] = function()
    local t = watched { name = LONG }
    return obs.graph(t), obs.graph(t, "json"), obs.graph(t, "mermaid")
  end,
  ["describe and graph, with a lazy property"] = function()
    local t = {}
    obs.lazy(t, LONG, nothing)
    return obs.describe(t), obs.graph(t, "json")
  end,
  ["tostring of a watcher"] = function() return tostring(select(2, watched { name = LONG })) end,
  ["why and whynot"] = function()
    obs.record(true)
    local t = {}
    local w = obs.observe(t, "*", nothing, { name = LONG })
    t[LONG] = 1
    obs.flush()
    local writes, text = obs.why(w)
    local _, silence = obs.whynot(w)
    obs.record(false)
    return text, writes[1].key, silence
  end,
  ["log"] = function()
    local events = {}
    obs.log(function(event) events[#events + 1] = tostring(event) end)
    local t = {}
    obs.observe(t, "*", nothing, { name = LONG })
    t[LONG] = LONG
    obs.flush()
    obs.log(nil)
    return table.unpack(events)
  end,
  ["the name in a report"] = function()
    local t = { x = 1 }
    obs.observe(t, "x", function() error(LONG, 0) end, { name = LONG })
    reporting(function()
      t.x = 2
      obs.flush()
    end)
    eq(reports[1].error, LONG)
    return reports[1].where.name
  end,
  ["a misspelt option"] = function()
    return raised(obs.observe, {}, "x", nothing, { [LONG] = 1 }),
      raised(obs.stop, {}, { [LONG] = 1 })
  end,
  ["a misspelt property"] = function() return raised(obs.invalidate, {}, LONG) end,
  ["the name of a model"] = function()
    return raised(obs.observe, obs.model(LONG, { a = 1 }) {}, "b", nothing)
  end,
  ["a mark"] = function() return raised(function() obs.history({}):undo(LONG) end) end,
  ["a format"] = function() return raised(obs.graph, {}, LONG) end,
  ["a module"] = function() return select(2, obs.reload(LONG)) end,
  ["a key of a Swift model"] = function()
    if not new_creature then return "" end
    local creature = new_creature "Ann"
    return raised(function() return creature[LONG] end),
      raised(function() creature[LONG] = 1 end)
  end,
}
for title, make in pairs(texts) do
  check("S10: a long text is cut: " .. title, function()
    local made = table.pack(make())
    assert(made.n > 0, "no text")
    for i = 1, made.n do
      local length = #tostring(made[i])
      if length > MOST then error(("text %d has %d bytes"):format(i, length)) end
    end
  end)
end

check("S10: values and keys stay whole", function()
  local t, w = watched { name = LONG }
  eq(w.name, LONG)
  eq(tostring(obs.path(LONG)), LONG)
  obs.observe(t, obs.path(LONG), nothing)
  eq(obs.observer_count(t, LONG), 1)
  eq(obs.observed_keys(t)[2], LONG)
  obs.lazy(t, LONG .. 1, nothing)
  eq(obs.invalid_names(t)[1], LONG .. 1)
  eq(raised(error, LONG), LONG)
  obs.lazy(t, "failing", function() error(LONG, 0) end)
  eq(raised(function() return t.failing end), LONG)
end)
check("P9: only the first thousand names are compared", function()
  local t = {}
  local names = {}
  for i = 1, 1000 do names[i] = "other" .. i end
  names[1001] = "wanted"
  obs.lazy(t, names, nothing)
  local message = raised(obs.invalidate, t, "wantde")
  assert(message:find("'wantde' is not lazy)", 1, true), message)
  fails("%(did you mean 'other1000'%?%)", obs.invalidate, t, "othr1000")
end)

finish()
