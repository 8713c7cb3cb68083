-- 1b3f507f, e288c5a9: a count hook yields.
assert(debug.sethook == nil)
print "done"
