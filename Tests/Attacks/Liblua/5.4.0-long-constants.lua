-- 6bc0f135: long strings in bytecode are freed while the bytecode is read.
assert(not load("\27Lua\x54\0\x19\x93\r\n\x1a\n", "=code", "b"))
assert(string.dump == nil)
print "done"
