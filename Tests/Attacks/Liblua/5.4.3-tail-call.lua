-- 47cffdc7: a tail call leaves a `for` loop that has a value to close.
local closed = 0
local function iterate(n)
  return function(_, i) if i < n then return i + 1 end end, nil, 0,
    setmetatable({}, { __close = function() closed = closed + 1 end })
end
local function rest(n) local a, b, c, d, e = {}, {}, {}, {}, n return e end
local function leave(n) for i in iterate(n) do return rest(i) end end
for n = 1, 300 do
  assert(leave(n) == 1)
  local x <close> = setmetatable({}, { __close = function() end })
end
assert(closed == 300)
print "done"
