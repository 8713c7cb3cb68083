-- Rule W4 for lazy properties: the write behind a call, and the properties between them.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/examples.lua")

function person(first, last)
  local t = { first = first, last = last }
  obs.computed(t, "full", { "first", "last" }, function(self) return self.first .. self.last end)
  obs.computed(t, "shout", function(self) return self.full:upper() end)
  return t
end
-- The properties between the first write and a watcher, and the number of writes.
function why(w)
  local writes = obs.why(w)
  return writes[1].key, table.concat(writes[1].through or { "-" }, ">"), #writes
end

-- The events of `body`.
function logged(body)
  local note, told = recorder()
  obs.log(function(event)
    note(event.kind .. ":" .. (event.key or event.name)
      .. (event.equal and ":equal" or "") .. (event.failed and ":failed" or ""))
  end)
  local ok, message = pcall(body)
  obs.log(nil)
  if not ok then error(message, 0) end
  return told()
end

example("W4: without a record the first write behind computed properties is known", nil, [[
  local t = person("a", "b")
  local w = obs.observe(t, "shout", nothing, { name = "w" })
  t.first = "x"; local place = here()
  obs.flush()
  local writes, text = obs.why(w)
  = writes[1].site == place                       --> true
  has(text, place)
  has(text, "recording is off")
]])

obs.record(true)
check("W4: why leads through computed properties to every write", function()
  local t = person("a", "b")
  local w = obs.observe(t, "shout", nothing, { name = "poster" })
  t.first = "x"; local first = here()
  t.last = "y"; local last = here()
  obs.flush()
  local writes, text = obs.why(w)
  eq(#writes, 2)
  for i, expected in ipairs { { "first", first, '"a" → "x"' }, { "last", last, '"b" → "y"' } } do
    eq(writes[i].key, expected[1])
    eq(writes[i].site, expected[2])
    eq(table.concat(writes[i].through, " "), "full shout")
    has(text, ("'%s' was written at %s in turn %d (%s), which changed 'full', 'shout'"):format(
      expected[1], expected[2], writes[i].turn, expected[3]))
  end
  t.last = "z"
  obs.flush()
  eq(#obs.why(w), 1)
end)
example("W4: … through objects, '*', operators and properties without a value, but not for a write "
  .. "of the watched property", nil, [[
  local t = person("a", "b")
  local own = obs.observe(t, { "first", "full" }, nothing)
  t.first = "x"
  local order = { lines = obs.array { { price = 1 }, { price = 2 } } }
  local shop = { order = order }
  obs.computed(order, "net", { "lines.price" }, function(self)
    return obs.get(self, "lines.@sum.price")
  end)
  obs.lazy(shop, "total", {
    get = function(self) return self.order.net end, deps = { "order.net" }, cached = false,
  })
  obs.computed(shop, "text", { "total" }, function(self) return "sum " .. self.total end)
  local every, w = obs.observe(shop, "*", nothing), obs.observe(shop, "text", nothing)
  = shop.text                                     --> sum 3
  order.lines[2].price = 4
  obs.flush()
  = why(own)                                      --> first - 1
  = why(w)                                        --> price net>total>text 1
  = obs.why(every)[1].through[1]                  --> net
]])
example("W4: an immediate watcher, an override and an invalidation", "why(w)", [[
  local t, seen, w = person("a", "b"), nil, nil
  local immediate
  immediate = obs.observe(t, "shout", function() seen = obs.why(immediate)[1] end,
    { immediate = true })
  t.first = "x"; local place = here()
  = seen.site == place, table.concat(seen.through, ">")  --> true full>shout
  w = obs.observe(t, "shout", nothing)
  t.full = "y"
  obs.flush()                                     --> full shout 1
  has(select(2, obs.why(w)), "'full' was written at")
  local n = 0
  obs.lazy(t, "count", function() n = n + 1 return n end)
  w = obs.observe(t, "count", nothing)
  obs.invalidate(t, "count"); place = here()
  obs.flush()                                     --> count - 1
  local writes, text = obs.why(w)
  = writes[1].site == place                       --> true
  has(text, "'count' was invalidated at " .. place)
]])
example("W4: whynot knows equal recomputed values, and forgets them at the next call",
  "obs.whynot(w).reason", [[
  local t = person("ab", "c")
  local w = obs.observe(t, "shout", nothing, { name = "w" })
  t.first = "a"
  t.last = "bc"; local place = here()
  obs.flush()                                     --> equal
  has(select(2, obs.whynot(w)),
    "w: 'shout' was recomputed, with an equal value, after 'last' was written at " .. place)
  t.last = "d"
  obs.flush()                                     --> called
  = #obs.why(w)                                   --> 1
  w = obs.observe(t, "full", nothing)
  t.full = "ad"; place = here()
  obs.flush()                                     --> equal
  has(select(2, obs.whynot(w)),
    "'full' was written at " .. place .. ', with the value it already had: "ad"')
]])
example("W4: whynot knows that a property could not be computed", "obs.whynot(w).reason", [[
  local t = { n = 1 }
  obs.computed(t, "half", { "n" }, function(s) return s.n < 3 and s.n or error "too much" end)
  local w = obs.observe(t, "half", nothing)
  reporting(function()
    t.n = 4
    obs.flush()
  end)                                            --> failed
  = #reports                                      --> 1
  has(select(2, obs.whynot(w)), "'half' could not be computed")
]])
example("W4: of a long chain the text shows the ends, the table everything",
  "#obs.why(w)[1].through", [[
  local t = { c0 = 1 }
  for i = 1, 5000 do
    local before = "c" .. i - 1
    obs.computed(t, "c" .. i, { before }, function(self) return self[before] end)
  end
  local w = obs.observe(t, "c5000", nothing)
  t.c0 = 2
  obs.flush()                                     --> 5000
  has(select(2, obs.why(w)), "which changed 'c1', 'c2', 'c3', … 'c5000' (5000 properties)")
]])
obs.record(false)

check("W5: log reports invalidations and computations, in order", function()
  local t = person("a", "b")
  obs.observe(t, "shout", nothing, { name = "w" })
  eq(logged(function()
    t.first = "x"
    t.last = "y"
    obs.flush()
  end), "write:first invalidate:full invalidate:shout write:last compute:full compute:shout "
    .. "call:w")
  eq(logged(function()
    t.first = "xy"
    t.last = ""
    obs.flush()
    obs.invalidate(t, "full")
    local _ = t.full
  end), "write:first invalidate:full invalidate:shout write:last compute:full:equal "
    .. "invalidate:full invalidate:shout compute:full:equal")
end)
check("W5: log: a computation that fails, and places", function()
  local t, found = { n = 1 }, {}
  obs.computed(t, "bad", { "n" }, function() error "no" end); local getter = here()
  eq(logged(function() pcall(function() return t.bad end) end), "compute:bad:failed")
  obs.computed(t, "good", { "n" }, function(self) return self.n end)
  local _ = t.good
  obs.log(function(event) found[event.kind .. " " .. event.key] = event.site end)
  t.n = 2; local place = here()
  pcall(function() return t.bad end)
  obs.log(nil)
  eq(found["invalidate good"], place)
  eq(found["compute bad"], getter)
end)
finish()
