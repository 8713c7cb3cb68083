-- Recursion grows the stack; then a call fills the stack with arguments, and moves all of them at
-- each step.
local meta = {}
local t = setmetatable({}, meta)
meta.__call = t
local function deep(n) return n == 0 and 0 or 1 + deep(n - 1) end
deep(150000)
while true do pcall(t) end
