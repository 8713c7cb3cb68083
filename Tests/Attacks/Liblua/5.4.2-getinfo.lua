-- 38cc7d40: debug.getinfo(0, ">") takes a function that is not there.
assert(debug.getinfo == nil)
print "done"
