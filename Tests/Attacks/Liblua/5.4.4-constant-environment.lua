-- 1f3c6f45: a numeric `_ENV <const>` names a register that does not exist.
for _, value in ipairs { "11", "255", "nil", "'x'", "1 << 40" } do
  local f = load("local _ENV <const> = " .. value .. " X = 1 return X")
  if f then pcall(f) end
end
print "done"
