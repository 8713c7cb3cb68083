-- Rule C5: `obs.observe_keys` reports named keys with their old and new values.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

local function logger(t, keys, options)
  local log = {}
  local w = obs.observe_keys(t, keys, function(key, old, new, collection)
    assert(collection == t)
    log[#log + 1] = ("%s:%s>%s"):format(key, old, new)
  end, options)
  return function()
    obs.flush()
    local text = table.concat(log, " ")
    for i in ipairs(log) do log[i] = nil end
    return text
  end, w
end

check("one call per key that changed, in the order of the keys", function()
  local t = { a = 1, c = 3 }
  local log = logger(t, { "a", "b", "c" })
  eq(log(), "")
  t.c, t.a, t.other = 4, 2, 1
  eq(log(), "a:1>2 c:3>4")
  t.b = 1
  eq(log(), "b:nil>1")
  t.b = nil
  eq(log(), "b:1>nil")
end)
check("a key with the same value as at the last call is not reported", function()
  local t = { a = 1, b = 1 }
  local log = logger(t, { "a", "b" })
  t.a, t.b = 2, 3
  t.a = 1
  eq(log(), "b:1>3")
  t.b = 3
  eq(log(), "")
end)
check("T5: NaN equals NaN, tables are compared by identity", function()
  local t = { a = 0 / 0, b = {} }
  local calls = 0
  obs.observe_keys(t, { "a", "b" }, function() calls = calls + 1 end)
  t.a, t.b = 0 / 0, {}
  obs.flush()
  eq(calls, 1)
end)
check("keys of any type, with dots in them, and a single key", function()
  local key = {}
  local t = { ["a.b"] = 1, [true] = 1, [key] = 1, [7] = 1 }
  local seen = {}
  obs.observe_keys(t, { "a.b", true, key, 7 }, function(k) seen[#seen + 1] = k end)
  for _, k in ipairs { 7, key, true, "a.b" } do t[k] = 2 end
  obs.flush()
  eq(#seen, 4)
  eq(seen[1], "a.b")
  eq(seen[3], key)
  local log = logger(t, "a.b")
  t["a.b"] = 3
  eq(log(), "a.b:2>3")
end)
check("options work as for obs.observe", function()
  local t = { a = 1 }
  local log = logger(t, { "a" }, { initial = true })
  eq(log(), "a:nil>1")
  log = logger(t, { "a" }, { once = true })
  t.a = 2
  eq(log(), "a:1>2")
  t.a = 3
  eq(log(), "")
  local now = {}
  obs.observe_keys(t, { "a" }, function(k, old, new)
    now[#now + 1] = old .. ">" .. new
  end, { immediate = true })
  t.a = 4
  t.a = 5
  eq(table.concat(now, " "), "3>4 4>5")
  log = logger(t, { "a" }, { equals = function(old, new) return old // 10 == new // 10 end })
  t.a = 6
  eq(log(), "")
  t.a = 11
  eq(log(), "a:5>11")
end)
check("the observer comes last", function()
  local t, o, got = { a = 1 }, {}, nil
  obs.observe_keys(t, { "a" }, function(...) got = select(5, ...) end, { observer = o })
  t.a = 2
  obs.flush()
  eq(got, o)
end)
check("stopped means stopped, also between two keys", function()
  local t, calls, w = { a = 1, b = 1 }, 0, nil
  w = obs.observe_keys(t, { "a", "b" }, function() calls = calls + 1; w:stop() end)
  t.a, t.b = 2, 2
  obs.flush()
  eq(calls, 1)
end)
check("it is an ordinary watcher: stopped by its callback, described, paused", function()
  local t = { a = 1 }
  local function callback() end
  local w = obs.observe_keys(t, { "a", "b" }, callback, { name = "keys" })
  assert(obs.describe(t):find "keys on 'a'")
  eq(table.concat(obs.observed_keys(t), " "), "a b")
  eq(obs.stop(t, { callback = callback }), 2)
  eq(w.active, false)
  local log
  log, w = logger(t, { "a" })
  w:pause()
  t.a = 2
  t.a = 3
  eq(log(), "")
  w:resume()
  eq(log(), "a:1>3")
end)
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
  fails("NamedKeys.lua:%d+: bad argument #2 to 'observe_keys'", function()
    obs.observe_keys({}, {}, print)
  end)
  fails("NamedKeys.lua:%d+: bad argument #3 to 'observe_keys' %(function", function()
    obs.observe_keys({}, { "a" }, 1)
  end)
  fails("NamedKeys.lua:%d+: bad argument #4 to 'observe_keys'.*'once'", function()
    obs.observe_keys({}, { "a" }, print, { onec = true })
  end)
  fails("bad argument #1 to 'observe_keys'", obs.observe_keys, 3, { "a" }, print)
end)
check("L6: old values are not kept beyond the next call", function()
  local t = { a = {} }
  local weak = setmetatable({ t.a }, { __mode = "v" })
  obs.observe_keys(t, { "a" }, function() end)
  t.a = 1
  obs.flush()
  collectgarbage()
  collectgarbage()
  eq(weak[1], nil)
  weak[1] = t
  t = nil
  collectgarbage()
  collectgarbage()
  eq(weak[1], nil)
end)

check("P2: an exact path to 'count' of a dictionary is the key, a text the size", function()
  local d = obs.dictionary { count = 5 }
  local told = logger(d, { "count" })
  local sizes = counter(d, "count")
  d.count = 6
  eq(sizes(), 0)
  eq(told(), "count:5>6")
  eq(obs.get(d, obs.path "count"), 6)
  eq(obs.get(d, "count"), 1)
  d.other = 1
  eq(sizes(), 1)
  eq(told(), "")
end)
check("C3: the slots of an array count from 1, and a dictionary has no slots", function()
  fails("slot numbers start at 1", obs.observe, obs.array {}, "#0", print)
  fails("a dictionary has no slots", obs.observe, obs.dictionary {}, "#1", print)
end)

check("C5: a text that is meant as a path is not a name", function()
  local t = { w = { a = 1 }, ["config.lua"] = 1, config = 2, ["w.a"] = 3, ["*"] = 4 }
  for _, f in ipairs {
    function(name) obs.observe_keys(t, name, print) end,
    function(name) obs.observe_keys(t, { "config", name }, print) end,
    function(name) obs.bind({}, t, name) end,
    function(name) obs.computed(t, name, { "config" }, print) end,
    function(name) obs.is_valid(t, name) end,
    function(name) obs.peek(t, name) end,
    function(name) obs.forget(t, name) end,
  } do
    fails("'w.a' is a key path, as 'w' is an object: use obs.observe for the path", f, "w.a")
    fails("'%*' is not a name: obs.observe watches all keys of an object, obs.observe_edits "
      .. "reports the changed ones", f, "*")
  end
  fails("'w.a' is not a key", obs.observe_keys, t, obs.path("w", "a"), print)
  local log = logger(t, { "config.lua", obs.path "w.a", obs.path "*" })
  local copy = {}
  obs.bind(copy, t, obs.path "w.a")
  t["config.lua"], t["w.a"], t["*"] = 2, 5, 6
  eq(log(), "config.lua:1>2 w.a:3>5 *:4>6")
  eq(copy["w.a"], 5)
  local owner = { w = { a = 1 } }
  fails("key path", obs.backed, owner, "w.a", {})
  fails("key path", obs.backed, owner, { "b", "w.a" }, {})
  fails("not a name", obs.backed, owner, "*", {})
  fails("key path", obs.copy_of, owner, "c", "w.a")
  fails("not a name", obs.copy_of, owner, "*", "w")
end)

finish()
