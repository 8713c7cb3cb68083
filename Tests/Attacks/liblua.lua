-- Faults in Lua's list of bugs. Each is named after the last release that has it, and begins with
-- the commit of Lua with the fix. It ends, or a limit ends it.

--- absent: faults of what a sandbox does not have, and one that only a compiler for C89 sees.
-- 5.4.0, a585eae6: debug.getlocal with 2^31 counts the wrong way.
assert(debug.getlocal == nil and debug.setlocal == nil)
-- 5.4.0, a2195644: a line hook looks at a stale instruction after a return.
-- 5.4.0, ae5b5ba5: a line hook runs in a function without line information.
-- 5.4.6, 1b3f507f, e288c5a9: a count hook yields.
assert(debug.sethook == nil and string.dump == nil)
-- 5.4.2, 38cc7d40: debug.getinfo(0, ">") takes a missing function from the stack.
-- 5.4.6, dfbde4c7: a request for the lines of a function without line information crashes.
assert(debug.getinfo == nil)
-- 5.4.0, 1ecfbfa1: io.popen crashes with an invalid mode.
-- 5.4.3, 1de95e97, 597a53bb: the stack is in use while a script closes the state.
assert(io == nil and os.exit == nil)
-- 5.4.3, d205f3a4: the source contains a C99 comment.
--- 5.4.0-barriers: a6da1472: a write barrier during a sweep marks dead objects.
local keep = {}
for i = 1, 3000 do
  local x
  local co = coroutine.create(function(v)
    x = v
    local f = function() return x end
    x = coroutine.yield(f)
    coroutine.yield()
  end)
  local _, f = coroutine.resume(co, { i })
  keep[i % 50] = { f, setmetatable({ i }, { __index = keep[(i - 7) % 50] }) }
  coroutine.resume(co, { i, i })
  co = nil
  assert(f()[2] == i)
end
--- 5.4.0-finalizer: 31b8c2d4: a finalizer that is called at a bad moment uses freed memory.
local ok, message = pcall(setmetatable, {}, { __gc = function() end })
assert(not ok and message:find("finalizer"))
--- 5.4.0-generations: 127e7a6c, a6da1472: generational collections lose old objects.
for _, what in ipairs { "generational", "incremental", "step", "collect", "stop" } do
  local ok, message = pcall(collectgarbage, what)
  assert(not ok and message:find("only 'count'"))
end
--- 5.4.0-long-constants: 6bc0f135: long strings in bytecode are freed while the bytecode is read.
assert(not load("\27Lua\x54\0\x19\x93\r\n\x1a\n", "=code", "b"))
assert(string.dump == nil)
--- 5.4.0-redzone
-- 34affe7a: a call of a value that is not a function exceeds the limit of nested C calls.
local depth = 0
local function down()
  depth = depth + 1
  local nothing = setmetatable({}, { __index = down, __call = depth })
  local _ = pcall(function() return nothing[1] .. nothing end)
  return nothing()
end
for _ = 1, 20 do
  depth = 0
  assert(not pcall(down))
  depth = 0
  assert(not xpcall(down, function(e) return nil .. e end))
end
--- 5.4.0-resume-limit
-- e1d8770f: a coroutine started deep inside calls gets a wrong limit of nested C calls.
local function down(n)
  if n > 0 then return 1 + down(n - 1) end
  return coroutine.wrap(function() return down(900) end)()
end
for _ = 1, 3 do assert(not pcall(down, 900)) end
--- 5.4.0-stack-collection: eb419994: a collection during the growth of the stack shrinks it again.
local function spread(n, ...)
  if n == 0 then return select("#", ...) end
  local t = { ..., {}, n }
  return spread(n - 1, t, ...)
end
for round = 1, 60 do
  local co = coroutine.wrap(function(...)
    local f = setmetatable({}, { __call = function(_, n, ...) return spread(n, ...) end })
    return f(round, ...)
  end)
  assert(co(table.unpack({}, 1, 150)) == 150 + round)
end
--- 5.4.1-next: 52c86797: `next` does not find a key that was removed and collected.
local t = {}
for i = 1, 40 do
  t[{ i }] = i
  t[("key"):rep(20) .. i] = i
end
local count = 0
for key in pairs(t) do
  t[key] = nil
  count = count + 1
  for _ = 1, 200 do local _ = { ("garbage"):rep(10) .. count } end
end
assert(count == 80 and next(t) == nil)
--- 5.4.1-unpack-z
-- f83de8e3: string.unpack "z" counts in too few bits; the fault needs two gigabytes.
assert(string.unpack("z", ("x"):rep(100000) .. "\0") == ("x"):rep(100000))
assert(not pcall(string.rep, "x", (1 << 31) + 8))
--- 5.4.2-close-moves-stack: 2bfa13e5: `__close` moves the stack while a function returns.
local function deep(n) if n == 0 then return 0 end return 1 + deep(n - 1) end
local function closing(n)
  return setmetatable({}, { __close = function() deep(n) local _ = { n } end })
end
for n = 1, 200, 7 do
  local co = coroutine.wrap(function()
    local a <close> = closing(n * 10)
    local b <close> = closing(n * 20)
    return table.unpack({ 1, 2, 3, n }, 1, 4)
  end)
  local _, _, c, d = co()
  assert(c == 3 and d == n)
  assert(not pcall(coroutine.wrap(function()
    local a <close> = closing(n * 30)
    error { n }
  end)))
end
--- 5.4.2-concat-message
-- c03c527f: the error message of table.concat reads a number with the wrong size.
local ok, message = pcall(table.concat, { [1 << 40] = {} }, "", 1 << 40, 1 << 40)
assert(not ok and message:find("1099511627776", 1, true))
--- 5.4.3-call-metamethod: 6b3e116d: `__call` is read before the stack grows, which can collect it.
local function caller(n)
  local t = setmetatable({}, { __call = function(_, ...) return select("#", ...) end })
  return (t(table.unpack({}, 1, n)))
end
for n = 1, 200 do assert(coroutine.wrap(caller)(n) == n) end
--- 5.4.3-constant-function: 6a0dace2: `local function` assigns to a constant of the same name.
local f = load "local f <const> = 1 local function f() return f end return f() == f"
assert(f())
--- 5.4.3-nested-resume
-- 74d99057: coroutines that continue after an error are not counted as nested C calls.
local count = 0
local function down()
  count = count + 1
  pcall(count)
  coroutine.wrap(down)()
end
local ok, message = pcall(down)
assert(not ok and tostring(message):find("stack overflow"))
--- 5.4.3-reentrant-collection
-- 0bfc572e, cf613cdc: a finalizer runs the collector, or runs on an invalid stack.
assert(not pcall(collectgarbage))
assert(not pcall(setmetatable, {}, { __gc = true }))
local mt = {}
local t = setmetatable({}, mt)
mt.__gc = error
t = nil
for _ = 1, 2000 do t = { {} } end
--- 5.4.3-shift: 62fb9344: a shift by the least integer negates that integer.
local least = math.mininteger
assert(1 >> least == 0 and 1 << least == 0 and load "return 1 >> math.mininteger"() == 0)
--- 5.4.3-status-in-reset
-- bfbff370: `__close` runs in a coroutine with the status "dead", and can call and close it.
for round = 1, 50 do
  local wrapped
  wrapped = coroutine.wrap(function()
    local x <close> = setmetatable({}, {
      __close = function()
        pcall(wrapped)
        return pcall(wrapped)
      end,
    })
    error { round }
  end)
  assert(not pcall(wrapped))
  local co
  co = coroutine.create(function()
    local x <close> = setmetatable({}, {
      __close = function()
        pcall(coroutine.close, co)
        pcall(coroutine.resume, co)
        error(round)
      end,
    })
    coroutine.yield()
  end)
  coroutine.resume(co)
  assert(not coroutine.close(co))
  assert(not coroutine.resume(co))
end
--- 5.4.3-tail-call: 47cffdc7: a tail call leaves a `for` loop that has a value to close.
local closed = 0
local function iterate(n)
  return function(_, i) if i < n then return i + 1 end end, nil, 0,
    setmetatable({}, { __close = function() closed = closed + 1 end })
end
local function rest(n) local a, b, c, d, e = {}, {}, {}, {}, n return e end
local function leave(n) for i in iterate(n) do return rest(i) end end
for n = 1, 300 do
  assert(leave(n) == 1)
  local x <close> = setmetatable({}, { __close = function() end })
end
assert(closed == 300)
--- 5.4.3-tolstring
-- 439e45a2: luaL_tolstring gets a negative index and a `__name` that is not a string.
for _, name in ipairs { 1, {}, "name" } do
  assert(tostring(setmetatable({}, { __name = name })))
  assert(not pcall(tostring, setmetatable({}, { __tostring = function() return {} end })))
end
--- 5.4.3-yield-in-close
-- 68129718: a yield in `__close` during a return changes the number of results.
local function closing() return setmetatable({}, { __close = coroutine.yield }) end
for n = 0, 60 do
  local co = coroutine.wrap(function(...)
    local a <close>, b = closing(), {}
    local c <close> = closing()
    return ...
  end)
  co(table.unpack({}, 1, n))
  co(table.unpack({}, 1, 40))
  assert(select("#", co({}, {}, {})) == n)
end
--- 5.4.4-bitwise-constants: c764ca71: a bitwise operation reads an unwritten register.
local code = { "local a, b = ... local t = {" }
for i = 1, 300 do code[#code + 1] = i .. ".5," end
code = table.concat(code) .. "} return "
for _, expression in ipairs { "1 ~ (a or 3)", "70000 & (a and b)", "1 | (a == b or b)" } do
  local f, message = load(code .. expression)
  local expected = load("local a, b = ... return " .. expression)
  assert(f and pcall(f, 2, 5) == pcall(expected, 2, 5) or message:find("more than 256 constants"))
end
assert(load(code .. "(a or 3) ~ 1")(6, 5) == 7)
--- 5.4.4-break: 997f11f5: `break` does not close the fourth value of a `for` loop.
local count = 0
local closing = setmetatable({}, { __close = function() count = count + 1 end })
local function leave(...)
  do
    local a, b, c, d, e, f
    for k in next, { 1 }, nil, closing do
      local function g() return k end
      break
    end
  end
  local x <close> = closing
  return ...
end
for n = 1, 200 do assert(select("#", leave(table.unpack({}, 1, n))) == n) end
assert(count == 400)
-- An ordinary loop still works.
local kept = {}
for _, v in ipairs { 1, 2, 3 } do
  kept[v] = function() return v end
  if v == 2 then break end
end
assert(kept[1]() == 1 and kept[2]() == 2 and #kept == 2)
--- 5.4.4-close-chain: 1e64c139: coroutines that close one another overflow the C stack.
local last
for _ = 1, 5000 do
  local previous = last
  last = coroutine.create(function()
    local x <close> = setmetatable({}, {
      __close = function() if previous then coroutine.close(previous) end end,
    })
    coroutine.yield()
  end)
  coroutine.resume(last)
end
pcall(coroutine.close, last)
--- 5.4.4-constant-environment
-- 1f3c6f45: a numeric `_ENV <const>` names a register that does not exist.
for _, value in ipairs { "11", "255", "nil", "'x'", "1 << 40" } do
  local f = load("local _ENV <const> = " .. value .. " X = 1 return X")
  if f then pcall(f) end
end
--- 5.4.4-corrupted-code: ab859fe5: bytecode has more names than variables.
for n = 0, 200 do
  local text = "\27Lua\x54\0\x19\x93\r\n\x1a\n\4\8\8" .. ("x"):rep(n)
  for _, mode in ipairs { "b", "bt", "t" } do assert(not load(text, "=code", mode)) end
  assert(not load(function() local all = text text = nil return all end))
  text = ""
end
--- 5.4.4-division-message: 02bab9fc: a division by zero raises its error with a stale stack top.
local function divide(a, b)
  local kept = { a }
  local function get() return kept[1] end
  local x <close> = setmetatable({}, { __close = function() assert(get() == a) end })
  local f = table.unpack({ get, get, get })
  return f() // b, f() % b
end
for n = 1, 100 do
  local ok, message = pcall(divide, n, 0)
  assert(not ok and message:find("divide by zero") or message:find("'n//0'"))
  assert(not pcall(load("local a = ... return (function(...) return a % 0 end)(1, 2, 3)"), n))
end
--- 5.4.4-error-in-error
-- 42d40581: errors during error handling, at the limit of nested C calls, fill the stack.
local function loop(x, y, z) return 1 + loop(x, y, z) end
for _ = 1, 2 do
  local ok = xpcall(loop, loop, nil, {}, ("x"):rep(100))
  assert(not ok)
  local t = setmetatable({}, { __index = function(t, k) return t[k] .. ("y"):rep(50) end })
  assert(not xpcall(function() return t.x end, function(e) return e .. t.y end))
  assert(not pcall(function() return xpcall(function() string.rep() end, loop) + 1 end))
end
--- 5.4.4-generational-target
-- a1f77a23: generational collections have no proper target after a full one.
assert(not pcall(collectgarbage, "generational"))
--- 5.4.4-settop: 196bb94d: a C function that closes a value continues with the old stack.
local function deep(n) if n == 0 then return 0 end return 1 + deep(n - 1) end
local t = setmetatable({}, { __index = function(_, i) deep(150) return i end })
for n = 1, 100 do
  local co = coroutine.wrap(function()
    deep(n)
    local list = table.concat(t, ",", 1, 3)
    return list, (("x"):rep(300):gsub("x", function() deep(n) return "yy" end))
  end)
  local list, text = co()
  assert(list == "1,2,3" and #text == 600)
  pcall(table.sort, { 3, 1, 2 }, function(a, b) deep(n * 5) return a < b end)
end
--- 5.4.4-utf8: a1089b41: utf8.codes accepts spurious continuation bytes.
for _, text in ipairs { "ab\xff", "u\x9bw", "in\x80", "\xbfinvalid", "\xc3", "a\x80\x80" } do
  pcall(function() for _, code in utf8.codes(text) do assert(math.type(code) == "integer") end end)
end
--- 5.4.5-resetthread: The arguments of lua_resetthread have changed.
for _ = 1, 100 do
  local co = coroutine.create(function()
    local x <close> = setmetatable({}, { __close = function(_, e) error(e or "closed") end })
    coroutine.yield(1)
  end)
  coroutine.resume(co)
  local ok, message = coroutine.close(co)
  assert(not ok and tostring(message):find("closed"))
end
--- 5.4.6-assignments: ae9a0cbb: the compiler assigns one member of a union to another.
local up = { 1, x = { y = 2 } }
local function get(i) return up[i], up.x.y, up[i] == up.x, _ENV[i] end
assert(get(1) == 1 and select(2, get(1)) == 2)
--- 5.4.6-concat: 5853c37a: the size of a string wraps round when its header is added.
local s = ("x"):rep(100000)
local ok = pcall(function() while true do s = s .. s .. s end end)
assert(not ok)
for _, n in ipairs { math.maxinteger, math.maxinteger // 2, 1 << 62, 1 << 40 } do
  assert(not pcall(string.rep, "ab", n) and not pcall(string.rep, "", n, "ab"))
end
--- 5.4.6-line-of-call
-- 5ab6a575: an error in a call is reported at the line of the called expression.
local ok, message = pcall(load("local x\nx\n(\n1)\n", "=chunk"))
assert(not ok and message:find("^chunk:[23]:"))
--- 5.4.6-names
-- 7923dbbf: the search for a value's name follows a chain of indices, with a C call for each.
local t = setmetatable({}, {})
t.a, t._ENV = t, t
for _, name in ipairs { ".a", "._ENV", "[1 < 2]" } do
  for _, n in ipairs { 100, 5000, 12000, 30000 } do
    local f = load("local t = ... return t" .. name:rep(n) .. ".y.z", "=chunk")
    if f then assert(not pcall(f, t)) end
  end
end
--- 5.4.6-strcmp: f623b969: comparing strings reads beyond their ends in some locales.
assert(os.setlocale == nil)
for i = 1, 200 do
  local a, b = ("\0a"):rep(i), ("\0a"):rep(i) .. "\0"
  assert(a < b and not (b < a) and a <= b)
  local c, d = ("\u{17A2}\u{17B6}"):rep(i) .. "\0", ("\u{17A4}"):rep(i) .. "\0"
  assert((c < d) == not (d <= c))
end
--- 5.4.6-traceback: 2db966fc: a traceback uses more stack slots than it requests.
local function deep(n, ...)
  if n == 0 then return #debug.traceback(...) end
  return deep(n - 1, ...) + 0
end
for n = 1, 300, 3 do
  local co = coroutine.wrap(deep)
  assert(co(n, "message") > 0)
end
pcall(function() local function f() return 1, f() end return f() end)
xpcall(function() local function f() return 1 + f() end return f() end, debug.traceback)
--- 5.4.7-comparison-index
-- 782ef85b: `t[a < b]` reads an unwritten register if `t` belongs to an outer function.
local t = { [true] = "yes", [false] = "no" }
local function get(a, b)
  local c, d, e = {}, {}, {}
  return t[a < b], t[not (a < b)], t[a == b], _ENV[a ~= b]
end
local function set(a, b, v) t[a >= b] = v end
local secret = { [true] = "secret", [false] = "secret" }
local function hide(a) local x, y, z = secret, secret, a return z end
for n = 1, 50 do
  hide(n)
  local x, y, z, g = get(n, 25)
  assert(x == (n < 25 and "yes" or "no") and y == (n < 25 and "no" or "yes") and g == nil)
  assert(z == (n == 25 and "yes" or "no"))
  set(n, 25, n >= 25 and "yes" or "no")
end
--- 5.4.7-constructor
-- 267ef461: a constructor's fields overflow an integer; chunks are too short for that many.
local f = load("return {" .. ("[1]=1,"):rep(10000) .. "}")
assert(f == nil or f()[1] == 1)
assert(not load("return {" .. ("[1]=1,"):rep(50000) .. "}"))
--- 5.4.7-environment-name: d1ee2a4d: a field of the string "_ENV" is called a global.
local ok, message = pcall(load("return ('_ENV').x + 1", "=chunk"))
assert(not ok and message:find("'x'"))
--- 5.4.7-error-object
-- 25da574f: the message of an error during error handling is created outside a protected call.
local function handler(e) return handler(e) + 1 end
for _ = 1, 2 do
  assert(not xpcall(error, handler, 1))
  assert(not xpcall(function() local function f() return f() + 1 end return f() end, handler))
end
local hog, n = {}, 0
for _, size in ipairs { 1000000, 10000, 100 } do
  pcall(function() while true do n = n + 1 hog[n] = ("x"):rep(size) .. n end end)
end
pcall(xpcall, error, handler, 1)
hog = nil
--- 5.4.7-handler: 3fe7be95: a message handler of a coroutine is called after the coroutine is gone.
local function deep(n, handler)
  if n == 0 then return xpcall(coroutine.yield, handler) end
  return (deep(n - 1, handler))
end
for _, depth in ipairs { 0, 1, 100, 5000 } do
  local co = coroutine.create(function()
    local x <close> = setmetatable({}, {
      __close = function()
        local t
        for i = 1, 5000 do t = { i } end
        error(depth)
      end,
    })
    deep(depth, function() return "XXX" end)
  end)
  coroutine.resume(co)
  local ok, message = coroutine.close(co)
  assert(not ok and message == depth)
end
--- 5.4.7-newindex-large: 983bc433: the same, with a table that is too large for the free memory.
for power = 12, 18 do
  local garbage = {}
  local h = {}
  local t = setmetatable({}, setmetatable({ __newindex = h }, { __mode = "v" }))
  pcall(function() for j = 1, 1 << power do h[j + 0.5] = true end end)
  pcall(function() for j = 1, 1e9 do garbage[j] = ("x"):rep(50000 + j) end end)
  garbage, h = nil, nil
  pcall(function() t[1.25] = true end)
  pcall(function() for j = 1, 2000 do garbage = { j, garbage } end end)
  garbage = nil
end
--- 5.4.7-newindex: 983bc433: the `__newindex` table of a weak metatable is freed while it grows.
local hog, n = {}, 0
for _, size in ipairs { 4000000, 60000, 500 } do
  pcall(function() while true do n = n + 1 hog[n] = ("x"):rep(size) .. n end end)
end
for _ = 1, 60 do
  hog[n] = nil
  n = n - 1
  pcall(function()
    local t = setmetatable({}, setmetatable({ __newindex = {} }, { __mode = "v" }))
    for j = 1, 60 do t[j] = j end
  end)
end
hog = nil
