-- Each call asks the table for its `__call`, which is the table again.
local meta = {}
local t = setmetatable({}, meta)
meta.__call = t
while true do pcall(t) end
