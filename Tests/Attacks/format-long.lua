local s = ("%d"):rep(8000)
while true do pcall(string.format, s, 1) end
