-- The cost of recording a run: a shop whose orders come and go, with and without a recording.
package.path = arg[0]:gsub("[^/]*$", "") .. "lib/?.lua;" .. package.path
local bench = require "bench"
local obs = require "obs"

local path = os.tmpname()
os.remove(path)

local shop = { orders = obs.array {}, stock = {}, open = 0, sales = 0 }
for i = 1, 20 do shop.stock[i] = { count = 100, isLow = false } end
obs.computed(shop, "total", { "orders.*.price" }, function(self)
  local sum = 0
  for _, order in ipairs(self.orders) do sum = sum + order.price end
  return sum
end)
obs.observe(shop, "total", function(self) self.sales = self.total end)
obs.observe(shop, "orders.count", function(self) self.open = #self.orders end)
obs.observe(shop, "stock.*.count", function(self)
  for _, item in ipairs(self.stock) do item.isLow = item.count < 20 end
end)
obs.observe(shop, "stock.*.isLow", function(self) self.warnings = (self.warnings or 0) + 1 end)

local turn = 0
local function turns(count)
  for _ = 1, count do
    turn = turn + 1
    local item = shop.stock[turn * 7 % 20 + 1]
    item.count = item.count > 0 and item.count - 1 or 100
    shop.orders:append { price = turn * 13 % 50 }
    if #shop.orders > 30 then shop.orders:remove(1) end
    obs.flush()
  end
end

local events, bytes = 0, 0
local function record(count)
  local recording = assert(obs.start_recording(path))
  turns(count)
  recording:stop()
  local file = assert(io.open(path, "rb"))
  local text = file:read "a"
  file:close()
  events, bytes = select(2, text:gsub("\n", "\n")), #text
end

bench.row("recording: a turn, not recorded", 2000, nil, turns, "µs")
bench.row("recording: a turn, recorded", 2000, "3 * recording: a turn, not recorded", record, "µs")
bench.run()
bench.print("recording: a line", bytes / events, "bytes", 60)
os.remove(path)
