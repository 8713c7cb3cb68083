local t = setmetatable({}, { __len = function() return 1 << 60 end })
while true do
  pcall(table.insert, t, 1, 1)
  pcall(table.remove, t, 1)
end
