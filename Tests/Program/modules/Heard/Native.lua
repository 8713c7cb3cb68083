-- M1: a native module, which sees the raw tables, and its writes (M2).
local obs, check = require "obs", require "check"

obs.native { rawaccess = false }
local raw = require "rawaccess"
local json = require "cjson"

local t, calls = { a = 1, b = 2 }, 0
obs.observe(t, "a", function() calls = calls + 1 end)
check.equal(raw.get(t, "a"), nil, "the observed key is not in the table")
check.equal(raw.get(t, "b"), 2)
check.equal(json.encode { t }:find('"a":1', 1, true) ~= nil, true, "other modules see it")
raw.set(t, "a", 3)
obs.flush()
check.equal(calls, 0, "a raw write that nobody has met")
-- A module that sees observed tables finds the write, and each key once.
local copy = json.decode(json.encode(t))
check.equal({ copy.a, copy.b }, { 3.0, 2.0 })
obs.flush()
check.equal({ calls, t.a }, { 1, 3 }, "and takes it home")
t.a = 4
obs.flush()
check.equal(calls, 2)

obs.native { rawaccess = true }
check.equal(raw.get(t, "a"), 4, "shown again")
raw.set(t, "a", 5)
obs.flush()
check.equal(calls, 3)

obs.native { ["v1-rawaccess"] = false, ["nobody.has.this"] = false }
check.equal(raw.get(t, "a"), nil, "a name with a hyphen")
obs.native { ["v1-rawaccess"] = true }
check.equal(raw.get(t, "a"), 5)

check.fails("bad argument #1 to 'native' (table expected, as in { luv = false }, got no value)",
  obs.native)
check.fails("names of modules expected, as in { luv = false }, got a key of type number",
  obs.native, { "luv" })
check.fails("module 'luv' takes true", obs.native, { luv = "no" })
check.fails("module 'check' is written in Lua; name the C module that it requires",
  obs.native, { check = false })

check.done()
