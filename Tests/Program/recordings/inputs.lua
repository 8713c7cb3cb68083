-- A program whose recording is damaged: it gets something from outside in most of the ways.
local obs = require "obs"
t = { n = 0, list = obs.array {}, child = { x = 1 } }
obs.observe(t, "n", function() print(t.n) end, { name = "printer" })
obs.observe(t, "list.*.x", function() print "list" end)
obs.computed(t, "double", { "n" }, function(self) return self.n * 2 end)
obs.observe(t, "double", function() end)
print(os.time(), os.clock(), os.date(), os.getenv "HOME", os.tmpname(), os.setlocale "C.UTF-8")
print(os.time { year = 2020, month = 13, day = 1 }, package.loadlib("./none.so", "*"))
local pipe = io.popen "echo a; exit 3"
print(pipe:read "a", pipe:close())
local file = io.open("w", "w+")
file:write "abc" file:seek "set"
print(file:read "a", file:close())
print(os.remove "w", os.rename("a", "b"), os.execute "exit 2")
local handler
handler = obs.on_readable(io.stdin, function(f)
  local line = f:read()
  print(line)
  if not line then handler:stop() end
end)
obs.every(0.001, function()
  t.n = t.n + 1
  t.list:append { x = t.n }
  if t.n == 3 then t.child = nil end
  if t.n == 5 then print(pcall(require, "cjson")) error "late" end
end)
