-- Each call asks the table for what is called in its place, where a recursion has left half of the
-- stack free.
local meta = {}
local t = setmetatable({}, meta)
meta.__call = t
local function deep(n)
  if n > 0 then return 1 + deep(n - 1) end
  while true do pcall(coroutine.wrap(deep), 60000) pcall(t) end
end
deep(60000)
