-- 1ecfbfa1: io.popen crashes with a mode that is none.
assert(io == nil)
print "done"
