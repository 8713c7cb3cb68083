local again = ("x"):rep(1000):gmatch((".?"):rep(2000000))
while true do pcall(again) end
