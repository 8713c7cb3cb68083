local function self(i) return i end
local function big(n, f)
  local list = {}
  for i = 1, n do list[i] = f(i) end
  return list
end

local l = big(1000, self)
while true do pcall(table.sort, l, function() return true end) end
