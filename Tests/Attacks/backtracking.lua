(("a"):rep(100)):find(("a-"):rep(30) .. "b")
