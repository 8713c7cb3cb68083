-- Each call asks the table for what is called in its place, and that is itself.
local meta = {}
local t = setmetatable({}, meta)
meta.__call = t
while true do pcall(t) end
