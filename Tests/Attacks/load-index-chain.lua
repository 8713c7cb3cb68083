local t = {}
t._ENV = t
local f = load("local t = ... return t" .. ("._ENV"):rep(12000) .. ".y.z")
while true do pcall(f, t) end
