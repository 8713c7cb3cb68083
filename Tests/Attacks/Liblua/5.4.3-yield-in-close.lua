-- 68129718: a yield in `__close` during a return changes the number of results.
local function closing() return setmetatable({}, { __close = coroutine.yield }) end
for n = 0, 60 do
  local co = coroutine.wrap(function(...)
    local a <close>, b = closing(), {}
    local c <close> = closing()
    return ...
  end)
  co(table.unpack({}, 1, n))
  co(table.unpack({}, 1, 40))
  assert(select("#", co({}, {}, {})) == n)
end
print "done"
