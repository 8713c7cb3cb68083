-- ab859fe5: bytecode has more names than variables.
for n = 0, 200 do
  local text = "\27Lua\x54\0\x19\x93\r\n\x1a\n\4\8\8" .. ("x"):rep(n)
  for _, mode in ipairs { "b", "bt", "t" } do assert(not load(text, "=code", mode)) end
  assert(not load(function() local all = text text = nil return all end))
  text = ""
end
print "done"
