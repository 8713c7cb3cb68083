local s = ("e "):rep(5000000)
while true do for _ in s:gmatch("%a+") do end end
