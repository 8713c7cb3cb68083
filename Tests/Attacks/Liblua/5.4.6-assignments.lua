-- ae9a0cbb: the compiler assigns one member of a union to another.
local up = { 1, x = { y = 2 } }
local function get(i) return up[i], up.x.y, up[i] == up.x, _ENV[i] end
assert(get(1) == 1 and select(2, get(1)) == 2)
print "done"
