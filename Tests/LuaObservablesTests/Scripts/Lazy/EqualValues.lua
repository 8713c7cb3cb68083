-- Rules Z2, Z3 and Z4: values that return, and watchers of `*`.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "Support/kinds.lua")

-- Examples that run with coalesced watchers and with immediate ones; `options` says which.
function both(sentence, show, text)
  for _, immediate in ipairs { false, true } do
    each(("%s (%s)"):format(sentence, immediate and "immediate" or "coalesced"), show,
      ("local options = { immediate = %s }\n"):format(immediate) .. text)
  end
end

each("Z2: a property gets its value back if its dependencies are equal, also an operator", nil, [[
  local t = object { lines = { { price = 1 }, { price = 2 } },
    sum = computed({ "lines.@sum.price" }, function(self)
      return obs.get(self, "lines.@sum.price")
    end), text = computed({ "sum" }, function(self) return { self.sum } end) }
  local kept = t.text
  local lines = t.lines
  lines[1].price, lines[2].price = 2, 1
  = t.sum, t.text == kept, obs.peek(t, "text") == kept  --> 3 true true
  lines[1].price, lines[2].price = 0, 3
  = t.text == kept, obs.peek(t, "text") == kept         --> true true
]])
each("Z4: a property declared again is a change for watchers without its value", "told()", [[
  local note, told = recorder()
  local t = object { n = 5, k = 0, q = obs.none }
  for i = 1, 2 do
    local is_first = true
    obs.observe(t, { "k", "q" }, function()
      note(i)
      if is_first then declare(t, "q", { "n" }, function(self) return self.n end) end
      is_first = false
    end)
  end
  t.k = 1
  obs.flush()
  obs.flush()                   --> 1 2 1
]])
both("Z3, Z5: '*' hears an assignment to a property that was never computed", "n()", [[
  local t = object { a = obs.none, q = computed({ "a" }, function(self) return self.a end) }
  obs.invalidate(t, "q")
  local calls = 0
  obs.observe(t, "*", function() calls = calls + 1 end, options)
  local function n() obs.flush() return calls end
  t.q = 103                     --> 1
]])
example("T9, Z3: an immediate watcher of '*' receives each value, also an earlier one", "told()", [[
  local note, told = recorder()
  local source, t = { v = 2 }, {}
  obs.computed(t, "q", { { source, "v" } }, function() return source.v end)
  obs.observe(t, "q", nothing)
  obs.observe(t, "*", function(_, _, change) note(change.old .. ">" .. change.new) end,
    { immediate = true })
  source.v = 0                  --> 2>0
  source.v = 2                  --> 0>2
  obs.batch(function() source.v = 1 source.v = 2 end)  --> -
]])
both("Z2, Z3: a dependent of '*' is computed again if a value returns", "u.copy", [[
  local note, told = recorder()
  local source, u = { v = 2 }, {}
  obs.observe(source, "v", nothing)
  local t = object { q = computed({ { source, "v" } }, function() return source.v end) }
  obs.observe(t, "q", nothing)
  obs.computed(u, "copy", { { t, "*" } }, function() return t.q end)
  obs.observe(u, "copy", function() note(u.copy) end, options)  --> 2
  source.v = 0                  --> 0
  source.v = 2                  --> 2
  = told() == (options.immediate and "0 2" or "-")      --> true
]])
both("Z4, Z5: a path follows a value that returns, also if `equals` ignored a change", "n()", [[
  local first, second, source = { x = 1 }, { x = 2 }, { second = false }
  obs.observe(source, "*", nothing)
  local t = object { item = computed({ { source, "second" } }, function()
    return source.second and second or first
  end) }
  local calls = 0
  obs.observe(t, "item.x", function() calls = calls + 1 end, {
    immediate = options.immediate, equals = function(a, b) return type(a) == "table" or a == b end,
  })
  local function n()
    obs.flush()
    local count = calls
    calls = 0
    return count
  end
  source.second = true          --> 0
  second.x = 3                  --> 1
  source.second = false         --> 0
  first.x = 4                   --> 1
  second.x = 5                  --> 0
]])
both("Z3: '*' does not hear a property without a cache, whoever watches it", "told()", [[
  local note, told = recorder()
  local source = { v = 1 }
  local t = object { q = lazy {
    cached = false, deps = { { source, "v" } }, get = function() return source.v end,
  } }
  obs.observe(t, "*", function() note "*" end, options)
  obs.observe(t, "q", function() note "q" end)
  source.v = 2                  --> q
  obs.trigger(t, "q")
  = #told()                     --> 3
]])
each("Z3: … but immediately, if it depends on another property of the object", "calls > 0", [[
  local t, calls = object { x = 1, v = lazy {
    get = function(self) return self.x end, deps = { "x" }, cached = false,
  } }, 0
  obs.observe(t, "*", function() calls = calls + 1 end, { immediate = true })
  t.x = 2                       --> true
]])
example("Z3: earlier changes do not call a watcher of a property without a value", "told()", [[
  local note, told = recorder()
  local list = obs.array { { a = 1 } }
  local t = { items = list }
  obs.lazy(t, "q", {
    cached = false, deps = { "items.@sum.a" },
    get = function(self) return obs.get(self, "items.@sum.a") end,
  })
  obs.observe(t, "q", function() note "first" end)
  list:remove(1)
  obs.observe(t, "q", function() note "second" end)
  list[1] = { a = 0 }           --> first
  list[1].a = 3                 --> first second
]])
each("Z3, Z4: '*' is silent for a property that was invalid before and is the same", "n()", [[
  local source = { v = 0 }
  obs.observe(source, "v", nothing)
  local t = object {
    q = computed({ { source, "v" } }, function() return math.min(source.v, 1) end),
  }
  local _ = t.q
  source.v = 1
  local n = counter(t, "*")
  = t.q                         --> 1
  source.v = 2                  --> 0
  source.v = 0                  --> 1
]])
each("Z4: under `*` a property has the value of its first read, until assigned", "n()", [[
  local t = object { a = 1, q = computed({ "a" }, function(self) return self.a > 0 end) }
  local n, w = counter(t, "*")
  = t.q, n()                    --> true 0
  obs.invalidate(t, "q")        --> 0
  = t.q, n()                    --> true 0
  w:stop()
  n = counter(t, "*")
  declare(t, "r", { "a" }, function(self) return self.a > 1 end)
  n()
  = t.r                         --> false
  t.r = true                    --> 1
  obs.lazy(t, "s", function() return 1 end)
  n()
  t.s = 1                       --> 1
]])
check("Z4: watched properties of elements are computed in the order of the elements", function()
  local order = {}
  local function item(name)
    local t = {}
    obs.lazy(t, "n", function() order[#order + 1] = name return 1 end)
    return t
  end
  for _, path in ipairs { "*.n", "@sum.n" } do
    for _, list in ipairs {
      { item "a", item "b", item "c" }, obs.array { item "a", item "b", item "c" },
    } do
      order = {}
      obs.observe(list, path, nothing)
      eq(table.concat(order), "abc")
    end
  end
end)
example("T5: NaN equals NaN, also if the value was a table or another number before", "told()", [[
  local note, told = recorder()
  local t = { x = 1 }
  obs.computed(t, "a", { "x" }, function(self)
    return self.x == 1 and {} or self.x < 9 and 0 / 0 or self.x
  end)
  obs.observe(t, "a", function() note "a" end)
  t.x = 2                       --> a
  t.x = 3                       --> -
  t.x = 10
  = t.a                         --> 10
  t.x = 2                       --> -
]])
finish()
