local function self(i) return i end
local function big(n, f)
  local list = {}
  for i = 1, n do list[i] = f(i) end
  return list
end

local t = big(1000000, self)
for i = 1, #t do t[i] = nil end
while true do next(t) end
