-- 3fe7be95: a message handler of a coroutine is called after the coroutine is gone.
local function deep(n, handler)
  if n == 0 then return xpcall(coroutine.yield, handler) end
  return (deep(n - 1, handler))
end
for _, depth in ipairs { 0, 1, 100, 5000 } do
  local co = coroutine.create(function()
    local x <close> = setmetatable({}, {
      __close = function()
        local t
        for i = 1, 5000 do t = { i } end
        error(depth)
      end,
    })
    deep(depth, function() return "XXX" end)
  end)
  coroutine.resume(co)
  local ok, message = coroutine.close(co)
  assert(not ok and message == depth)
end
print "done"
