-- Endless loops, recursion, chains of calls, and coroutines. Each is stopped by the limit of time.

--- goto
::again:: goto again
--- error-object
while true do
  pcall(error, setmetatable({}, { __tostring = function() while true do end end }))
end
--- index-loop
local a, b = {}, {}
setmetatable(a, { __index = b })
setmetatable(b, { __index = a })
while true do pcall(function() return a.x end) end
--- overflow
local function f() return 1 + f() end
while true do pcall(f) end
--- overflow-handler
local function f() return 1 + f() end
while true do xpcall(f, f) end
--- overflow-index
local t = {}
for _ = 1, 300 do t = setmetatable({}, { __index = t }) end
while true do pcall(function() return t.x end) end
--- overflow-tostring
local t = setmetatable({}, {})
getmetatable(t).__tostring = function() return tostring(t) end
while true do pcall(tostring, t) end
--- recursion
local function f(n) return n == 0 and 0 or 1 + f(n - 1) end
while true do pcall(f, 190000) end
--- call-cycle
-- Each call asks the table for its `__call`, which is the table again.
local meta = {}
local t = setmetatable({}, meta)
meta.__call = t
while true do pcall(t) end
--- call-chain-after-recursion
-- Recursion grows the stack; then a call fills the stack with arguments, and moves all of them at
-- each step.
local meta = {}
local t = setmetatable({}, meta)
meta.__call = t
local function deep(n) return n == 0 and 0 or 1 + deep(n - 1) end
deep(150000)
while true do pcall(t) end
--- call-chain-in-recursion
-- Each call asks the table for its `__call`, which is the table again, after recursion has left
-- half of the stack free.
local meta = {}
local t = setmetatable({}, meta)
meta.__call = t
local function deep(n)
  if n > 0 then return 1 + deep(n - 1) end
  while true do pcall(coroutine.wrap(deep), 60000) pcall(t) end
end
deep(60000)
--- call-chain-uncalled
local obs = require "obs"
-- Code that cannot be stopped also calls chains of metamethods that are tables.
local meta = {}
local chain = setmetatable({}, meta)
meta.__call = chain
local function deep(n) return n == 0 and 0 or 1 + deep(n - 1) end
while true do
  local t = setmetatable({}, { __newindex = chain, __len = chain })
  obs.observe(t, "a", function() deep(150000) chain() end, { immediate = true })
  pcall(obs.transaction, { t }, function() t.a = 1 rawset(t, "a", 2) obs.abort() end)
  pcall(table.sort, { 1, 2, 3 }, chain)
end
--- close-chain
local last
for _ = 1, 30000 do
  local inner = last
  last = coroutine.create(function()
    local _ <close> = setmetatable({}, {
      __close = function() if inner then coroutine.close(inner) end end,
    })
    coroutine.yield()
  end)
  coroutine.resume(last)
end
coroutine.close(last)
while true do end
--- wrap-chain
local last
for _ = 1, 30000 do
  local inner = last
  local f = coroutine.wrap(function()
    local _ <close> = setmetatable({}, { __close = function() if inner then inner() end end })
    coroutine.yield()
    error "x"
  end)
  f()
  last = f
end
pcall(last)
while true do end
--- coroutine-flood
local function nop() end
local list = {}
while true do list[#list % 1000 + 1] = coroutine.create(nop) end
