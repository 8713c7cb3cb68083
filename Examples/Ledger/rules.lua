-- Sums the unpaid totals, and warns.
local obs = require "obs"
local limit = 100

local open = store:query("Invoice", { where = "isPaid = false and total > ?", args = { 0 } })

obs.observe(open, "@sum.total", function()
  local sum = obs.get(open, "@sum.total")
  print("  owed: " .. sum)
  if sum > limit then print("  ⚠ more than " .. limit .. " is owed") end
end)

-- A customer with this name pays at once.
obs.observe(open, "*", function()
  for _, invoice in pairs(open) do
    if invoice.customer == "Quick" then invoice.isPaid = true end
  end
end)
