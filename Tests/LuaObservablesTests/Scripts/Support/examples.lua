-- Examples: Lua code in which lines show the values that follow from them.
--
--   example("Z5: a property can be overridden", "t.full, calls()", [[
--     local t = person("Ada", "King")
--     local calls = counter(t, "full")  --> Ada King 0
--     t.full = "me"                     --> me 1
--     = t.first                         --> Ada
--     t.full = obs                      --! a text was expected
--   ]])
--
-- After a line with `-->`, the expressions of the second argument have these values, as `tostring`
-- spells them, with spaces between them. A line that begins with `=` shows other expressions. A
-- line with `--!`, or before a line that begins with `--!`, raises an error that matches this
-- pattern. A script begins with
--
--   dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/examples.lua")
--
-- instead of `checking.lua`. Examples use the global functions of the script.
dofile(debug.getinfo(1, "S").source:match "^@(.*/)" .. "checking.lua")
local obs = require "obs"

-- Values as an example shows them.
function shown(...)
  local texts = table.pack(...)
  for i = 1, texts.n do texts[i] = tostring(texts[i]) end
  return table.concat(texts, " ")
end

-- The keys that `pairs` shows, sorted.
function keys(t)
  local list = {}
  for key in pairs(t) do list[#list + 1] = tostring(key) end
  table.sort(list)
  return table.concat(list, " ")
end

-- A function that notes values, and one that flushes and returns the values noted since its last
-- call: "-" if there are none.
function recorder()
  local log = {}
  local function told()
    obs.flush()
    local text = table.concat(log, " ")
    for i in ipairs(log) do log[i] = nil end
    return text == "" and "-" or text
  end
  return function(...) log[#log + 1] = shown(...) end, told
end

function agrees(expected, line, ...)
  local actual = shown(...)
  if actual ~= expected then error(("%s\n  shows %s"):format(line, actual), 2) end
end

-- Code that raises an error with a pattern.
local function failing(code, pattern)
  return ("fails(%q, function() %s end)"):format(pattern, (code:gsub("^%s*=", "return ")))
end

-- Adds a line of an example to lines of code. A pattern on its own line belongs to the line before.
local function add(lines, line, show)
  local code, expected = line:match "^(.-)%s*%-%->%s?(.-)%s*$"
  if code then
    local own = code:match "^%s*=(.*)"
    code = ("%s; agrees(%q, %q, %s)"):format(own and "" or code, expected, line, own or show)
  else
    local pattern
    code, pattern = line:match "^(.-)%s*%-%-!%s*(.-)%s*$"
    if code == "" then lines[#lines] = failing(lines[#lines], pattern)
    elseif code then code = failing(code, pattern) end
  end
  lines[#lines + 1] = code or line
end

-- A function that runs an example. `values` are further variables of its code.
function example_body(show, text, values, level)
  local caller = debug.getinfo(level or 2, "Sl")
  local lines = {}
  for line in text:gmatch "([^\n]*)\n?" do add(lines, line, show) end
  local code = ("\n"):rep(caller.currentline) .. table.concat(lines, "\n")
  local env = setmetatable({obs = obs}, {__index = function(_, key)
    local value = values and values[key]
    if value == nil then value = _G[key] end
    return value
  end})
  return assert(load(code, caller.source, "t", env))
end

function example(sentence, show, text)
  check(sentence, example_body(show, text, nil, 3))
end
