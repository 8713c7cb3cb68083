-- An invoice: each line has an amount, and the invoice has totals. Watchers are called when a number
-- has changed, and no code says when to add up.

local obs = require "obs"

local function round(x) return math.floor(x * 100 + 0.5) / 100 end

-- A model declares properties for all its instances, as `obs.computed(line, "amount", …)` for one.
local Line = obs.model("Line", {
  product = "", quantity = 1, price = 0,
  amount = obs.computed({ "quantity", "price" }, function(self)
    return self.quantity * self.price
  end),
})

local Invoice = obs.model("Invoice", {
  customer = obs.none,
  lines = obs.array(),
  rate = 0.2,
  -- A to-many dependency: added lines, removed lines, and the amount of each line.
  net = obs.computed({ "lines.@sum.amount" }, function(self)
    return obs.get(self, "lines.@sum.amount")
  end),
  -- Depends on the list of lines, and on two properties of each line.
  dearest = obs.computed({ "lines.product", "lines.amount" }, function(self)
    local dearest
    for _, line in ipairs(self.lines) do
      if not dearest or line.amount > dearest.amount then dearest = line end
    end
    return dearest and dearest.product or "nothing"
  end),
  -- Tracked: depends on the rate only if the customer pays tax.
  tax = obs.computed(function(self)
    if self.customer and self.customer.exempt then return 0 end
    return round(self.net * self.rate)
  end),
  total = obs.computed(function(self) return self.net + self.tax end),
})

local invoice = Invoice { customer = { name = "Ada" } }

local function line(product, quantity, price)
  local line = Line { product = product, quantity = quantity, price = price }
  invoice.lines:append(line)
  return line
end

local tea = line("tea", 2, 4.5)
local cups = line("cups", 6, 3)

obs.observe(invoice, "total", function(invoice)
  print(("total    %7.2f  (net %.2f, tax %.2f)"):format(invoice.total, invoice.net, invoice.tax))
end, { initial = true })

obs.observe(invoice, "dearest", function(invoice) print("dearest  " .. invoice.dearest) end)

local function step(text, action)
  print("— " .. text)
  action()
  obs.flush()
end

step("as it is", function() end)
step("three times the tea", function() tea.quantity = 6 end)
step("twice as many cups at half the price", function()
  cups.quantity, cups.price = 12, 1.5
end)
step("a line more", function() line("kettle", 1, 40) end)
step("a line less", function() invoice.lines:remove_value(cups) end)
step("the customer pays no tax", function() invoice.customer.exempt = true end)
step("the rate changes: the value has not been read", function() invoice.rate = 0.25 end)
step("another customer", function() invoice.customer = { name = "Grace" } end)
step("the tax office has its own opinion", function() invoice.tax = 9.99 end)
step("… until the tax is computed anew", function() tea.price = 5 end)
