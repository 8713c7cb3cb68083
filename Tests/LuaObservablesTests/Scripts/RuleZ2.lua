-- Rule Z2: what depends on something that is computed anew and comes out the same.
local obs = require "obs"

local checking = dofile(debug.getinfo(1, "S").source:match "^@(.*/)" .. "Support/checking.lua")
local check, eq = checking.check, checking.eq

check("a property that nobody observes has its value again where what it depends on is equal", function()
  local t = { a = 1, b = 3 }
  obs.computed(t, "sum", { "a", "b" }, function(self) return self.a + self.b end)
  obs.computed(t, "text", { "sum" }, function(self) return "sum " .. self.sum end)
  eq(t.text, "sum 4")
  t.a, t.b = 2, 2
  eq(t.text, "sum 4")
  eq(obs.peek(t, "text"), "sum 4")
end)

check("… also where that is an operator, or was read by a tracked getter", function()
  local t = { lines = { { price = 1 }, { price = 2 } } }
  obs.computed(t, "sum", { "lines.@sum.price" }, function(self)
    return obs.get(self, "lines.@sum.price")
  end)
  obs.computed(t, "text", function(self) return "sum " .. self.sum end)
  eq(t.text, "sum 3")
  t.lines[1].price, t.lines[2].price = 2, 1
  eq(t.sum, 3)
  t.lines[1].price, t.lines[2].price = 0, 3
  eq(t.text, "sum 3")
end)

checking.finish()
