-- 997f11f5: `break` does not close the fourth value of a `for` loop.
local count = 0
local closing = setmetatable({}, { __close = function() count = count + 1 end })
local function leave(...)
  do
    local a, b, c, d, e, f
    for k in next, { 1 }, nil, closing do
      local function g() return k end
      break
    end
  end
  local x <close> = closing
  return ...
end
for n = 1, 200 do assert(select("#", leave(table.unpack({}, 1, n))) == n) end
assert(count == 400)
-- An ordinary loop still works.
local kept = {}
for _, v in ipairs { 1, 2, 3 } do
  kept[v] = function() return v end
  if v == 2 then break end
end
assert(kept[1]() == 1 and kept[2]() == 2 and #kept == 2)
print "done"
