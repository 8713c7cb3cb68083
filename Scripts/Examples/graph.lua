-- An invoice as a graph of observers. With Graphviz installed
-- 
--     Scripts/run Scripts/Examples/graph.lua | dot -Tsvg > graph.svg
-- 
-- draws it: boxes are objects with their observed keys and lazy properties, ellipses are watchers.
-- Black arrows lead to observed objects, blue ones to the dependencies of a property, grey ones to
-- stored objects. Add `json` or `mermaid` after the name of the script to print these formats.

local obs = require "obs"

local Line = obs.model("Line", {
  product = "", quantity = 1, price = 0,
  amount = obs.computed({ "quantity", "price" }, function(self)
    return self.quantity * self.price
  end),
})

local Invoice = obs.model("Invoice", {
  customer = obs.none,
  lines = obs.array(),
  rate = 20,
  net = obs.computed({ "lines.@sum.amount" }, function(self)
    return obs.get(self, "lines.@sum.amount")
  end),
  total = obs.computed(function(self) return self.net * (100 + self.rate) // 100 end),
  -- It has not been read, so it stays invalid, also in the graph.
  document = obs.lazy(function(self) return "Invoice for " .. self.customer.name end),
})

local invoice = Invoice { customer = { name = "Ada" } }
invoice.lines:append(Line { product = "tea", quantity = 2, price = 5 })
invoice.lines:append(Line { product = "cups", quantity = 6, price = 3 })

obs.observe(invoice, "total", function() end, { name = "screen" })
obs.observe(invoice, { "customer.name", "customer.address.city" }, function() end, { name = "envelope" })

io.write(obs.graph(invoice, arg and arg[1]))
