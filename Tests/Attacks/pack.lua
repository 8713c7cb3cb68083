local s = ("i4"):rep(8000)
while true do string.packsize(s) end
