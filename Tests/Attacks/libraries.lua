-- Functions of Lua's libraries that take long for their input, and the compiler. Each is stopped by
-- the limit of time.
local function self(i) return i end
local function big(n, f)
  local list = {}
  for i = 1, n do list[i] = f(i) end
  return list
end

--- backtracking
(("a"):rep(100)):find(("a-"):rep(30) .. "b")
--- backtracking-captures
(("a"):rep(1000)):match((".-"):rep(20) .. "(b)")
--- concat
local t = setmetatable({}, { __index = function() return "" end })
table.concat(t, "", 1, 1 << 60)
--- date
local s = ("%c"):rep(8000)
while true do os.date(s) end
--- format-long
local s = ("%d"):rep(8000)
while true do pcall(string.format, s, 1) end
--- format-quoted
local s = ("\0"):rep(60000)
while true do string.format("%q", s) end
--- gmatch
local s = ("e "):rep(5000000)
while true do for _ in s:gmatch("%a+") do end end
--- gmatch-large-pattern
local again = ("x"):rep(1000):gmatch((".?"):rep(2000000))
while true do pcall(again) end
--- gsub
local s = ("x"):rep(5000000)
while true do s:gsub("x", tostring) end
--- number-long
local s = ("1"):rep(20000000)
while true do tonumber(s) end
--- pack
local s = ("i4"):rep(8000)
while true do string.packsize(s) end
--- rep
while true do ("x"):rep(30000000) end
--- reverse
local s = ("e"):rep(15000000)
while true do s:reverse():upper() end
--- utf8
local s = ("é"):rep(5000000)
while true do
  utf8.len(s)
  utf8.offset(s, -1000000)
end
--- load
local s = ("x = 1 "):rep(10000)
while true do load(s) end
--- load-deep
while true do load(("("):rep(60000)) end
--- load-index-chain
local t = {}
t._ENV = t
local f = load("local t = ... return t" .. ("._ENV"):rep(12000) .. ".y.z")
while true do pcall(f, t) end
--- load-pieces
while true do load(function() return "" end) end
--- compile-names
-- Each name is looked up in fifty functions with two hundred variables.
local levels = {}
for i = 1, 50 do levels[i] = "local " .. ("a,"):rep(190) .. "a return function() " end
local chunk = table.concat(levels) .. "return " .. ("x+"):rep(9000) .. "x" .. (" end"):rep(50)
while true do assert(load(chunk)) end
--- garbage
while true do local t = big(100000, function() return {} end) end
--- length-lies
local t = setmetatable({}, { __len = function() return 1 << 60 end })
while true do
  pcall(table.insert, t, 1, 1)
  pcall(table.remove, t, 1)
end
--- move-range
table.move({}, 1, 1 << 60, 2)
--- next
local t = big(1000000, self)
for i = 1, #t do t[i] = nil end
while true do next(t) end
--- sort
local l = big(500000, function(i) return i ~ 0x5555 end)
while true do table.sort(l, math.ult) end
--- sort-lies
local l = big(1000, self)
while true do pcall(table.sort, l, function() return true end) end
--- unpack
local l = big(200000, self)
while true do table.unpack(l) end
