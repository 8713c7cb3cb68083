-- M1: raw writes of C modules are reported later, as ordinary writes.
local obs, raw, check = require "obs", require "rawaccess", require "check"
local log

local function watch(t, path, options)
  return obs.observe(t, path, function(_, _, change)
    log[#log + 1] = change and string.format("%s:%s>%s", path, change.old, change.new) or path
  end, options)
end

-- Coalesced: at the flush, once, and only if the value differs (T5).
local t = { a = 1, b = 2 }
log = {}
watch(t, "a")
raw.set(t, "a", 2)
raw.set(t, "a", 3)
check.equal(t.a, 3, "the value is there at once")
check.equal(log, {}, "and nobody was called")
obs.flush()
check.equal(log, { "a" }, "heard at the flush")
raw.set(t, "a", 4)
raw.set(t, "a", 3)
obs.flush()
check.equal(log, { "a" }, "what C wrote to a key in between is one write")
raw.set(t, "a", nil)
obs.flush()
check.equal(log, { "a", "a" }, "taken away")
raw.set(t, "a", 5)
obs.flush()
check.equal(log, { "a", "a", "a" }, "there again")

-- Immediate: not in the raw write, but in the next write or call of obs.
local u, other = { a = 1, b = 1 }, { x = 0 }
log = {}
watch(u, "a", { immediate = true })
watch(u, "b", { immediate = true })
watch(other, "x", { immediate = true })
raw.set(u, "a", 2)
raw.set(u, "b", 2)
raw.set(u, "a", 3)
check.equal(log, {}, "no code of the program runs in a raw access")
other.x = 1
check.equal(log, { "a:1>3", "b:1>2", "x:0>1" }, "before the next write, in order")
raw.set(u, "a", 9)
u.a = 10
check.equal({ select(4, table.unpack(log)) }, { "a:3>9", "a:9>10" }, "the same key")
log = {}
raw.set(u, "a", 11)
obs.get(u, "b")
check.equal(log, { "a:10>11" }, "a call of obs")
log = {}
raw.set(u, "a", 12)
obs.stats()
check.equal(log, { "a:11>12" }, "any of them")

-- Raw writes of watchers are reported, too, and the calls come to an end.
local ping = { n = 0 }
log = {}
watch(ping, "n")
obs.observe(ping, "n", function() if ping.n < 1000 then raw.set(ping, "n", ping.n + 1) end end,
  { immediate = true })
ping.n = 1
obs.flush()
check.equal(ping.n > 1, true, "a watcher's raw write")
ping.n = 1000
obs.flush() obs.flush()

-- A watcher that is registered afterwards is not called for earlier writes.
local late = { a = 1 }
log = {}
watch(late, "b")
raw.set(late, "b", 1)
watch(late, "b")
obs.flush()
check.equal(log, { "b" }, "registered afterwards")

-- A table that only its watchers refer to is kept until the write is delivered (L2).
log = {}
do
  local gone = { a = 1 }
  watch(gone, "a")
  raw.set(gone, "a", 2)
end
collectgarbage() collectgarbage()
obs.flush()
check.equal(log, { "a" }, "the table lives until then")

-- Paths follow objects that C puts there.
local order = { customer = { name = "Ada" } }
log = {}
watch(order, "customer.name")
raw.set(order, "customer", { name = "Grace" })
obs.flush()
order.customer.name = "Edsger"
obs.flush()
check.equal(log, { "customer.name", "customer.name" }, "re-wired")

-- Computed properties.
local person = { first = "A", last = "B" }
obs.computed(person, "full", { "first", "last" }, function(self)
  return self.first .. self.last
end)
log = {}
watch(person, "full")
check.equal(person.full, "AB")
raw.set(person, "first", "C")
obs.flush()
check.equal(person.full, "CB")
check.equal(log, { "full" }, "a computed property")
check.equal(raw.get(person, "full"), "CB", "a valid lazy key is read")
obs.invalidate(person, "full")
check.equal(raw.get(person, "full"), nil, "an invalid one is not there")
check.fails("'fixed' is read-only", function()
  obs.lazy(person, "fixed", { get = function() return 1 end, readonly = true })
  raw.set(person, "fixed", 2)
end)
local calls = 0
obs.lazy(person, "size", function() calls = calls + 1 return 10 end)
check.equal({ person.size, calls }, { 10, 1 })
raw.set(person, "size", 20)
check.equal({ raw.get(person, "size"), person.size }, { 20, 20 }, "assigned by C")
obs.flush()
check.equal({ person.size, obs.is_valid(person, "size"), calls }, { 20, true, 1 }, "an assignment")
obs.invalidate(person, "size")
check.equal({ person.size, calls }, { 10, 2 }, "until it is invalid")
raw.set(person, "size", 30)
raw.set(person, "size", nil)
obs.flush()
check.equal({ person.size, obs.is_valid(person, "size") }, { nil, true }, "the last value counts")

-- Loaders that are C functions.
obs.lazy(person, { "loaded" }, { loader = function(self, name) raw.set(self, name, "by C") end })
check.equal(person.loaded, "by C", "a loader in C")

-- Tracked getters depend on the values that C reads for them.
local basket = { items = { 1, 2, 3 }, rebate = 1 }
obs.computed(basket, "total", function(self)
  local total = raw.get(self, "rebate")
  local _, _, values = raw.all(self.items)
  for _, value in ipairs(values) do total = total + value end
  return total
end)
check.equal(basket.total, 7)
basket.rebate = 2
check.equal(basket.total, 8, "a key that C read")
basket.items[2] = 10
check.equal(basket.total, 16, "a table that C went through")

-- Properties kept in a store.
local saved = {}
local backed = {}
obs.backed(backed, "volume", setmetatable({}, {
  __index = function(_, key) return saved[key] or 1 end,
  __newindex = function(_, key, value) saved[key] = value end,
}))
check.equal(backed.volume, 1)
raw.set(backed, "volume", 7)
check.equal(saved.volume, nil, "nothing is called in a raw write")
obs.flush()
check.equal({ saved.volume, backed.volume }, { 7, 7 }, "written through")

-- Sets, arrays and copies accept the same writes as from scripts.
local set, array = obs.set_of { "a" }, obs.array { 1, 2, 3 }
check.fails("a set has no fields", raw.set, set, "b", true)
check.fails("an array has integer indices, got string 'x'", raw.set, array, "x", 1)
check.fails("index 9 is out of range", raw.seti, array, 9, 1)
check.fails("nil would leave a hole at 1 of 3", raw.seti, array, 1, nil)
local source = { items = obs.array { 1 } }
obs.copy_of(source, "copy", "items")
check.fails("read-only", raw.seti, source.copy, 1, 2)
check.equal({ raw.len(set), raw.len(array), raw.get(set, "a") }, { 1, 3, "a" })
check.fails("cannot change the metatable of an array", raw.setmetatable, array, {})

-- The origin of a write (W4): the line that called the C module, not the line that found the write.
obs.record(true)
local written = { a = 1 }
local watcher = watch(written, "a")
raw.set(written, "a", 2) local line = debug.getinfo(1, "l").currentline
other.x = 5
obs.flush()
local _, reasons = obs.why(watcher)
check.equal(reasons:find("Writes.lua:" .. line, 1, true) ~= nil, true, reasons)

check.done()
