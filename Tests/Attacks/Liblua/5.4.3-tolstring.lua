-- 439e45a2: luaL_tolstring with a negative index, and `__name` that is no string.
for _, name in ipairs { 1, {}, "name" } do
  assert(tostring(setmetatable({}, { __name = name })))
  assert(not pcall(tostring, setmetatable({}, { __tostring = function() return {} end })))
end
print "done"
