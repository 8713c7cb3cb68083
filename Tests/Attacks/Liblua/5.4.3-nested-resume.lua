-- 74d99057: coroutines that continue after an error are not counted as nested C calls.
local count = 0
local function down()
  count = count + 1
  pcall(count)
  coroutine.wrap(down)()
end
local ok, message = pcall(down)
assert(not ok and tostring(message):find("stack overflow"))
print "done"
