-- 267ef461: a constructor's fields overflow an integer; chunks are too short for that many.
local f = load("return {" .. ("[1]=1,"):rep(10000) .. "}")
assert(f == nil or f()[1] == 1)
assert(not load("return {" .. ("[1]=1,"):rep(50000) .. "}"))
print "done"
