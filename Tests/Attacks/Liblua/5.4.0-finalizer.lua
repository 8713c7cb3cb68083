-- 31b8c2d4: a finalizer that is called at a bad moment uses freed memory.
local ok, message = pcall(setmetatable, {}, { __gc = function() end })
assert(not ok and message:find("finalizer"))
print "done"
