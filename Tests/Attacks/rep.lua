while true do ("x"):rep(30000000) end
