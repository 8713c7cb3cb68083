local s = ("\0"):rep(60000)
while true do string.format("%q", s) end
