-- The functions that replace Lua's own in safe hosts give the same results and errors for random
-- arguments: stoppable.lua FIRST LAST (seeds). They can also be stopped.
local first, last = math.tointeger(arg[1]), math.tointeger(arg[2])
local random = math.random

local function pick(list) return list[random(#list)] end

local function random_text(most, letters)
  local text = {}
  for i = 1, random(0, most) do text[i] = pick(letters) end
  return table.concat(text)
end

local letters = { "a", "b", "c", "A", "1", " ", "(", ")", "%", "]", "-", "\0", "é", "." }
local items = {
  "a", "b", "c", ".", "%a", "%d", "%s", "%w", "%A", "%p", "%%", "%.", "[abc]", "[^abc]", "[a-c]",
  "[%a]", "[%d-z]", "[]]", "[^]]", "[]-a]", "%b()", "%bab", "%f[%a]", "%f[^a]", "()", "(a)", "(.)",
  "(", ")", "(.-)", "(a*)", "%1", "%2", "%0", "%9", "^", "$", "%z", "%x", "[a-]", "[%]]", "%", "[",
  "]", "-", "*", "+", "?", "\0", "[\0-a]", "%f", "%b", "%ba",
}
local suffixes = { "", "", "", "*", "+", "-", "?" }

local function random_pattern()
  local pattern = { random(8) == 1 and "^" or "" }
  for i = 1, random(0, 6) do pattern[i + 1] = pick(items) .. pick(suffixes) end
  if random(8) == 1 then pattern[#pattern + 1] = "$" end
  return table.concat(pattern)
end

local function random_replacement()
  local kind = random(5)
  if kind == 1 then return pick { "%1", "%0%0", "x", "%%", "%", "%2", "%a", "<%1>", "", "%9" } end
  if kind == 2 then return { a = "A", b = 1, c = false, ab = "x", [""] = "-" } end
  if kind == 3 then return function(a, b) return pick { a, b, "z", 5, false } end end
  if kind == 4 then return random(100) end
  return pick { true, {}, function() return {} end, 1.5 }
end

local function show(value)
  if type(value) == "string" then return ("%q"):format(value) end
  return tostring(value)
end

local function outcome(seed, f, ...)
  -- Some replacements are random: both sides get the same.
  math.randomseed(seed)
  local results = table.pack(pcall(f, ...))
  for i = 1, results.n do
    local value = results[i]
    results[i] = type(value) == "table" and "table" or show(value)
  end
  -- Only functions of the library have names in error messages.
  if not results[1] or results[1] == "false" then
    results[2] = results[2]:gsub("to '[^']+'", "to a function")
  end
  return table.concat(results, " ", 1, results.n)
end

local function compare(what, theirs, mine, ...)
  local seed, next_seed = random(1 << 50), random(1 << 50)
  local expected, got = outcome(seed, theirs, ...), outcome(seed, mine, ...)
  math.randomseed(next_seed)
  if expected ~= got then
    local arguments = table.pack(...)
    for i = 1, arguments.n do arguments[i] = show(arguments[i]) end
    error(("%s(%s)\n  Lua:  %s\n  ours: %s"):format(
      what, table.concat(arguments, ", ", 1, arguments.n), expected, got), 0)
  end
end

local function collect(gmatch)
  return function(...)
    local found = {}
    for a, b, c in gmatch(...) do
      found[#found + 1] = show(a) .. "," .. show(b) .. "," .. show(c)
      if #found > 50 then break end
    end
    return table.concat(found, ";")
  end
end

-- A list, or a value that poses as a list.
local function random_list()
  local list = {}
  for i = 1, random(0, 12) do
    list[i] = pick { i, i * 1.5, "x", tostring(i), random(10), random(10) }
  end
  local kind = random(6)
  if kind == 1 then return setmetatable(list, { __len = function() return random(0, 15) end }) end
  if kind == 2 then
    return setmetatable({}, { __index = list, __len = function() return #list end,
      __newindex = function(_, k, v) list[k] = v end })
  end
  if kind == 3 then
    return pick { 1, "x", nil, setmetatable({}, { __len = function() return "x" end }) }
  end
  return list
end

local numbers = {
  0, 1, 2, 3, -1, 5, 12, math.maxinteger, math.mininteger, math.maxinteger - 3, 1.5, "2", "x",
}
local function number() return pick(numbers) end

local function on_lists(f)
  return function(seed, ...)
    math.randomseed(seed)
    local list, other = random_list(), random_list()
    local results = table.pack(f(list, other, ...))
    local text = {}
    for i = 1, math.min(results.n, 40) do
      text[i] = type(results[i]) == "table" and "table" or show(results[i])
    end
    for _, l in ipairs { list, other } do
      if type(l) == "table" then
        for i = -2, 20 do text[#text + 1] = show(rawget(l, i)) end
      end
    end
    return table.concat(text, " ")
  end
end

local function compare_lists(name, prepare)
  local seed = random(1 << 40)
  local a, b, c, d = number(), number(), number(), number()
  local n = random(0, 4)
  local function with(f)
    return on_lists(function(list, other) return prepare(f, list, other, n, a, b, c, d) end)
  end
  compare(name .. " " .. table.concat({ show(n), show(a), show(b), show(c), show(d) }, " "),
    with(table[name]), with(ours.table[name]), seed)
end

for seed = first, last do
  math.randomseed(seed)
  local next_seed = random(1 << 50)
  local subject, pattern = random_text(14, letters), random_pattern()
  local start = random(3) == 1 and random(-16, 16) or nil
  compare("find", string.find, ours.string.find, subject, pattern, start, random(6) == 1)
  compare("match", string.match, ours.string.match, subject, pattern, start)
  compare("gmatch", collect(string.gmatch), collect(ours.string.gmatch), subject, pattern, start)
  math.randomseed(next_seed)
  local replacement = random_replacement()
  local limit = random(4) == 1 and random(-1, 4) or nil
  compare("gsub", string.gsub, ours.string.gsub, subject, pattern, replacement, limit)
  compare("find", string.find, ours.string.find, random_text(20, { "a", "b" }),
    random_text(4, { "a", "b" }), start, true)
  compare("rep", string.rep, ours.string.rep, random_text(5, letters), random(-1, 9),
    pick { "", ",", "ab", false } or nil)
  for _, name in ipairs { "upper", "lower", "reverse" } do
    compare(name, string[name], ours.string[name], subject)
  end
  local text = random_text(8, {
    "a", "é", "€", "😀", "\x80", "\xC3", "\xF4\x90\x80\x80", "\xED\xA0\x80",
    "\xFD\xBF\xBF\xBF\xBF\xBF", "\xC0\x80", "\xFF",
  })
  compare("utf8.len", utf8.len, ours.utf8.len, text, pick { 1, random(-12, 12) }, random(-12, 12),
    random(2) == 1)
  compare("utf8.offset", utf8.offset, ours.utf8.offset, text, random(-6, 6),
    random(2) == 1 and random(-12, 12) or nil)
  compare_lists("insert", function(f, list, _, n, a, b)
    if n == 0 then return f(list) end
    if n == 1 then return f(list, a) end
    if n == 2 then return f(list, a, b) end
    return f(list, a, b, 1)
  end)
  compare_lists("remove", function(f, list, _, n, a)
    if n < 2 then return f(list) end
    return f(list, a)
  end)
  compare_lists("concat", function(f, list, _, n, a, b)
    if n == 0 then return f(list) end
    if n == 1 then return f(list, ",") end
    return f(list, "-", random(3), random(5))
  end)
  compare_lists("unpack", function(f, list, _, n, a, b)
    if n == 0 then return f(list) end
    if n == 1 then return f(list, random(3)) end
    if n == 2 then return f(list, a, a) end
    return f(list, random(-2, 3), random(5))
  end)
  compare_lists("move", function(f, list, other, n, a, b, c)
    local x, y, z = random(-2, 6), random(-2, 12), random(-2, 6)
    if n == 0 then return f(list, x, y, z) end
    if n == 1 then return f(list, x, y, z, other) end
    if n == 2 then return f(list, a, a, c, other) end
    return f(list, x, y)
  end)
  compare_lists("sort", function(f, list, _, n)
    if n < 2 then return f(list) end
    local function text_less(a, b) return tostring(a) < tostring(b) end
    if n == 2 then return f(list, text_less) end
    if n == 3 then return f(list, function() return true end) end
    return f(list, function() return random(2) == 1 end)
  end)
end

-- Large arguments give the same results as in Lua's own functions.
compare("find", string.find, ours.string.find, ("a"):rep(300), ("a?"):rep(250) .. "b")
compare("match", string.match, ours.string.match, ("a"):rep(300), (".?"):rep(300))
compare("match", string.match, ours.string.match, "", ("a*"):rep(5000))
compare("match", string.match, ours.string.match, "", ("("):rep(40))
compare("rep", string.rep, ours.string.rep, "x", 1 << 62)
compare("rep", string.rep, ours.string.rep, "xyz", math.maxinteger, ",")
compare("unpack", table.unpack, ours.table.unpack, {}, 1, 1 << 30)
compare("unpack", table.unpack, ours.table.unpack, {}, math.mininteger, math.maxinteger)
-- Lua's own function crashes when it continues after this error.
local again = ours.string.gmatch(("x"):rep(1000), (".?"):rep(2000000))
for _ = 1, 5 do assert(not pcall(again)) end

-- Each of these would take hours, or much longer than 10 ms.
local huge = setmetatable({}, { __len = function() return 1 << 60 end })
local function blank() return "" end
local long = ("a"):rep(1 << 26)
local endless = {
  find = function() ours.string.find(("a"):rep(60), ("a-"):rep(30) .. "b") end,
  match = function() ours.string.match(("a"):rep(100000), ".-.-.-.-b") end,
  gmatch = function() for _ in ours.string.gmatch(("a"):rep(60), (".*"):rep(20) .. "x") do end end,
  gsub = function() ours.string.gsub(long, "a", tostring) end,
  plain = function() ours.string.find(long, ("a"):rep(1 << 20) .. "b", 1, true) end,
  set = function() ours.string.find(("b"):rep(1000000), "[" .. ("a"):rep(1000000) .. "]") end,
  balance = function() ours.string.find(("("):rep(1000000), "%b()") end,
  rep = function() while true do ours.string.rep("xyz", 1 << 24) end end,
  upper = function() while true do ours.string.upper(long) end end,
  reverse = function() while true do ours.string.reverse(long) end end,
  insert = function() ours.table.insert(huge, 1, 1) end,
  remove = function() ours.table.remove(huge, 1) end,
  move = function() ours.table.move({}, 1, 1 << 60, 2) end,
  concat = function() ours.table.concat(setmetatable({}, { __index = blank }), "", 1, 1 << 60) end,
  sort = function()
    local list = {}
    for i = 1, 1 << 21 do list[i] = i ~ 0x5555 end
    stop_after(0.01)
    ours.table.sort(list, math.ult)
  end,
  len = function() while true do ours.utf8.len(long) end end,
  offset = function() while true do ours.utf8.offset(long, -1 << 40) end end,
}
local worst, slowest = 0, ""
for name, body in pairs(endless) do
  go_on()
  local start
  if name ~= "sort" then stop_after(0.02) end
  start = now()
  local ok, message = pcall(body)
  local took = now() - start
  assert(not ok and type(message) == "userdata", name .. ": " .. tostring(message))
  if name ~= "sort" and took > worst then worst, slowest = took, name end
end
print(("stopped %.1f ms after the signal at worst (%s)"):format((worst - 0.02) * 1e3, slowest))
