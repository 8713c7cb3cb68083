-- Checks work anywhere: time passes or `advance` is refused, and nothing traps.
local obs = require "obs"

local t = { n = 0 }
obs.observe(t, "n", function() log "called" end)

local function pass()
  t.n = t.n + 1
  expect_equal(t.n, t.n)
  return pcall(advance, 1)
end

expect(pass(), "here")
expect(coroutine.wrap(pass)(), "in a coroutine")
expect(select(2, pcall(pass)), "in a protected call")
expect((select(2, xpcall(error, pass))), "in an error handler")
expect_log { "called", "called", "called", "called" }

local proxy = setmetatable({}, { __index = pass, __eq = pass, __close = pass, __gc = pass })
expect(proxy.x ~= nil, "in a metamethod")
expect_equal(proxy == setmetatable({}, getmetatable(proxy)), true)
do local closed <close> = proxy end
local words = { "c", "a", "b" }
table.sort(words, function(a, b)
  pass()
  return a < b
end)
expect_equal(words, { "a", "b", "c" })
expect_equal(("x"):gsub("x", function() pass() end), "x")

-- Finalizers run at any point of the program.
for _ = 1, 100 do setmetatable({}, { __gc = pass }) end
collectgarbage()
collectgarbage()

local refused = 0
local function refuse() if not pass() then refused = refused + 1 end end
local u = { n = 0 }
obs.observe(u, "n", refuse, { immediate = true })
obs.observe(u, "n", refuse)
obs.lazy(u, "lazy", refuse)
u.n = 1
obs.flush()
local _ = u.lazy
obs.batch(refuse)
obs.next_turn(refuse)
obs.task(function()
  obs.sleep(1)
  refuse()
end)
obs.scope(refuse)
advance(2)
expect_equal(refused, 6)
