-- e1d8770f: a coroutine started deep inside calls gets a wrong limit of nested C calls.
local function down(n)
  if n > 0 then return 1 + down(n - 1) end
  return coroutine.wrap(function() return down(900) end)()
end
for _ = 1, 3 do assert(not pcall(down, 900)) end
print "done"
