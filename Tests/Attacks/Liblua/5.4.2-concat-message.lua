-- c03c527f: the error message of table.concat reads a number with the wrong size.
local ok, message = pcall(table.concat, { [1 << 40] = {} }, "", 1 << 40, 1 << 40)
assert(not ok and message:find("1099511627776", 1, true))
print "done"
