-- 5853c37a: the size of a string wraps round when its header is added.
local s = ("x"):rep(100000)
local ok = pcall(function() while true do s = s .. s .. s end end)
assert(not ok)
for _, n in ipairs { math.maxinteger, math.maxinteger // 2, 1 << 62, 1 << 40 } do
  assert(not pcall(string.rep, "ab", n) and not pcall(string.rep, "", n, "ab"))
end
print "done"
