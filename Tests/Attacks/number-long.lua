local s = ("1"):rep(20000000)
while true do tonumber(s) end
