-- c03c527f: the message of table.concat reads a number as one of another size.
local ok, message = pcall(table.concat, { [1 << 40] = {} }, "", 1 << 40, 1 << 40)
assert(not ok and message:find("1099511627776", 1, true))
print "done"
