-- The checks of fixtures, as global functions. They use Swift functions: `core.failed(message,
-- file, line, case)`, `core.checked()`, `core.advance(seconds)`, `core.began(sentence,
-- is_outermost, first_line, last_line)`, `core.ended(case, finds_leaks)`, `core.finds_leaks()`,
-- `core.settle()`, and the `source` of the fixture. In these, a case is a number, and 0 is no case.
local core, source = ...

-- Scripts may replace these functions, so they are read first.
local getinfo, traceback, getmetatable = debug.getinfo, debug.traceback, debug.getmetatable
local concat, sort, running = table.concat, table.sort, coroutine.running
local find, format, gsub = string.find, string.format, string.gsub
local number_type, smallest = math.type, math.min
local error, pcall, xpcall, select = error, pcall, xpcall, select
local collect = collectgarbage
local ipairs, next, pairs, tostring, type = ipairs, next, pairs, tostring, type

local OWN = getinfo(1, "S").source

-- The sentences of the running cases, outermost first; each coroutine has a separate list.
local cases = setmetatable({}, { __mode = "k" })
-- The numbers of these cases, in the same order.
local numbers = setmetatable({}, { __mode = "k" })

local function sentences()
  local list = cases[running()]
  return list and #list > 0 and concat(list, ": ") .. ": " or ""
end

local function current()
  local list = numbers[running()]
  return list and list[#list] or 0
end

-- The current line of the fixture, or of another file if the fixture is not running; and all lines
-- that led to it.
local function place()
  local file, line, trail = nil, nil, {}
  for level = 2, 40 do
    local info = getinfo(level, "Sl")
    if not info then break end
    if info.currentline > 0 and info.source ~= OWN then
      local entry = info.short_src .. ":" .. info.currentline
      if trail[#trail] ~= entry then trail[#trail + 1] = entry end
      if not line or file ~= source and info.source == source then
        file, line = info.source, info.currentline
      end
    end
  end
  return file, line, #trail > 1 and "\n  at " .. concat(trail, "\n  at ") or ""
end

local function fail(message)
  local file, line, trail = place()
  core.failed(sentences() .. message .. trail, file or source, line or 1, current())
end

-- Raises an error for a wrong argument of a check, at the line of the caller.
local function refuse(text, ...) error(format(text, ...), 3) end

local function text(value)
  local ok, result = pcall(tostring, value)
  return ok and result or "a " .. type(value) .. " whose __tostring failed"
end

-- Values in failures ------------------------------------------------------------------------------

local MOST_ENTRIES, MOST_DIFFERENCES = 12, 10

local function by_kind(a, b)
  local first, second = type(a), type(b)
  if first == second and (first == "number" or first == "string") then return a < b end
  if first ~= second then return first < second end
  return text(a) < text(b)
end

-- Tables, and objects of the host that can be traversed.
local function is_walkable(value)
  if type(value) == "table" then return true end
  local meta = type(value) == "userdata" and getmetatable(value)
  return meta and meta.__pairs ~= nil and pcall(pairs, value)
end

local function sorted_keys(object)
  local keys = {}
  for key in pairs(object) do keys[#keys + 1] = key end
  sort(keys, by_kind)
  return keys
end

local function show(value, depth)
  if type(value) == "string" then
    return (gsub(format("%q", value), "\\\n", "\\n"))
  end
  if type(value) ~= "table" then return text(value) end
  local meta = getmetatable(value)
  if meta and (meta.__tostring or meta.__name) then return text(value) end
  if depth == 0 then return next(value) == nil and "{}" or "{…}" end
  local parts, length = {}, #value
  for _, key in ipairs(sorted_keys(value)) do
    if #parts == MOST_ENTRIES then
      parts[#parts + 1] = "…"
      break
    end
    local shown = show(value[key], depth - 1)
    if number_type(key) == "integer" and key >= 1 and key <= length then
      parts[#parts + 1] = shown
    elseif type(key) == "string" and find(key, "^[%a_][%w_]*$") then
      parts[#parts + 1] = key .. " = " .. shown
    else
      parts[#parts + 1] = "[" .. show(key, 0) .. "] = " .. shown
    end
  end
  return "{" .. concat(parts, ", ") .. "}"
end

local function below(path, key)
  if type(key) == "string" and find(key, "^[%a_][%w_]*$") then
    return path == "" and key or path .. "." .. key
  end
  return path .. "[" .. show(key, 0) .. "]"
end

-- Adds "path: actual, expected …" to `found` for each difference. `seen` has the pairs of objects
-- that are being compared, so that cycles end.
local function compare(actual, expected, path, found, seen)
  if actual == expected or actual ~= actual and expected ~= expected then return end
  if is_walkable(actual) and is_walkable(expected) then
    seen[actual] = seen[actual] or {}
    if seen[actual][expected] then return end
    seen[actual][expected] = true
    for _, key in ipairs(sorted_keys(expected)) do
      compare(actual[key], expected[key], below(path, key), found, seen)
    end
    for _, key in ipairs(sorted_keys(actual)) do
      if expected[key] == nil then compare(actual[key], nil, below(path, key), found, seen) end
    end
    return
  end
  found[#found + 1] = (path == "" and "" or path .. ": ")
    .. show(actual, 2) .. ", expected " .. show(expected, 2)
end

local function check_equal(actual, expected, what)
  local found = {}
  compare(actual, expected, "", found, {})
  core.checked()
  if #found == 0 then return true end
  what = what and tostring(what) .. ": " or ""
  if #found == 1 then
    fail(what .. found[1])
  else
    local count = #found
    if count > MOST_DIFFERENCES then
      found[MOST_DIFFERENCES + 1] = "… and " .. count - MOST_DIFFERENCES .. " more"
    end
    fail(what .. count .. " differences\n  "
      .. concat(found, "\n  ", 1, smallest(count, MOST_DIFFERENCES + 1)))
  end
  return false
end

-- The checks --------------------------------------------------------------------------------------

-- Fails if the value is false or nil; returns it.
function expect(value, what)
  core.checked()
  if not value then
    fail((what and text(what) or "expected a value that is true") .. ": " .. text(value))
  end
  return value
end

-- Fails if the values differ, deeply, and lists the differences; returns whether they are equal.
-- Objects of the host can be compared with tables.
function expect_equal(actual, expected, what)
  return (check_equal(actual, expected, what))
end

-- Fails if calling `body` raises no error, or if the error's message neither contains nor matches
-- `pattern`; returns the error.
function expect_error(body, pattern, what)
  if type(body) ~= "function" then
    refuse("bad argument #1 to 'expect_error' (function expected, got %s)", type(body))
  end
  if pattern ~= nil and type(pattern) ~= "string" then
    refuse("bad argument #2 to 'expect_error' (string expected, got %s)", type(pattern))
  end
  core.checked()
  local ok, raised = pcall(body)
  what = what and text(what) .. ": " or ""
  if ok then
    fail(what .. "no error" .. (pattern and ", expected " .. show(pattern) or ""))
    return nil
  end
  local message = text(raised)
  if pattern and not find(message, pattern, 1, true) then
    local valid, position = pcall(find, message, pattern)
    if not valid or not position then
      fail(what .. "the error " .. show(message) .. " lacks " .. show(pattern))
    end
  end
  return raised
end

local entries = {}

-- Records an event for `expect_log`.
function log(...)
  local parts = {}
  for i = 1, select("#", ...) do parts[i] = text((select(i, ...))) end
  entries[#entries + 1] = concat(parts, " ")
end

-- Fails if the events recorded since the last time differ from `expected`.
function expect_log(expected, what)
  if type(expected) ~= "table" then
    refuse("bad argument #1 to 'expect_log' (table expected, got %s)", type(expected))
  end
  local noted = entries
  entries = {}
  return (check_equal(noted, expected, what or "log"))
end

-- Runs a part of the fixture: an error in it is a failure at its line, and the script continues.
-- Messages of failures in it begin with the sentence.
function case(sentence, body)
  if type(body) ~= "function" then
    refuse("bad argument #2 to 'case' (function expected, got %s)", type(body))
  end
  core.checked()
  local thread = running()
  local list = cases[thread] or {}
  cases[thread] = list
  list[#list + 1] = text(sentence)
  local own = numbers[thread] or {}
  numbers[thread] = own
  local place = getinfo(body, "S")
  local number = core.began(
    concat(list, ": "), #list == 1, place.linedefined, place.lastlinedefined)
  if not number then
    list[#list] = nil
    return
  end
  own[#own + 1] = number
  local trace
  local ok, raised = xpcall(body, function(raised)
    trace = traceback(nil, 2)
    return raised
  end)
  if not ok then core.raised(sentences(), text(raised), trace, number) end
  list[#list], own[#own] = nil, nil
  local is_outermost = #list == 0
  -- Objects that remain because of an error are not leaks.
  local finds_leaks = ok and is_outermost and core.finds_leaks()
  if finds_leaks then
    -- Garbage ends by itself, partly in finalizers, and so does the result of the case.
    raised = nil
    core.settle()
    collect()
    collect()
  end
  core.ended(number, finds_leaks)
end

-- Like the other checks, but a failure ends the script.
function assert(...)
  core.checked()
  local value, message = ...
  if value then return ... end
  local count = select("#", ...)
  if count == 0 then refuse "bad argument #1 to 'assert' (value expected)" end
  if count == 1 then message = "assertion failed!" end
  error(message, 2)
end

-- Advances virtual time: calls watchers, and runs timers and tasks that are due.
function advance(seconds)
  if type(seconds) ~= "number" or not (seconds >= 0 and seconds <= 1e9) then
    refuse("bad argument #1 to 'advance' (seconds from 0 to 1e9 expected, got %s)", text(seconds))
  end
  local refusal = core.advance(seconds)
  if refusal then error(refusal, 2) end
end

function os.exit() error("os.exit would end all tests", 2) end

-- The name of the fixture in messages.
return getinfo(load("", source), "S").short_src
