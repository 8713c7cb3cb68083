local s = ("x = 1 "):rep(10000)
while true do load(s) end
