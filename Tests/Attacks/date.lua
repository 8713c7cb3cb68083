local s = ("%c"):rep(8000)
while true do os.date(s) end
