-- d2826525: slots beyond the end of a stack that grows hold what is dead.
local mt = {}
function mt.__index(_, n) if n == 0 then return 0 end return setmetatable({}, mt)[n - 1] + 1 end
for _ = 1, 6 do
  local co = coroutine.wrap(function(n) local _ = { {}, {} } return setmetatable({}, mt)[n] end)
  assert(co(20 + _) == 20 + _)
  pcall(function() local function f(n) return 1 + f(n + 1) end return f(1) end)
end
print "done"
