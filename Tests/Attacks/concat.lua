local t = setmetatable({}, { __index = function() return "" end })
table.concat(t, "", 1, 1 << 60)
