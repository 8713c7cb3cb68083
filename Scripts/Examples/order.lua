-- An order with lines and totals. Nobody adds anything up: the operators of key paths do, one line
-- at a time, however long the order is.

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

-- Each line keeps its own amount.
local function keep_amount(line) line.amount = line.quantity * line.price end

local function add_line(product, quantity, price)
  local line = { product = product, quantity = quantity, price = price }
  keep_amount(line)
  order.lines:append(line)
  return line
end

for _, line in ipairs(order.lines) do keep_amount(line) end

-- A name over an array is the name of each element: this hears every quantity and every price, of
-- the lines that are there now and of those that come.
obs.observe(order, { "lines.quantity", "lines.price" }, function(order)
  for _, line in ipairs(order.lines) do keep_amount(line) end
end, { name = "amounts" })

-- Called when a total has another value than before, and only then.
obs.observe(order, { "lines.@sum.amount", "discount" }, function(order)
  local sum = obs.get(order, "lines.@sum.amount")
  say("total      %8.2f  (%d lines, discount %d %%)", sum * (1 - order.discount / 100),
    obs.get(order, "lines.@count"), order.discount)
end, { name = "total", initial = true })

obs.observe(order, "lines.@max.price", function(order)
  say("dearest    %8.2f", obs.get(order, "lines.@max.price"))
end, { name = "dearest" })

-- What a printer needs: not the state, but what became of it.
obs.observe_edits(order.lines, function(lines, edits)
  for _, edit in ipairs(edits) do
    local line = edit.new or edit.old
    say("%-10s %8s  at %d", edit.kind, line.product, edit.at)
  end
end, { name = "journal" })

obs.next_turn(function()
  local honey = add_line("honey", 1, 7.5)
  order.lines:move(3, 1)
  -- A line that changes is no edit of the list; the total hears it.
  honey.quantity = 2
end)

obs.after(0.01, function()
  order.lines[2].quantity = 4  -- Twice the tea …
  order.lines[2].price = 2.25  -- … at half the price: the total stays, and nobody is called.
end)

obs.after(0.02, function() order.discount = 10 end)

obs.after(0.03, function()
  order.lines = obs.array { { product = "coffee", quantity = 1, price = 9, amount = 9 } }
end)
