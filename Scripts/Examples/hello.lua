local obs = require "obs"

local order = { customer = { address = { city = "London" } }, items = {} }

obs.observe(order, "customer.address.city", function(order)
  print("ship to " .. order.customer.address.city)
end)

obs.observe(order, "items.*.price", function(order)
  local total = 0
  for _, item in ipairs(order.items) do total = total + item.price end
  print("total " .. total)
end)

order.customer.address.city = "Oxford"     -- Both writes belong to one turn:
order.customer.address.city = "Cambridge"  -- one call, which reads the latest.
table.insert(order.items, { name = "tea", price = 4 })
obs.flush()                                -- The loop does this at the end of each turn.

order.customer = { address = { city = "New York" } }  -- The path follows the new objects.
order.items[1].price = 5
