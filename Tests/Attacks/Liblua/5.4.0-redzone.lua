-- 34affe7a: a call of a value that is not a function exceeds the limit of nested C calls.
local depth = 0
local function down()
  depth = depth + 1
  local nothing = setmetatable({}, { __index = down, __call = depth })
  local _ = pcall(function() return nothing[1] .. nothing end)
  return nothing()
end
for _ = 1, 20 do
  depth = 0
  assert(not pcall(down))
  depth = 0
  assert(not xpcall(down, function(e) return nil .. e end))
end
print "done"
