-- An order with lines and totals. Operators in key paths compute the totals: a change costs the work
-- for one line, however long the order is.

local obs = require "obs"

local order = {
  customer = "Ada",
  discount = 0,
  lines = obs.array {
    { product = "tea", quantity = 2, price = 4.5 },
    { product = "biscuits", quantity = 1, price = 3.25 },
  },
}

local function say(...) print(string.format(...)) end

-- Each line stores its amount.
local function keep_amount(line) line.amount = line.quantity * line.price end

local function add_line(product, quantity, price)
  local line = { product = product, quantity = quantity, price = price }
  keep_amount(line)
  order.lines:append(line)
  return line
end

for _, line in ipairs(order.lines) do keep_amount(line) end

-- A name over an array means this property of each element: the watcher is called for the quantity
-- and the price of every line, also of lines that are added later.
obs.observe(order, { "lines.quantity", "lines.price" }, function(order)
  for _, line in ipairs(order.lines) do keep_amount(line) end
end, { name = "amounts" })

-- Called only when the total has changed.
obs.observe(order, { "lines.@sum.amount", "discount" }, function(order)
  local sum = obs.get(order, "lines.@sum.amount")
  say("total      %8.2f  (%d lines, discount %d %%)", sum * (1 - order.discount / 100),
    obs.get(order, "lines.@count"), order.discount)
end, { name = "total", initial = true })

obs.observe(order, "lines.@max.price", function(order)
  say("dearest    %8.2f", obs.get(order, "lines.@max.price"))
end, { name = "dearest" })

-- Prints the edits of the list.
obs.observe_edits(order.lines, function(lines, edits)
  for _, edit in ipairs(edits) do
    local line = edit.new or edit.old
    say("%-10s %8s  at %d", edit.kind, line.product, edit.at)
  end
end, { name = "journal" })

obs.next_turn(function()
  local honey = add_line("honey", 1, 7.5)
  order.lines:move(3, 1)
  -- A changed line is not an edit of the list, but it changes the total.
  honey.quantity = 2
end)

obs.after(0.01, function()
  order.lines[2].quantity = 4  -- Twice the tea …
  order.lines[2].price = 2.25  -- … at half the price: the same total, so no call for it.
end)

obs.after(0.02, function() order.discount = 10 end)

obs.after(0.03, function()
  order.lines = obs.array { { product = "coffee", quantity = 1, price = 9, amount = 9 } }
end)
