-- 1e64c139: coroutines that close one another overflow the C stack.
local last
for _ = 1, 5000 do
  local previous = last
  last = coroutine.create(function()
    local x <close> = setmetatable({}, {
      __close = function() if previous then coroutine.close(previous) end end,
    })
    coroutine.yield()
  end)
  coroutine.resume(last)
end
pcall(coroutine.close, last)
print "done"
