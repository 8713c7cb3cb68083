local last
for _ = 1, 30000 do
  local inner = last
  last = coroutine.create(function()
    local _ <close> = setmetatable({}, {
      __close = function() if inner then coroutine.close(inner) end end,
    })
    coroutine.yield()
  end)
  coroutine.resume(last)
end
coroutine.close(last)
while true do end
