local obs = require "obs"

obs.observe(order, "city", function(order) log("ship to", order.city) end)

case("many changes in one turn are one call", function()
  order.city = "Oxford"
  order.city = "Cambridge"
  advance(0)
  expect_log { "ship to Cambridge" }
end)

case("a reminder comes after an hour", function()
  obs.after(3600, function() log("remind", order.city) end)
  advance(3599)
  expect_log {}
  advance(1)
  expect_log { "remind Cambridge" }
end)

case("items are a list of texts", function()
  order.items:append("tea")
  expect_equal(order.items, { "tea" })
  expect_error(function() order.items:append(7) end, "takes values of type String")
end)
