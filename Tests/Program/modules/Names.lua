-- Names of metamethods in debug.getinfo and tracebacks, and metamethods that are not functions.
local show = require "show"

local function place(level)
  local info = debug.getinfo(level + 1, "nSlt")
  return string.format("%s '%s'%s line %d", info.namewhat, info.name or "", info.istailcall
    and " by a tail call" or "", info.currentline)
end

-- Addresses and the folder differ between runs.
local function traceback()
  return (debug.traceback("", 2):gsub("0x%x+", "0x"):gsub("[^%s<:]*/", ""))
end

local events = {
  "add", "sub", "mul", "div", "mod", "pow", "unm", "idiv", "band", "bor", "bxor", "shl", "shr",
  "bnot", "concat", "len", "eq", "lt", "le", "close", "tostring", "index",
}
local log
local class = {}
for _, event in ipairs(events) do
  class["__" .. event] = function()
    log = { event, place(1), place(2), traceback() }
    return event == "tostring" and "text" or 1
  end
end
local a, b = O(setmetatable({ n = 1 }, class)), O(setmetatable({ n = 1 }, class))

local operations = {
  add = function() return a + b, 1 + a, a + 1, a + 2.5 end,
  sub = function() return a - b end, mul = function() return a * b end,
  div = function() return a / b end, mod = function() return a % b end,
  pow = function() return a ^ b end, unm = function() return -a end,
  idiv = function() return a // b end, band = function() return a & b end,
  bor = function() return a | b end, bxor = function() return a ~ b end,
  shl = function() return a << b end, shr = function() return a >> b end,
  bnot = function() return ~a end, concat = function() return a .. b, "x" .. a end,
  len = function() return #a end, eq = function() return a == b, a ~= b end,
  lt = function() return a < b, a < 1 end, le = function() return a <= b, a > b end,
  close = function() local _ <close> = a end, tostring = function() return tostring(a) end,
  index = function() return a.missing end,
}
for _, event in ipairs(events) do
  log = nil
  operations[event]()
  show(event, log)
end

-- Called by C code, in a sort and in an error.
table.sort({ a, b, a }, function(x, y)
  log = nil
  local less = x < y
  show("less", log)
  return less and false
end)
log = nil
show("closed", pcall(function()
  local _ <close> = a
  error("fails", 0)
end))
show("closed", log)

-- Callable objects, functions that call others, and nested calls.
local depth = 0
local other = setmetatable({ n = 1 }, {
  __add = setmetatable({}, { __call = function() return place(1) end }),
  __sub = function() return (function() return place(1) end)() end,
  __mul = function(x, y)
    depth = depth + 1
    local outer = depth < 5 and x * y or ""
    return outer .. "\n" .. place(1)
  end,
  __concat = function() return select(2, pcall(error, "text", 2)) end,
  __unm = function() error("raised", 2) end,
  __len = function() return coroutine.yield(place(1)) end,
  __call = function(_, level) return debug.getinfo(level, "S").what end,
})
O(other)
show("other", other + 1, other - 1, other * 1, other .. 1)
show("raised", pcall(function() return -other end))
show("yields", coroutine.wrap(function() return #other end)())
show("called", other(1), other(2))

-- A value that is not a function, until it is replaced or removed.
local uses = {
  add = function(x) return x + 1 end, eq = function(x, y) return x == y end,
  lt = function(x, y) return x < y end, concat = function(x) return x .. "" end,
  len = function(x) return #x end, unm = function(x) return -x end,
  call = function(x) return (x(1)) end, tostring = function(x) return tostring(x) end,
}
local names = {}
for name in pairs(uses) do names[#names + 1] = name end
table.sort(names)
for _, value in ipairs { true, 5, "text", { } } do
  for _, name in ipairs(names) do
    local meta = { ["__" .. name] = value }
    local x, y = O(setmetatable({ n = 1 }, meta)), O(setmetatable({ n = 1 }, meta))
    local function try()
      local ok, result = pcall(uses[name], x, y)
      -- After the removal of an operator, the message omits the variable that lacks it.
      result = tostring(result):gsub("0x%x+", "0x"):gsub("[^%s<:]*/", "")
      return ok, (result:gsub("(a table value) %(local 'x'%)", "%1"))
    end
    local what = name .. " " .. type(value)
    show(what, try())
    meta["__" .. name] = function() return "replaced" end
    show(what .. " replaced", try())
    meta["__" .. name] = nil
    show(what .. " removed", try())
  end
end
