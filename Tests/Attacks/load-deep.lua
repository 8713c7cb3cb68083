while true do load(("("):rep(60000)) end
