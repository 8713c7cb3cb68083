-- 62fb9344: a shift by the least integer negates that integer.
local least = math.mininteger
assert(1 >> least == 0 and 1 << least == 0 and load "return 1 >> math.mininteger"() == 0)
print "done"
