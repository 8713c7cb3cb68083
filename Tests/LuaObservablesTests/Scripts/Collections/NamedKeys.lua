-- Rule C10: `obs.observe_keys` reports changed keys with their old and new values.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/stories.lua")

-- Each call is an entry: "a 1>2".
function keys_of(t, keys, options)
  return obs.observe_keys(t, keys, function(key, old, new, collection)
    assert(collection == t)
    note(("%s %s>%s"):format(key, old, new))
  end, options)
end

story("one call per key that changed, in the order of the keys", [[
  local t = { a = 1, c = 3 }
  keys_of(t, { "a", "b", "c" })  --> 0
  t.c, t.a, t.other = 4, 2, 1    --> a 1>2, c 3>4
  t.b = 1                        --> b nil>1
  t.b, t.a = nil, 9
  t.a = 2                        --> b 1>nil
  t.a = 2                        --> 0
]])
story("T5: NaN equals NaN, tables are compared by identity", [[
  local t = { a = 0 / 0, b = {} }
  obs.observe_keys(t, { "a", "b" }, function(key) note(key) end)
  t.a, t.b = 0 / 0, {}  --> b
]])
story("keys of any type, with dots in them, and a single key", [[
  local key = {}
  local t = { ["a.b"] = 1, [true] = 1, [key] = 1, [7] = 1 }
  local w = obs.observe_keys(t, { "a.b", true, key, 7 }, function(k) note(k == key or k) end)
  for _, k in ipairs { 7, key, true, "a.b" } do t[k] = 2 end  --> a.b, true, true, 7
  w:stop()
  keys_of(t, "a.b")
  t["a.b"] = 3                                                --> a.b 2>3
]])
story("options work as for obs.observe", [[
  local t, observer = { a = 1 }, {}
  local w = keys_of(t, { "a" }, { initial = true })  --> a nil>1
  w:stop()
  keys_of(t, { "a" }, { once = true })
  obs.observe_keys(t, { "a" }, function(...) note(select(5, ...) == observer) end,
    { observer = observer, once = true })
  t.a = 2                                            --> a 1>2, true
  t.a = 3                                            --> 0
  w = keys_of(t, { "a" }, { immediate = true })
  t.a = 4                                            --= a 3>4
  t.a = 5                                            --= a 4>5
  w:stop()
  keys_of(t, { "a" }, { equals = function(old, new) return old // 10 == new // 10 end })
  t.a = 6                                            --> 0
  t.a = 11                                           --> a 5>11
]])
story("it is an ordinary watcher: stopped by its callback, described, paused", [[
  local t = { a = 1, b = 1 }
  local function callback() end
  local w = obs.observe_keys(t, { "a", "b" }, callback, { name = "keys" })
  assert(obs.describe(t):find "keys on 'a'")
  eq(table.concat(obs.observed_keys(t), " "), "a b")
  eq(obs.stop(t, { callback = callback }), 2)
  eq(w.active, false)
  w = keys_of(t, { "a" })
  w:pause()
  t.a = 2
  t.a = 3          --> 0
  w:resume()       --> a 1>3
  w:stop()
  -- Stopped means stopped, also between two keys.
  w = obs.observe_keys(t, { "a", "b" }, function(key)
    note(key)
    w:stop()
  end)
  t.a, t.b = 2, 2  --> a
]])
turns("an error for one key does not prevent calls for the others", function()
  local t, seen = { a = 1, b = 1, c = 1 }, {}
  reporting(function()
    local w = obs.observe_keys(t, { "a", "b", "c" }, function(key)
      seen[#seen + 1] = key
      if key == "a" then error "no" end
    end)
    t.a, t.b, t.c = 2, 2, 2
    turn()
    turn()
    eq(table.concat(seen, " "), "a b c")
    eq(#reports, 1)
    w:stop()
  end)
end)
check("errors name the function and the caller", function()
  for _, case in ipairs {
    { "#2 to 'observe_keys'", {}, {}, print },
    { "#3 to 'observe_keys' %(function", {}, { "a" }, 1 },
    { "#4 to 'observe_keys'.*'once'", {}, { "a" }, print, { onec = true } },
    { "#1 to 'observe_keys'", 3, { "a" }, print },
  } do
    fails("NamedKeys.lua:%d+: bad argument " .. case[1],
      function() obs.observe_keys(case[2], case[3], case[4], case[5]) end)
  end
end)
check("L6: old values are not kept beyond the next call", function()
  local t = { a = {} }
  local weak = setmetatable({ t.a, t }, { __mode = "v" })
  obs.observe_keys(t, { "a" }, function() end)
  t.a = 1
  obs.flush()
  collectgarbage()
  collectgarbage()
  eq(weak[1], nil)
  t = nil
  collectgarbage()
  collectgarbage()
  eq(weak[2], nil)
end)
story("P2: an exact path to 'count' of a dictionary is the key, a text the size", [[
  local d = obs.dictionary { count = 5 }
  keys_of(d, { "count" })
  watch(d, "count")
  d.count = 6  --> count 5>6
  eq(obs.get(d, obs.path "count"), 6)
  eq(obs.get(d, "count"), 1)
  d.other = 1  --> count
]])
check("C3: the slots of an array count from 1, and a dictionary has no slots", function()
  fails("slot numbers start at 1", obs.observe, obs.array {}, "#0", print)
  fails("a dictionary has no slots", obs.observe, obs.dictionary {}, "#1", print)
end)
check("C5: a text that is meant as a path is not a name", function()
  local t = { w = { a = 1 }, config = 2, ["w.a"] = 3, ["*"] = 4 }
  for _, f in ipairs {
    function(name) obs.observe_keys(t, name, print) end,
    function(name) obs.observe_keys(t, { "config", name }, print) end,
    function(name) obs.bind({}, t, name) end,
    function(name) obs.computed(t, name, { "config" }, print) end,
    function(name) obs.is_valid(t, name) end, function(name) obs.peek(t, name) end,
    function(name) obs.forget(t, name) end, function(name) obs.backed({ w = {} }, name, {}) end,
    function(name) obs.backed({ w = {} }, { "b", name }, {}) end,
    function(name) obs.copy_of(t, "c", name) end,
  } do
    fails("'w.a' is a key path, as 'w' is an object: use obs.observe for the path", f, "w.a")
    fails("'%*' is not a name: obs.observe watches all keys of an object, obs.observe_edits "
      .. "reports the changed ones", f, "*")
  end
  fails("'w.a' is not a key", obs.observe_keys, t, obs.path("w", "a"), print)
end)
story("C5: a name with a dot, and obs.path for one that looks like a path", [[
  local t, copy = { w = { a = 1 }, ["config.lua"] = 1, ["w.a"] = 3, ["*"] = 4 }, {}
  keys_of(t, { "config.lua", obs.path "w.a", obs.path "*" })
  obs.bind(copy, t, obs.path "w.a")
  t["config.lua"], t["w.a"], t["*"] = 2, 5, 6  --> config.lua 1>2, w.a 3>5, * 4>6
  eq(copy["w.a"], 5)
]])

finish()
