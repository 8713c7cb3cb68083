-- Rule W4 for lazy properties: the write behind a call, and the properties between them.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

local function person(first, last)
  local t = { first = first, last = last }
  obs.computed(t, "full", { "first", "last" }, function(self) return self.first .. self.last end)
  obs.computed(t, "shout", function(self) return self.full:upper() end)
  return t
end

-- The events of `body`, one per line.
local function logged(body)
  local lines = {}
  obs.log(function(event)
    lines[#lines + 1] = event.kind .. " " .. (event.key or event.name)
      .. (event.equal and " equal" or "") .. (event.failed and " failed" or "")
  end)
  local ok, message = pcall(body)
  obs.log(nil)
  if not ok then error(message, 0) end
  return table.concat(lines, ", ")
end

check("W4: without a record the first write behind computed properties is known", function()
  local t = person("a", "b")
  local w = obs.observe(t, "shout", nothing, { name = "w" })
  t.first = "x"; local place = here()
  obs.flush()
  local writes, text = obs.why(w)
  eq(writes[1].site, place)
  has(text, place)
  has(text, "recording is off")
end)

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
    eq(math.type(writes[i].turn), "integer")
    eq(table.concat(writes[i].through, " "), "full shout")
    has(text, ("'%s' was written at %s in turn %d (%s), which changed 'full', 'shout'"):format(
      expected[1], expected[2], writes[i].turn, expected[3]))
  end
  t.last = "z"
  obs.flush()
  eq(#obs.why(w), 1)
end)
check("W4: a write of the watched property itself passes no other property", function()
  local t = person("a", "b")
  local w = obs.observe(t, { "first", "full" }, nothing)
  t.first = "x"
  obs.flush()
  local writes = obs.why(w)
  eq(#writes, 1)
  eq(writes[1].through, nil)
end)
check("W4: why leads through objects, '*', operators and properties without a value", function()
  local order = { lines = obs.array { { price = 1 }, { price = 2 } } }
  local shop = { order = order }
  obs.computed(order, "net", { "lines.price" }, function(self)
    return obs.get(self, "lines.@sum.price")
  end)
  obs.lazy(shop, "total", {
    get = function(self) return self.order.net end, deps = { "order.net" }, cached = false,
  })
  obs.computed(shop, "text", { "total" }, function(self) return "sum " .. self.total end)
  local every = obs.observe(shop, "*", nothing)
  local w = obs.observe(shop, "text", nothing)
  eq(shop.text, "sum 3")
  order.lines[2].price = 4
  obs.flush()
  eq(table.concat(obs.why(w)[1].through, " "), "net total text")
  eq(obs.why(every)[1].through[1], "net")
end)
check("W4: an immediate watcher of a computed property knows its write", function()
  local t, seen = person("a", "b"), nil
  local w
  w = obs.observe(t, "shout", function() seen = obs.why(w) end, { immediate = true })
  t.first = "x"; local place = here()
  eq(seen[1].site, place)
  eq(table.concat(seen[1].through, " "), "full shout")
end)
check("W4: an override is a write, an invalidation is reported as such", function()
  local t = person("a", "b")
  local w = obs.observe(t, "shout", nothing)
  t.full = "x"
  obs.flush()
  local writes, text = obs.why(w)
  eq(writes[1].key, "full")
  eq(table.concat(writes[1].through, " "), "shout")
  has(text, "'full' was written at")
  local n = 0
  obs.lazy(t, "count", function() n = n + 1 return n end)
  w = obs.observe(t, "count", nothing)
  obs.invalidate(t, "count"); local place = here()
  obs.flush()
  writes, text = obs.why(w)
  eq(writes[1].key, "count")
  eq(writes[1].site, place)
  has(text, "'count' was invalidated at " .. place)
end)
check("W4: whynot knows equal recomputed values, and forgets them at the next call", function()
  local t = person("ab", "c")
  local w = obs.observe(t, "shout", nothing, { name = "w" })
  t.first = "a"
  t.last = "bc"; local place = here()
  obs.flush()
  local answer, text = obs.whynot(w)
  eq(answer.reason, "equal")
  eq(text, "w: 'shout' was recomputed, with an equal value, after 'last' was written at " .. place)
  t.last = "d"
  obs.flush()
  eq(obs.whynot(w).reason, "called")
  eq(#obs.why(w), 1)
end)
check("W4: whynot after an override with an equal value", function()
  local t = person("a", "b")
  local w = obs.observe(t, "full", nothing)
  t.full = "ab"; local place = here()
  obs.flush()
  local answer, text = obs.whynot(w)
  eq(answer.reason, "equal")
  has(text, "'full' was written at " .. place .. ', with the value it already had: "ab"')
end)
check("W4: whynot knows that a property could not be computed", function()
  local t = { n = 1 }
  obs.computed(t, "half", { "n" }, function(self)
    return self.n < 3 and self.n or error "too much"
  end)
  local w = obs.observe(t, "half", nothing)
  reporting(function()
    t.n = 4
    obs.flush()
  end)
  eq(#reports, 1)
  local answer, text = obs.whynot(w)
  eq(answer.reason, "failed")
  has(text, "'half' could not be computed")
end)
check("W4: of a long chain the text shows the ends, the table everything", function()
  local t = { c0 = 1 }
  for i = 1, 5000 do
    local before = "c" .. i - 1
    obs.computed(t, "c" .. i, { before }, function(self) return self[before] end)
  end
  local w = obs.observe(t, "c5000", nothing)
  t.c0 = 2
  obs.flush()
  local writes, text = obs.why(w)
  eq(#writes[1].through, 5000)
  has(text, "which changed 'c1', 'c2', 'c3', … 'c5000' (5000 properties)")
end)
obs.record(false)

check("log reports invalidations and computations, in order", function()
  local t = person("a", "b")
  obs.observe(t, "shout", nothing, { name = "w" })
  eq(logged(function()
    t.first = "x"
    t.last = "y"
    obs.flush()
  end), "write first, invalidate full, invalidate shout, write last, compute full, "
    .. "compute shout, call w")
  eq(logged(function()
    t.first = "xy"
    t.last = ""
    obs.flush()
    obs.invalidate(t, "full")
    local _ = t.full
  end), "write first, invalidate full, invalidate shout, write last, compute full equal, "
    .. "invalidate full, invalidate shout, compute full equal")
end)
check("log: a computation that fails, and places", function()
  local t, events = { n = 1 }, {}
  obs.computed(t, "bad", { "n" }, function() error "no" end)
  local getter = here(-1)
  eq(logged(function() pcall(function() return t.bad end) end), "compute bad failed")
  obs.computed(t, "good", { "n" }, function(self) return self.n end)
  local _ = t.good
  obs.log(function(event) events[#events + 1] = event end)
  t.n = 2; local place = here()
  pcall(function() return t.bad end)
  obs.log(nil)
  local found = {}
  for _, event in ipairs(events) do found[event.kind .. " " .. event.key] = event.site end
  eq(found["invalidate good"], place)
  eq(found["compute bad"], getter)
end)
finish()
