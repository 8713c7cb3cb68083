local t = {}
for _ = 1, 300 do t = setmetatable({}, { __index = t }) end
while true do pcall(function() return t.x end) end
