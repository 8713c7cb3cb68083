-- 983bc433: the same, with a table that is too large for the free memory.
for power = 12, 18 do
  local garbage = {}
  local h = {}
  local t = setmetatable({}, setmetatable({ __newindex = h }, { __mode = "v" }))
  pcall(function() for j = 1, 1 << power do h[j + 0.5] = true end end)
  pcall(function() for j = 1, 1e9 do garbage[j] = ("x"):rep(50000 + j) end end)
  garbage, h = nil, nil
  pcall(function() t[1.25] = true end)
  pcall(function() for j = 1, 2000 do garbage = { j, garbage } end end)
  garbage = nil
end
print "done"
