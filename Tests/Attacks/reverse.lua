local s = ("e"):rep(15000000)
while true do s:reverse():upper() end
