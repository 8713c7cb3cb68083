-- Rules Z2, Z7 and Z10: what depends on equal values, `peek`, and what tracked getters of models read.
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

check("peek gives one value, nil where the property is invalid", function()
  local t = {}
  obs.lazy(t, "x", function() return 1 end)
  eq(select("#", obs.peek(t, "x")), 1)
  eq(obs.peek(t, "x"), nil)
end)

check("a tracked getter of a model reads properties that are declared by that", function()
  local Item = obs.model("Item", {
    n = 1,
    net = obs.computed({ "n" }, function(self) return self.n end),
    total = obs.computed(function(self) return self.net * 10 end),
  })
  local item = Item {}
  eq(item.total, 10)
  item.n = 2
  eq(item.total, 20)
  local box = { item = Item {} }
  obs.computed(box, "total", function(self) return self.item.total + self.item.net end)
  eq(box.total, 11)
  box.item.n = 2
  eq(box.total, 22)
end)

checking.finish()
