-- Each call asks the table for its `__call`, which is the table again, after recursion has left
-- half of the stack free.
local meta = {}
local t = setmetatable({}, meta)
meta.__call = t
local function deep(n)
  if n > 0 then return 1 + deep(n - 1) end
  while true do pcall(coroutine.wrap(deep), 60000) pcall(t) end
end
deep(60000)
