-- 983bc433: the `__newindex` table of a weak metatable is freed while it grows.
local hog, n = {}, 0
for _, size in ipairs { 4000000, 60000, 500 } do
  pcall(function() while true do n = n + 1 hog[n] = ("x"):rep(size) .. n end end)
end
for _ = 1, 60 do
  hog[n] = nil
  n = n - 1
  pcall(function()
    local t = setmetatable({}, setmetatable({ __newindex = {} }, { __mode = "v" }))
    for j = 1, 60 do t[j] = j end
  end)
end
hog = nil
print "done"
