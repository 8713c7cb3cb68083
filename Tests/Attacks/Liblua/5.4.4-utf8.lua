-- a1089b41: utf8.codes accepts spurious continuation bytes.
for _, text in ipairs { "ab\xff", "u\x9bw", "in\x80", "\xbfinvalid", "\xc3", "a\x80\x80" } do
  pcall(function() for _, code in utf8.codes(text) do assert(math.type(code) == "integer") end end)
end
print "done"
