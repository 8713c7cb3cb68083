-- dfbde4c7: a request for the lines of a function without line information crashes.
assert(debug.getinfo == nil and string.dump == nil)
print "done"
