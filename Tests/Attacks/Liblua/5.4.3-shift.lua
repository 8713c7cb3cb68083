-- 62fb9344: a shift by the least integer negates it.
local least = math.mininteger
assert(1 >> least == 0 and 1 << least == 0 and load "return 1 >> math.mininteger"() == 0)
print "done"
