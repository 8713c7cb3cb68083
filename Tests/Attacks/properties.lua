-- Computed and lazy properties, and models. Each is stopped by the limit of time.
local obs = require "obs"

--- computed-chain
local t = { k0 = 0 }
for i = 1, 5000 do
  local p = "k" .. i - 1
  obs.computed(t, "k" .. i, { p }, function(s) return s[p] + 1 end)
end
while true do
  t.k0 = t.k0 + 1
  local _ = t.k5000
end
--- tracked-chain
local t = { k0 = 0 }
for i = 1, 5000 do
  local p = "k" .. i - 1
  obs.computed(t, "k" .. i, function(s) return s[p] + 1 end)
end
while true do
  t.k0 = t.k0 + 1
  local _ = t.k5000
end
--- copy-of
local t = { l = {} }
for i = 1, 200000 do t.l[i] = i end
obs.copy_of(t, "c", "l")
while true do
  t.l[1] = t.l[1] + 1
  local _ = t.c[1]
end
--- force
local t = {}
for i = 1, 5000 do obs.lazy(t, "k" .. i, { get = function() return i end }) end
while true do
  obs.force(t)
  obs.invalidate(t)
end
--- getter-recursion
local t = {}
obs.computed(t, "a", function(t) return t.b end)
obs.computed(t, "b", function(t) return t.a end)
while true do pcall(function() return t.a end) end
--- lazy-names
local t = {}
for i = 1, 5000 do obs.lazy(t, "k" .. i, { get = function() return i end }) end
while true do
  obs.valid_names(t)
  obs.invalid_names(t)
end
--- model
while true do
  local M = obs.model("M", { a = 1, b = obs.computed({ "a" }, function(s) return s.a end) })
  for _ = 1, 100 do M {} end
end
--- model-deep
local d = {}
for _ = 1, 50000 do d = { d } end
while true do pcall(obs.model, "M", { a = d }) end
