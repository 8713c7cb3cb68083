-- Random programs of table operations that must print the same with and without watchers (L7).
--
--   lua generate.lua 42                 prints the program of seed 42. It runs in any Lua, and with
--                                       watchers if the global OBSERVE is true.
--   driver generate.lua --shrink 42     removes statements while the outputs differ (needs a global
--                                       `differs(text)`), prints the rest and both outputs
--
-- As a module: generate(seed) -> text.

local PRELUDE = [[
local W, U, FLUSH = function() end, function() end, function() end
if OBSERVE then
  local obs = require "obs"
  local function path(k)
    if k == STAR then return "*" end
    if type(k) == "string" and k:find("^%a%w*$") then return k end
    return obs.path(k)
  end
  local function usable(t, k)
    if type(t) ~= "table" or k == nil or k ~= k then return false end
    return not (type(k) == "string" and k:sub(1, 2) == "__")
  end
  function W(t, k) if usable(t, k) then obs.observe(t, path(k), function() end) end end
  function U(t, k) if usable(t, k) then obs.stop(t, path(k)) end end
  function FLUSH() obs.flush() end
end
STAR = {}
local ids, KO, KP = setmetatable({}, {__mode = "k"}), {}, {}
ids[KO] = "KO"; ids[KP] = "KP"
local function S(v)
  if type(v) == "table" or type(v) == "function" then return ids[v] or type(v) end
  if type(v) == "string" then return v end
  return (tostring(v):gsub("^-nan", "nan"))
end
local function P(...)
  local parts = table.pack(...)
  for i = 1, parts.n do parts[i] = S(parts[i]) end
  print(table.concat(parts, " "))
end
local function T(line, f, ...)
  local r = table.pack(pcall(f, ...))
  if not r[1] then P(line, "raised", (S(r[2]):gsub("0x%x+", "PTR"):]] .. [[
gsub("invalid key to 'next'.*", "bad next"))) end
end
local function SEL(k, n)
  local s, h = S(k), n
  for i = 1, #s do h = (h * 31 + s:byte(i)) % 9973 end
  return h % 3 == 0
end
local function D(name, t)
  local lines, n, seen = {}, 0, {}
  for k, v in pairs(t) do
    n = n + 1
    if seen[k] then lines[#lines + 1] = "dup " .. S(k) end
    seen[k] = true
    lines[#lines + 1] = S(k) .. "=" .. S(v)
    if rawget(t, k) ~= v then lines[#lines + 1] = "rawget " .. S(k) end
    if n > 200 then lines[#lines + 1] = "endless"; break end
  end
  table.sort(lines)
  P(name, n, table.concat(lines, ","))
end
local function L(name, t)
  local parts, n = {}, 0
  for k, v in pairs(t) do
    parts[#parts + 1] = S(k) .. ":" .. S(v)
    n = n + 1
    if n > 300 then break end
  end
  P(name, #t, rawlen(t), table.concat(parts, ","))
  local list = {}
  for i, v in ipairs(t) do list[i] = S(v) end
  P(table.concat(list, ";"))
end
local function CO(line, f)
  local co = coroutine.create(f)
  for i = 1, 50 do
    local r = table.pack(coroutine.resume(co, i))
    P(line, "co", table.unpack(r, 1, r.n))
    if coroutine.status(co) == "dead" then break end
  end
end
local function Y(...) if coroutine.isyieldable() then return coroutine.yield(...) end end
local o1, o2, o3, l1, l2, i1, i2, i3 = {}, {}, {}, {}, {}, {}, {}, {}
local C1, C2, C3 = {}, {}, {}
for k, v in pairs {o1 = o1, o2 = o2, o3 = o3, l1 = l1, l2 = l2, i1 = i1, i2 = i2, i3 = i3, ]] .. [[
C1 = C1, C2 = C2, C3 = C3} do ids[v] = k end
local GONE
KEEP = {}
]]

local random, seeded
local function pick(list) return list[random(#list)] end

local KEYS = {
  '"a"', '"b"', '"c"', '"d"', '"e"', '"f"', '"g"', '"h"', '"x"', '"__q"',
  '"a long key, too long to be interned, so it is told by its value"',
  "1", "2", "3", "10", "-1", "1.5", "2.0", "true", "false", "KO", "KP", '"1"', '"*"', '"a.b"',
  "1<<53",
}
local FEW = {'"a"', '"b"', '"c"', '"d"', '"e"'}
local VALUES = {
  "1", "2", "3", "2.0", "0/0", '"s"', '"t"', "true", "false", "nil", "nil", "nil", "o1", "o2", "o3",
  "KO", "7", "8",
}
local DICTIONARIES = {"o1", "o2", "o3"}
local LISTS = {"l1", "l2"}
local INSTANCES = {"i1", "i2", "i3"}
local CLASSES = {"C1", "C2", "C3"}
local ANY = {"o1", "o2", "o3", "i1", "i2", "i3", "C1", "C2", "C3"}

local function key() return random(3) == 1 and pick(KEYS) or pick(FEW) end
local function value() return pick(VALUES) end
local function watched()
  local r = random(12)
  if r == 1 then return "STAR" end
  return key()
end

local EVENTS = {
  "__add", "__sub", "__mul", "__div", "__mod", "__pow", "__unm", "__idiv", "__band", "__bor",
  "__bxor", "__shl", "__shr", "__bnot", "__concat", "__len", "__eq", "__lt", "__le", "__call",
  "__tostring", "__name", "__pairs", "__metatable", "__index", "__newindex",
}
local BINARY = {
  "+", "-", "*", "/", "%", "^", "//", "&", "|", "~", "<<", ">>", "..", "==", "<", "<=", "~=", ">",
  ">=",
}

local hasindex
local function metamethod(class, event, initially)
  if event == "__name" then
    -- The name is copied at observation; a later plain assignment is not seen.
    if hasindex[class .. "name"] then return nil end
    hasindex[class .. "name"] = true
    return '"Name' .. random(3) .. '"'
  end
  if event == "__metatable" then return random(2) == 1 and '"locked"' or "false" end
  if event == "__tostring" then
    return 'function(...) return "T" .. select("#", ...) .. S(rawget((...), "x")) end'
  end
  if event == "__pairs" then
    return 'function(t) return function(_, k) if not k then return 1, 2 end end, t, nil end'
  end
  if event == "__len" then
    return "function(...) return " .. random(9) .. " + select('#', ...) end"
  end
  if event == "__index" then
    if hasindex[class] then return nil end
    hasindex[class] = true
    local r = random(6)
    if r <= 2 then return class end
    if r == 3 then return pick{"o1", "o2"} end
    if r == 4 then return 'function(t, k) P("index", t, k) Y("yi") return rawget(t, "x") end' end
    if r == 5 then
      return 'function(t, k) if k == "e" then error("no " .. S(k), 2) end return S(k) .. "!" end'
    end
    return 'function(t, k) return C1[k] end'
  end
  if event == "__newindex" then
    if hasindex[class .. "new"] then return nil end
    hasindex[class .. "new"] = true
    local r = random(5)
    if r == 1 then return 'function(t, k, v) P("newindex", t, k, v) Y("yn") rawset(t, k, v) end' end
    if r == 2 then return "o3" end
    if r == 3 then
      return 'function(t, k, v) if k == "e" then error("not " .. S(k), 2) end '
        .. 'rawset(t, k, v) end'
    end
    if r == 4 then return 'function(t, k, v) rawset(o3, k, v) end' end
    return 'rawset'
  end
  local r = random(4)
  if r == 1 then
    return 'function(a, b, ...) P("' .. event .. '", a, b, select("#", ...)) return Y("y") or 5 end'
  elseif r == 2 then
    return 'function(a, b) error("' .. event .. '", 2) end'
  end
  return 'function(...) P("' .. event .. '", ...) return (...) end'
end

local function setmethod()
  local class, event = pick(CLASSES), pick(EVENTS)
  if event == "__metatable" and random(4) > 1 then event = "__add" end
  local f = metamethod(class, event)
  if not f then return class .. '.method = function(self) return "m", S(self.x) end' end
  local r = random(3)
  if r == 1 then return ("rawset(%s, %q, %s)"):format(class, event, f) end
  return ("%s.%s = %s"):format(class, event, f)
end

local BODY = {
  "W(T1, k)", "W(T1, k)", "U(T1, k)", "T1[k] = nil", "T1[k] = 9", "W(T1, k) T1[k] = nil",
  "T1[k] = nil W(T1, k)", "W(T1, k) T1[k] = 4", "W(T1, k) U(T1, k)",
  -- The result depends on the order in which another part of the body removes keys.
  "local empty = next(T1) == nil",
  "T1[k] = nil W(T1, k) T1[k] = 5", "U(T1, k) T1[k] = nil", "rawset(T1, k, 3)",
  "rawset(T1, k, nil)",
  "local m = 0 for j in pairs(T1) do m = m + 1 if m > 99 then P('endless') break end end",
}

local statements
statements = {
  function() return ("%s[%s] = %s"):format(pick(ANY), key(), value()) end,
  function() return ("%s[%s] = %s"):format(pick(DICTIONARIES), key(), value()) end,
  function() return ("%s[%s] = %s"):format(pick(DICTIONARIES), key(), value()) end,
  function() return ("P(%s[%s])"):format(pick(ANY), key()) end,
  function() return ("P(%s[%s])"):format(pick(INSTANCES), key()) end,
  function() return ("P(rawget(%s, %s))"):format(pick(ANY), key()) end,
  function() return ("rawset(%s, %s, %s)"):format(pick(ANY), key(), value()) end,
  function() local t = pick(ANY) return ("D(%q, %s)"):format(t, t) end,
  function() local t = pick(DICTIONARIES) return ("D(%q, %s)"):format(t, t) end,
  function() return ("W(%s, %s)"):format(pick(ANY), watched()) end,
  function() return ("W(%s, %s)"):format(pick(ANY), watched()) end,
  function() return ("W(%s, %s)"):format(pick(DICTIONARIES), watched()) end,
  function() return ("W(%s, %s)"):format(pick(INSTANCES), watched()) end,
  function() return ("U(%s, %s)"):format(pick(ANY), watched()) end,
  function()
    return ("W(%s, %s)"):format(pick(LISTS), pick{"STAR", "STAR", "1", "2", "3", '"a"'})
  end,
  function() return ("U(%s, %s)"):format(pick(LISTS), pick{"STAR", "1", "2", "3"}) end,
  function() return "FLUSH()" end,
  function() return ("P(next(%s) == nil)"):format(pick(ANY)) end,
  function() return ("P(pcall(next, %s, 'never there'))"):format(pick(ANY)) end,
  function() return ("P(next(%s, nil) ~= nil, select('#', next({})))"):format(pick(ANY)) end,
  -- Lists without holes.
  function() local l = pick(LISTS) return ("%s[#%s + 1] = %d"):format(l, l, random(50)) end,
  function()
    local l = pick(LISTS)
    return ("for i = 1, %d do %s[#%s + 1] = (i * 7) %% 11 end"):format(
      random(random(10) == 1 and 150 or 8), l, l)
  end,
  function() local l = pick(LISTS) return ("%s[#%s] = nil"):format(l, l) end,
  function()
    local l = pick(LISTS)
    return ("if #%s > 0 then %s[%d %% #%s + 1] = %d end"):format(l, l, random(9), l, random(50))
  end,
  function() return ("table.insert(%s, %d)"):format(pick(LISTS), random(50)) end,
  function() return ("table.insert(%s, %d, %d)"):format(pick(LISTS), random(6) - 1, random(50)) end,
  function() return ("P(table.remove(%s))"):format(pick(LISTS)) end,
  function() return ("P(table.remove(%s, %d))"):format(pick(LISTS), random(6) - 1) end,
  function() return ("table.sort(%s)"):format(pick(LISTS)) end,
  function() return ("table.sort(%s, function(a, b) return a > b end)"):format(pick(LISTS)) end,
  function()
    return ("table.sort(%s, function(a, b) if a == 9 then error('nine', %d) end "
      .. "return a %% 5 < b %% 5 end)"):format(pick(LISTS), random(3))
  end,
  function() return ("table.sort(%s, function() return true end)"):format(pick(LISTS)) end,
  function() return ("table.sort(%s, %s)"):format(pick(LISTS), pick{"1", "{}", "nil"}) end,
  function() return ("P(table.concat(%s, ',', %d))"):format(pick(LISTS), random(3)) end,
  function() return ("P(table.unpack(%s))"):format(pick(LISTS)) end,
  function()
    local l = pick(LISTS)
    return ("table.move(%s, %d, #%s, %d)"):format(l, random(3), l, random(2))
  end,
  function() return ("P(table.unpack(table.move(%s, 1, 3, 2, {})))"):format(pick(LISTS)) end,
  function()
    local a, b = pick(LISTS), pick(LISTS)
    return ("P(table.move(%s, 1, #%s, #%s + 1, %s))"):format(a, a, b, b)
  end,
  function() local l = pick(LISTS) return ("L(%q, %s)"):format(l, l) end,
  function() local l = pick(LISTS) return ("L(%q, %s)"):format(l, l) end,
  function()
    local l = pick(LISTS)
    return ("local n = 0 for i, v in pairs(%s) do n = n * 7 %% 1000 + i + v %s end P(n)"):format(l,
      pick{
        ("W(%s, i)"):format(l), ("W(%s, i) U(%s, i)"):format(l, l), ("%s[i] = v + 1"):format(l), "",
        ("W(%s, i) %s[i] = 3"):format(l, l),
      })
  end,
  function()
    return pick{
      "table.insert(nil, 1)", "table.insert(%s)", "table.insert(%s, 1, 2, 3)",
      "table.insert(%s, 'x', 2)", "table.remove(5)", "table.concat(%s, 5, {})",
      "table.concat({{}})", "rawset(%s, nil, 1)", "rawset(1)", "rawget()", "setmetatable(%s, 1)",
      "setmetatable(1, {})", "getmetatable()", "next(1)", "pairs(nil)", "rawlen(1)",
      "rawset(%s, 1)", "%s[nil] = 1", "%s[0/0] = 1", "rawset(%s, 0/0, 1)", "P(%s[nil])",
      "table.unpack()", "table.move(%s, 1, 2)", "table.sort(1)", "debug.setmetatable(%s, 1)",
      "setmetatable(%s)",
    }:gsub("%%s", pick(random(2) == 1 and LISTS or DICTIONARIES)) .. ""
  end,
  -- Loops that change their current key.
  function()
    local t = pick(random(3) > 1 and DICTIONARIES or ANY)
    local body = {}
    for i = 1, random(3) do
      local work = pick(BODY)
      -- The removal of a metamethod by a plain assignment cannot be seen.
      if t:find("C") and work:find("nil") then work = "W(T1, k)" end
      body[i] = ("if SEL(k, %d) then %s end"):format(random(100), (work:gsub("T1", t)))
    end
    local wrap = random(4) == 1
    return ("local n, seen = 0, {} for k, v in %s do n = n + 1 if seen[k] then P('dup', k) end "
      .. "seen[k] = true if n > 99 then P('endless') break end %s end local names = {} "
      .. "for k in next, seen do names[#names + 1] = S(k) end table.sort(names) "
      .. "P(n, table.concat(names, ' '))")
      :format(wrap and ("next, " .. t) or ("pairs(%s)"):format(t), table.concat(body, " "))
  end,
  function()
    local t = pick(DICTIONARIES)
    local body = (pick(BODY):gsub("T1", t))
    local inner = (pick(BODY):gsub("T1", t)):gsub("%f[%w]k%f[%W]", "j")
    if body:find("nil") or inner:find("nil") then inner = "" body = "W(" .. t .. ", k)" end
    return ("local n = 0 for k in pairs(%s) do n = n + 1 if n > 99 then P('endless') break end "
      .. "if SEL(k, %d) then %s end for j in pairs(%s) do "
      .. "if SEL(j, %d) and rawequal(k, j) then %s end end end P(n)")
      :format(t, random(50), body, t, random(50), inner)
  end,
  function()
    local t = pick(DICTIONARIES)
    return ("local n = 0 for k in pairs(%s) do n = n + 1 W(%s, %s) "
      .. "if n > 99 then P('endless') break end end"):format(t, t, watched())
  end,
  function()
    local t = pick(DICTIONARIES)
    return ("while next(%s) ~= nil do local k = next(%s) %s[k] = nil %s end P(next(%s))"):format(
      t, t, t, pick{"", ("W(%s, k)"):format(t), ("U(%s, k)"):format(t)}, t)
  end,
  -- Classes.
  setmethod, setmethod, setmethod, setmethod, setmethod,
  function() return ("setmetatable(%s, %s)"):format(pick(INSTANCES), pick(CLASSES)) end,
  function() return ("setmetatable(%s, %s)"):format(pick(INSTANCES), pick(CLASSES)) end,
  function() return ("setmetatable(%s, nil)"):format(pick(INSTANCES)) end,
  function()
    return ("debug.setmetatable(%s, %s)"):format(pick(INSTANCES), pick{"C1", "C2", "nil"})
  end,
  function()
    return ("P(getmetatable(%s), debug.getmetatable(%s))"):format(pick(INSTANCES), pick(INSTANCES))
  end,
  function() return ("P(getmetatable(%s))"):format(pick(ANY)) end,
  function() return ("setmetatable(C2, {__index = C1})") end,
  function() return ("setmetatable(C3, C2)") end,
  function() return ("setmetatable(%s, {__index = %s})"):format(pick(INSTANCES), pick(CLASSES)) end,
  function()
    local f = metamethod("new" .. random(1 << 30), "__index")
    return ("setmetatable(%s, {__index = %s, __newindex = %s})"):format(
      pick(INSTANCES), (f:gsub("new%d+", "C1")),
      pick{"nil", "o2", "function(t, k, v) P('ni', t, k) rawset(t, k, v) end", "l3"})
  end,
  function()
    local a, b = pick(INSTANCES), pick{"i1", "i2", "1", '"s"', "o1", "nil"}
    if random(2) == 1 then a, b = b, a end
    return ("P(%s %s %s)"):format(a, pick(BINARY), b)
  end,
  function()
    local a, b = pick(INSTANCES), pick{"i1", "i2", "1", '"s"', "o1", "nil"}
    if random(2) == 1 then a, b = b, a end
    return ("P(%s %s %s)"):format(a, pick(BINARY), b)
  end,
  function() return ("P(%s%s)"):format(pick{"-", "~", "#"}, pick(INSTANCES)) end,
  function() return ("P(%s(1, nil, 'x'))"):format(pick(INSTANCES)) end,
  function() return ("P((tostring(%s):gsub('0x%%x+', 'PTR')))"):format(pick(INSTANCES)) end,
  function()
    return ("P((string.format('%%s', %s):gsub('0x%%x+', 'PTR')))"):format(pick(INSTANCES))
  end,
  function() return ("string.rep(%s)"):format(pick(INSTANCES)) end,
  function() return ("P(%s:method())"):format(pick(INSTANCES)) end,
  function()
    return ("P(select('#', %s), type(%s), rawequal(%s, i1))"):format(
      pick(ANY), pick(ANY), pick(ANY))
  end,
  function() return ("P(rawlen(%s))"):format(pick(LISTS)) end,
  function()
    local t = pick(INSTANCES)
    return ("CO(%d, function() local a = %s[%s] %s[%s] = %s P(%s %s %s) return a end)"):format(
      random(99), t, key(), t, key(), value(), t, pick(BINARY), pick{"1", "i2"})
  end,
  function()
    return ("CO(1, function() local n = 0 for k, v in pairs(%s) do n = n + 1 "
      .. "if n > 50 then break end W(%s, k) coroutine.yield('in') end return n end)")
      :format(("o1"), ("o1"))
  end,
  function()
    local t = pick(INSTANCES)
    return ("for i = 1, 2 do local c <close> = "
      .. "setmetatable({x = i}, {__close = function(c, e) P('close', c.x, e) end}) "
      .. "W(c, 'x') %s end"):format(pick{"", "error('in close', 0)", "c.x = 7"})
  end,
  -- Lifetime.
  function()
    return ("do local g = "
      .. "setmetatable({x = %d}, {__gc = function(g) P('gc', g.x, g.y) g.y = 1 end}) "
      .. "%s end FLUSH() collectgarbage() collectgarbage()"):format(random(9), pick{
        "", "W(g, 'x')", "W(g, STAR)", "W(g, 'x') g.x = 20", "W(g, 'y') U(g, 'y')",
      })
  end,
  function()
    return ("do local m = {} local g = setmetatable({x = %d}, m) %s "
      .. "m.__gc = function() P('never') end %s end FLUSH() collectgarbage() collectgarbage()")
      :format(random(9), pick{"", "W(g, 'x')"}, pick{"", "W(g, 'y')", "W(g, 'x') U(g, 'x')"})
  end,
  function()
    return ("do local m = {__gc = function(g) P('back', g.x) GONE = g end} "
      .. "local g = setmetatable({x = %d}, m) %s end FLUSH() collectgarbage() collectgarbage() "
      .. "if GONE then P(GONE.x, rawget(GONE, 'x')) GONE.x = 4 W(GONE, 'x') GONE.x = 5 P(GONE.x) "
      .. "D('gone', GONE) if %s then setmetatable(GONE, getmetatable(GONE)) end GONE = nil "
      .. "FLUSH() collectgarbage() collectgarbage() P(GONE) GONE = nil end")
      :format(random(9), pick{"", "W(g, 'x')", "W(g, STAR)"}, pick{"true", "false"})
  end,
  function()
    return ("do local w = setmetatable({}, {__mode = %q}) W(w, 'a') w.a = KO w.b = {} w[{}] = 1 "
      .. "w[KP] = 2 %s w.a = %s FLUSH() collectgarbage() collectgarbage() D('weak', w) end")
      :format(pick{"k", "v", "kv"}, pick{"", "W(w, 'b')", "W(w, STAR)", "W(w, KP)"},
        pick{"{}", "1", "KO"})
  end,
  function()
    return ("o%d.sub = {a = {b = %s}} W(o%d, 'sub') W(o1.sub, 'a')"):format(
      random(3), value(), random(3))
  end,
  function() return "if type(o1.sub) == 'table' then o1.sub.a = 3 D('sub', o1.sub) end" end,
  function()
    return "KEEP[#KEEP + 1] = setmetatable({}, {__gc = function() "
      .. "P('at close', pcall(function() i1.x = 3 l1[1] = 2 return i1.x end)) end})"
  end,
}

local function statement() return statements[random(#statements)]() end

local function generate(seed)
  math.randomseed(seed)
  random = math.random
  hasindex = {}
  local list = {}
  -- Some objects of classes from the start.
  for _, class in ipairs(CLASSES) do
    if random(2) == 1 then
      hasindex[class] = true
      list[#list + 1] = ("%s.__index = %s"):format(class, class)
    end
  end
  for _ = 1, random(5, 60) do list[#list + 1] = statement() end
  for _, t in ipairs(DICTIONARIES) do list[#list + 1] = ("D(%q, %s)"):format(t, t) end
  for _, t in ipairs(LISTS) do list[#list + 1] = ("L(%q, %s)"):format(t, t) end
  return list
end

local function text(list)
  local lines = {PRELUDE}
  for i, line in ipairs(list) do
    lines[#lines + 1] = ("T(%d, function() %s end)"):format(i, line)
  end
  return table.concat(lines, "\n") .. "\n"
end

local function shrink(list)
  local again = true
  while again do
    again = false
    for i = #list, 1, -1 do
      local line = table.remove(list, i)
      if differs(text(list)) then again = true else table.insert(list, i, line) end
    end
  end
  return list
end

local module = {generate = function(seed) return text(generate(seed)) end}
if arg and arg[1] == "--shrink" then
  local list = shrink(generate(math.tointeger(tonumber(arg[2]))))
  for i, line in ipairs(list) do print(i, line) end
  local _, plain, observed = differs(text(list))
  print("---- plain\n" .. plain .. "---- observed\n" .. observed)
elseif arg and arg[1] then
  io.write(module.generate(math.tointeger(tonumber(arg[1]))))
end
return module
