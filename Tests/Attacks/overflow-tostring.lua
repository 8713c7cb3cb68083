local t = setmetatable({}, {})
getmetatable(t).__tostring = function() return tostring(t) end
while true do pcall(tostring, t) end
