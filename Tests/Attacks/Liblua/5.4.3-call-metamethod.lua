-- 6b3e116d: `__call` is read before the stack grows, which can collect it.
local function caller(n)
  local t = setmetatable({}, { __call = function(_, ...) return select("#", ...) end })
  return (t(table.unpack({}, 1, n)))
end
for n = 1, 200 do assert(coroutine.wrap(caller)(n) == n) end
print "done"
