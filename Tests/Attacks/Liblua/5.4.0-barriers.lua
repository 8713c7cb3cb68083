-- a6da1472: a write barrier during a sweep marks dead objects.
local keep = {}
for i = 1, 3000 do
  local x
  local co = coroutine.create(function(v)
    x = v
    local f = function() return x end
    x = coroutine.yield(f)
    coroutine.yield()
  end)
  local _, f = coroutine.resume(co, { i })
  keep[i % 50] = { f, setmetatable({ i }, { __index = keep[(i - 7) % 50] }) }
  coroutine.resume(co, { i, i })
  co = nil
  assert(f()[2] == i)
end
print "done"
