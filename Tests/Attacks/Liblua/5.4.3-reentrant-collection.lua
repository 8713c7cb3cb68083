-- 0bfc572e, cf613cdc: a finalizer runs the collector, or runs on an invalid stack.
assert(not pcall(collectgarbage))
assert(not pcall(setmetatable, {}, { __gc = true }))
local mt = {}
local t = setmetatable({}, mt)
mt.__gc = error
t = nil
for _ = 1, 2000 do t = { {} } end
print "done"
