-- bfbff370: `__close` runs in a coroutine with the status "dead", and can call and close it.
for round = 1, 50 do
  local wrapped
  wrapped = coroutine.wrap(function()
    local x <close> = setmetatable({}, {
      __close = function()
        pcall(wrapped)
        return pcall(wrapped)
      end,
    })
    error { round }
  end)
  assert(not pcall(wrapped))
  local co
  co = coroutine.create(function()
    local x <close> = setmetatable({}, {
      __close = function()
        pcall(coroutine.close, co)
        pcall(coroutine.resume, co)
        error(round)
      end,
    })
    coroutine.yield()
  end)
  coroutine.resume(co)
  assert(not coroutine.close(co))
  assert(not coroutine.resume(co))
end
print "done"
