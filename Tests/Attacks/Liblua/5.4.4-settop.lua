-- 196bb94d: a C function that closes a value continues with the old stack.
local function deep(n) if n == 0 then return 0 end return 1 + deep(n - 1) end
local t = setmetatable({}, { __index = function(_, i) deep(150) return i end })
for n = 1, 100 do
  local co = coroutine.wrap(function()
    deep(n)
    local list = table.concat(t, ",", 1, 3)
    return list, (("x"):rep(300):gsub("x", function() deep(n) return "yy" end))
  end)
  local list, text = co()
  assert(list == "1,2,3" and #text == 600)
  pcall(table.sort, { 3, 1, 2 }, function(a, b) deep(n * 5) return a < b end)
end
print "done"
