local last
for _ = 1, 30000 do
  local inner = last
  local f = coroutine.wrap(function()
    local _ <close> = setmetatable({}, { __close = function() if inner then inner() end end })
    coroutine.yield()
    error "x"
  end)
  f()
  last = f
end
pcall(last)
while true do end
