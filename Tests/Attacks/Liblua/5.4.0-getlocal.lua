-- a585eae6: debug.getlocal with 2^31 counts the wrong way.
assert(debug.getlocal == nil and debug.setlocal == nil)
print "done"
