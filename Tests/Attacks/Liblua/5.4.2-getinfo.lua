-- 38cc7d40: debug.getinfo(0, ">") takes a missing function from the stack.
assert(debug.getinfo == nil)
print "done"
