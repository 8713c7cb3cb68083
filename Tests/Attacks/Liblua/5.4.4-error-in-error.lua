-- 42d40581: errors during error handling, at the limit of nested C calls, fill the stack.
local function loop(x, y, z) return 1 + loop(x, y, z) end
for _ = 1, 2 do
  local ok = xpcall(loop, loop, nil, {}, ("x"):rep(100))
  assert(not ok)
  local t = setmetatable({}, { __index = function(t, k) return t[k] .. ("y"):rep(50) end })
  assert(not xpcall(function() return t.x end, function(e) return e .. t.y end))
  assert(not pcall(function() return xpcall(function() string.rep() end, loop) + 1 end))
end
print "done"
