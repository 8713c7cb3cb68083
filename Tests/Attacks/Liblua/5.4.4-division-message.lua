-- 02bab9fc: a division by zero raises its error with a stale stack top.
local function divide(a, b)
  local kept = { a }
  local function get() return kept[1] end
  local x <close> = setmetatable({}, { __close = function() assert(get() == a) end })
  local f = table.unpack({ get, get, get })
  return f() // b, f() % b
end
for n = 1, 100 do
  local ok, message = pcall(divide, n, 0)
  assert(not ok and message:find("divide by zero") or message:find("'n//0'"))
  assert(not pcall(load("local a = ... return (function(...) return a % 0 end)(1, 2, 3)"), n))
end
print "done"
