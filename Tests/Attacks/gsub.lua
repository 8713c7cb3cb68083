local s = ("x"):rep(5000000)
while true do s:gsub("x", tostring) end
