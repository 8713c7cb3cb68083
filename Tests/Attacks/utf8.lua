local s = ("é"):rep(5000000)
while true do
  utf8.len(s)
  utf8.offset(s, -1000000)
end
