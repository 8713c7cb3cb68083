-- a1f77a23: generational collections have no proper target after a full one.
assert(not pcall(collectgarbage, "generational"))
print "done"
