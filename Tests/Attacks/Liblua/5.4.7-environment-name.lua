-- d1ee2a4d: a field of the string "_ENV" is called a global.
local ok, message = pcall(load("return ('_ENV').x + 1", "=chunk"))
assert(not ok and message:find("'x'"))
print "done"
