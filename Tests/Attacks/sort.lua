local function big(n, f)
  local list = {}
  for i = 1, n do list[i] = f(i) end
  return list
end

local l = big(500000, function(i) return i ~ 0x5555 end)
while true do table.sort(l, math.ult) end
