-- 2bfa13e5: `__close` moves the stack while a function returns.
local function deep(n) if n == 0 then return 0 end return 1 + deep(n - 1) end
local function closing(n)
  return setmetatable({}, { __close = function() deep(n) local _ = { n } end })
end
for n = 1, 200, 7 do
  local co = coroutine.wrap(function()
    local a <close> = closing(n * 10)
    local b <close> = closing(n * 20)
    return table.unpack({ 1, 2, 3, n }, 1, 4)
  end)
  local _, _, c, d = co()
  assert(c == 3 and d == n)
  assert(not pcall(coroutine.wrap(function()
    local a <close> = closing(n * 30)
    error { n }
  end)))
end
print "done"
