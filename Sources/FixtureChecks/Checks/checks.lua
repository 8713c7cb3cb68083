-- The checks of fixtures, as global functions. They use functions of Swift: `core.failed(message,
-- file, line, case)`, `core.checked()`, `core.advance(seconds)`, and the `source` of the fixture.
-- In these, a case is a number, and 0 is no case. The other files here use the functions that this
-- file adds to `core`.
local core, source = ...

-- Scripts may replace these functions, so they are read first.
local getinfo, getmetatable = debug.getinfo, debug.getmetatable
local concat, sort, running = table.concat, table.sort, coroutine.running
local find, format, gsub = string.find, string.format, string.gsub
local number_type, smallest = math.type, math.min
local error, pcall, select = error, pcall, select
local ipairs, next, pairs, tostring, type = ipairs, next, pairs, tostring, type

local OWN = getinfo(1, "S").source

-- The innermost case or block that runs in each coroutine. Outside of all, it is `core.file`.
local scopes = setmetatable({}, { __mode = "k" })
core.file = { prefix = "", number = 0 }

-- Returns the scope of the running coroutine: `prefix` begins its messages, `number` is its case.
function core.scope() return scopes[running()] or core.file end

function core.set_scope(scope) scopes[running()] = scope end

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
  local scope = core.scope()
  core.failed(scope.prefix .. message .. trail, file or source, line or 1, scope.number)
end

-- Raises an error for a wrong argument of a check, at the line of the caller.
local function refuse(text, ...) error(format(text, ...), 3) end

function core.is_callable(value)
  local meta = getmetatable(value)
  return type(value) == "function" or type(meta) == "table" and meta.__call ~= nil
end

-- Raises an error, by default at the line of the caller's caller, if an argument is no function.
function core.need_function(value, index, name, level)
  if core.is_callable(value) then return end
  error(format("bad argument #%d to '%s' (function expected, got %s)", index, name, type(value)),
    level or 3)
end

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

-- The differences of two values, as text; nil if there are none.
local function differences(actual, expected)
  local found = {}
  compare(actual, expected, "", found, {})
  local count = #found
  if count <= 1 then return found[1] end
  if count > MOST_DIFFERENCES then
    found[MOST_DIFFERENCES + 1] = "… and " .. count - MOST_DIFFERENCES .. " more"
  end
  return count .. " differences\n  "
    .. concat(found, "\n  ", 1, smallest(count, MOST_DIFFERENCES + 1))
end

core.text, core.differences = text, differences
function core.show(value) return show(value, 2) end

local function check_equal(actual, expected, what)
  local found = differences(actual, expected)
  core.checked()
  if found then fail((what and tostring(what) .. ": " or "") .. found) end
  return not found
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
  core.need_function(body, 1, "expect_error")
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

-- Advances virtual time: calls watchers, and runs timers and tasks that are due.
function advance(seconds)
  if type(seconds) ~= "number" or not (seconds >= 0 and seconds <= 1e9) then
    refuse("bad argument #1 to 'advance' (seconds from 0 to 1e9 expected, got %s)", text(seconds))
  end
  core.checked()
  local refusal = core.advance(seconds)
  if refusal then error(refusal, 2) end
end

function os.exit() error("os.exit would end all tests", 2) end

-- The name of the fixture in messages.
return getinfo(load("", source), "S").short_src
