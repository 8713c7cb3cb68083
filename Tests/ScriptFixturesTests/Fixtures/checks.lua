-- Checks that pass.
local obs = require "obs"

case("the checks return their arguments", function()
  assert(expect(7, "a number") == 7)
  assert(expect_equal({ 1, { x = "y" } }, { 1, { x = "y" } }) == true)
  assert(expect_error(function() error { code = 7 } end).code == 7)
end)

case("equality is deep, and knows loops and NaN", function()
  local function loop()
    local t = { 0 / 0 }
    t.self = t
    return t
  end
  expect_equal(loop(), loop())
  expect_equal(1, 1.0)
end)

case("an observed table is compared as a plain one", function()
  local t = { a = 1, list = { 1, 2 } }
  obs.observe(t, "*", function() end)
  obs.observe(t, "list.*", function() end)
  t.a = 2
  expect_equal(t, { a = 2, list = { 1, 2 } })
end)

case("collections and objects of models are compared by their contents", function()
  local list = obs.array { 1, { x = 2 } }
  obs.observe(list, "*", function() end)
  expect_equal(list, { 1, { x = 2 } })
  expect_equal(obs.dictionary { a = 1 }, { a = 1 })
  local Item = obs.model("Item", { name = "tea", price = 4 })
  expect_equal(Item { price = 5 }, Item { price = 5 })
end)

case("a raised error is found by text or by pattern", function()
  expect_error(function() error("a.b (c) [d") end, "(c) [d")
  expect_error(function() error("line 12") end, "line %d+$")
end)

case("the log is compared as a whole, and begins anew", function()
  log("one", 1, nil, true)
  log "two"
  expect_log { "one 1 nil true", "two" }
  expect_log {}
end)

local helpers = require "Support.helpers"
expect_equal(helpers.double(2), 4, "what lies beside the fixture")
