-- 2db966fc: a traceback uses more stack slots than it requests.
local function deep(n, ...)
  if n == 0 then return #debug.traceback(...) end
  return deep(n - 1, ...) + 0
end
for n = 1, 300, 3 do
  local co = coroutine.wrap(deep)
  assert(co(n, "message") > 0)
end
pcall(function() local function f() return 1, f() end return f() end)
xpcall(function() local function f() return 1 + f() end return f() end, debug.traceback)
print "done"
