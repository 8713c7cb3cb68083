-- 127e7a6c, a6da1472: generational collections lose old objects.
for _, what in ipairs { "generational", "incremental", "step", "collect", "stop" } do
  local ok, message = pcall(collectgarbage, what)
  assert(not ok and message:find("only 'count'"))
end
print "done"
