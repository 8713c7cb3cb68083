-- 267ef461: a constructor with more fields than an integer counts; a chunk has not as many bytes.
local f = load("return {" .. ("[1]=1,"):rep(10000) .. "}")
assert(f == nil or f()[1] == 1)
assert(not load("return {" .. ("[1]=1,"):rep(50000) .. "}"))
print "done"
