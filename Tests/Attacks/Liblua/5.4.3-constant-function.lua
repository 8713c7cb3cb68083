-- 6a0dace2: `local function` assigns to a constant of the same name.
local f = load "local f <const> = 1 local function f() return f end return f() == f"
assert(f())
print "done"
