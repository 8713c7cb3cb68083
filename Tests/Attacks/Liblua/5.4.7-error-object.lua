-- 25da574f: the message of an error during error handling is created outside a protected call.
local function handler(e) return handler(e) + 1 end
for _ = 1, 2 do
  assert(not xpcall(error, handler, 1))
  assert(not xpcall(function() local function f() return f() + 1 end return f() end, handler))
end
local hog, n = {}, 0
for _, size in ipairs { 1000000, 10000, 100 } do
  pcall(function() while true do n = n + 1 hog[n] = ("x"):rep(size) .. n end end)
end
pcall(xpcall, error, handler, 1)
hog = nil
print "done"
