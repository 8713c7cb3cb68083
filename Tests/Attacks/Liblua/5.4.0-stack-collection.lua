-- eb419994: a collection during the growth of the stack shrinks it again.
local function spread(n, ...)
  if n == 0 then return select("#", ...) end
  local t = { ..., {}, n }
  return spread(n - 1, t, ...)
end
for round = 1, 60 do
  local co = coroutine.wrap(function(...)
    local f = setmetatable({}, { __call = function(_, n, ...) return spread(n, ...) end })
    return f(round, ...)
  end)
  assert(co(table.unpack({}, 1, 150)) == 150 + round)
end
print "done"
