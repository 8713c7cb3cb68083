-- 1b3f507f, e288c5a9: a count hook that yields.
assert(debug.sethook == nil)
print "done"
