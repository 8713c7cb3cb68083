-- 782ef85b: `t[a < b]` reads an unwritten register if `t` belongs to an outer function.
local t = { [true] = "yes", [false] = "no" }
local function get(a, b)
  local c, d, e = {}, {}, {}
  return t[a < b], t[not (a < b)], t[a == b], _ENV[a ~= b]
end
local function set(a, b, v) t[a >= b] = v end
local secret = { [true] = "secret", [false] = "secret" }
local function hide(a) local x, y, z = secret, secret, a return z end
for n = 1, 50 do
  hide(n)
  local x, y, z, g = get(n, 25)
  assert(x == (n < 25 and "yes" or "no") and y == (n < 25 and "no" or "yes") and g == nil)
  assert(z == (n == 25 and "yes" or "no"))
  set(n, 25, n >= 25 and "yes" or "no")
end
print "done"
