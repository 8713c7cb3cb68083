-- 7923dbbf: the search for a value's name follows a chain of indices, with a C call for each.
local t = setmetatable({}, {})
t.a, t._ENV = t, t
for _, name in ipairs { ".a", "._ENV", "[1 < 2]" } do
  for _, n in ipairs { 100, 5000, 12000, 30000 } do
    local f = load("local t = ... return t" .. name:rep(n) .. ".y.z", "=chunk")
    if f then assert(not pcall(f, t)) end
  end
end
print "done"
