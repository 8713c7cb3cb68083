-- 5ab6a575: an error in a call is reported at the line of the called expression.
local ok, message = pcall(load("local x\nx\n(\n1)\n", "=chunk"))
assert(not ok and message:find("^chunk:[23]:"))
print "done"
