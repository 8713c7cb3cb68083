-- 439e45a2: luaL_tolstring gets a negative index and a `__name` that is not a string.
for _, name in ipairs { 1, {}, "name" } do
  assert(tostring(setmetatable({}, { __name = name })))
  assert(not pcall(tostring, setmetatable({}, { __tostring = function() return {} end })))
end
print "done"
