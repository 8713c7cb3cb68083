-- 52c86797: `next` does not find a key that was removed and collected.
local t = {}
for i = 1, 40 do
  t[{ i }] = i
  t[("key"):rep(20) .. i] = i
end
local count = 0
for key in pairs(t) do
  t[key] = nil
  count = count + 1
  for _ = 1, 200 do local _ = { ("garbage"):rep(10) .. count } end
end
assert(count == 80 and next(t) == nil)
print "done"
