-- 1ecfbfa1: io.popen crashes with an invalid mode.
assert(io == nil)
print "done"
