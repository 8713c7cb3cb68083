local function big(n, f)
  local list = {}
  for i = 1, n do list[i] = f(i) end
  return list
end

while true do local t = big(100000, function() return {} end) end
