-- The arguments of lua_resetthread have changed.
for _ = 1, 100 do
  local co = coroutine.create(function()
    local x <close> = setmetatable({}, { __close = function(_, e) error(e or "closed") end })
    coroutine.yield(1)
  end)
  coroutine.resume(co)
  local ok, message = coroutine.close(co)
  assert(not ok and tostring(message):find("closed"))
end
print "done"
