-- The global `assert`: Lua's function, and the assertions of luassert, such as
-- `assert.are.same(expected, actual)`. A failure ends the case.
local core = ...

-- Scripts may replace these functions, so they are read first.
local error, format, ipairs = error, string.format, ipairs
local pcall, rawequal, select, setmetatable = pcall, rawequal, select, setmetatable
local absolute, find, gsub, lower, match_text = math.abs, string.find, string.gsub, string.lower,
  string.match
local concat, pack, pairs = table.concat, table.pack, pairs
local type, unpack = type, table.unpack
local show = core.show

-- The assertions. `test(…)` returns whether the arguments fit, and optionally two messages: for
-- arguments that do not fit, and for arguments that fit after `not`. `count` is the number of
-- arguments before the caller's message. If `is_of_spy`, the first argument of `test` is a spy.
local assertions = {}

local function define(names, count, test, is_of_spy)
  for name in names:gmatch "[%w_]+" do
    assertions[name] = { name = name, count = count, test = test, is_of_spy = is_of_spy }
  end
end

define("equal equals", 2, function(expected, actual)
  return actual == expected, show(actual) .. ", expected " .. show(expected)
end)
define("same", 2, function(expected, actual)
  local found = core.differences(actual, expected)
  return not found, found
end)
define("near", 3, function(expected, actual, tolerance)
  for i, value in ipairs { expected or false, actual or false, tolerance or false } do
    if type(value) ~= "number" then
      error(format("bad argument #%d to 'near' (number expected, got %s)", i, show(value)), 3)
    end
  end
  return absolute(actual - expected) <= tolerance,
    format("%s, expected %s ± %s", show(actual), show(expected), show(tolerance))
end)
define("truthy", 1, function(value) return value end)
define("falsy", 1, function(value) return not value end)
define("true", 1, function(value) return rawequal(value, true) end)
define("false", 1, function(value) return rawequal(value, false) end)
for _, name in ipairs { "nil", "boolean", "number", "string", "table", "function", "userdata",
  "thread" } do
  define(name, 1, function(value) return type(value) == name end)
end

local function matches(pattern, value, first, is_plain)
  local ok, position = pcall(find, value, pattern, first, is_plain)
  if not ok then error(position, 3) end
  return position ~= nil, format("%s does not match %s", show(value), show(pattern))
end
define("match matches", 2, matches)

define("error errors", 2, function(body, ...)
  core.need_function(body, 1, "has_error", 4)
  local ok, raised = pcall(body)
  if ok then return false, "no error" end
  if select("#", ...) == 0 or (...) == nil then
    return true, nil, "the error " .. show(raised)
  end
  if type(raised) == "string" then raised = gsub(raised, "^[^\n]-:%d+: ", "", 1) end
  return not core.differences(raised, (...)),
    format("the error %s, expected %s", show(raised), show((...)))
end)
define("error_matches matches_error", 2, function(body, pattern, first, is_plain)
  core.need_function(body, 1, "error_matches", 4)
  local ok, raised = pcall(body)
  if ok then return false, "no error" end
  return matches(pattern, core.text(raised), first, is_plain)
end)

local function define_count(name, fits)
  define(name, 1, function(spy, count)
    if type(count) ~= "number" and (count ~= nil or name ~= "called") then
      error(format("bad argument #1 to '%s' (number expected, got %s)", name, show(count)), 3)
    end
    return fits(#spy.calls, count),
      format("called %d times, expected %s", #spy.calls,
        count and (gsub(name, "_", " ")) .. " " .. count .. " times" or "a call")
  end, true)
end
define_count("called", function(calls, count) return calls == count or not count and calls > 0 end)
define_count("called_at_least", function(calls, count) return calls >= count end)
define_count("called_at_most", function(calls, count) return calls <= count end)
define_count("called_more_than", function(calls, count) return calls > count end)
define_count("called_less_than", function(calls, count) return calls < count end)

local function define_list(name, field, word)
  define(name, 1 / 0, function(spy, ...)
    local expected, shown = pack(...), {}
    for i, list in ipairs(spy[field]) do
      if core.fits(list, expected) then return true end
      shown[i] = core.show_list(list)
    end
    return false, format("%s: %s, expected %s", word, #shown > 0 and concat(shown, ", ") or "none",
      core.show_list(expected))
  end, true)
end
define_list("called_with", "calls", "calls")
define_list("returned_with", "returnvals", "results")

-- Names -------------------------------------------------------------------------------------------

-- Words before the name of an assertion; true if they negate it.
local MODIFIERS = {
  is = false, are = false, was = false, has = false, does = false, ["not"] = true, no = true,
}

local unknown = core.unknown("assert", assertions)

-- Adds the words of a key such as `is_not_nil` to a state. If there is no such assertion, returns
-- nil and its name.
local function with_words(state, key)
  local own, rest = {}, lower(core.text(key))
  for name, value in pairs(state) do own[name] = value end
  while not own.assertion do
    local word, others = match_text(rest, "^(%a+)_?(.*)$")
    if MODIFIERS[word] == nil then break end
    if MODIFIERS[word] then own.is_negated = not own.is_negated end
    rest = others
  end
  if rest == "" then return own end
  own.assertion = assertions[(own.assertion and own.assertion.name .. "_" or "") .. rest]
  if own.assertion then return own end
  return nil, rest
end

local function failure(state, reason, surplus, ...)
  local assertion, arguments = state.assertion, pack(...)
  local what = state.message or arguments[assertion.count + 1]
  arguments.n = assertion.count < arguments.n and assertion.count or arguments.n
  if not reason and not surplus and assertion.count == 1 then
    local negation = state.is_negated and "not " or ""
    reason = show(arguments[1]) .. ", expected " .. negation .. assertion.name
  elseif state.is_negated then
    reason = surplus or "not expected: " .. assertion.name .. core.show_list(arguments)
  end
  return (what and core.text(what) .. ": " or "") .. reason
end

-- Checks. Errors are at the line of the caller's caller, as this is only called in tail calls.
local function check(state, ...)
  local assertion, ok, reason, surplus = state.assertion, nil, nil, nil
  if not assertion then error("this needs an assertion, such as assert.are.equal", 2) end
  core.checked()
  if not assertion.is_of_spy then
    ok, reason, surplus = assertion.test(...)
  elseif state.spy then
    ok, reason = assertion.test(state.spy, ...)
  else
    error(format("'%s' needs a spy: assert.spy(s).was.%s(…)", assertion.name, assertion.name), 2)
  end
  if (not ok) == (not state.is_negated) then error(failure(state, reason, surplus, ...), 2) end
  return ...
end

-- Returns a table for the words so far: its fields add words, and a call checks.
local function chain(state)
  return setmetatable({}, {
    __index = function(_, key)
      local own, name = with_words(state, key)
      if own then return chain(own) end
      return unknown(nil, name)
    end,
    __call = function(_, ...) return check(state, ...) end,
  })
end

local function of_spy(value)
  if not core.is_spy(value) then
    error(format("bad argument #1 to 'assert.spy' (spy expected, got %s)", type(value)), 2)
  end
  return chain { spy = value }
end

-- Like the other checks, but a failure ends the script or the case.
local function assert_value(_, ...)
  core.checked()
  local value, message = ...
  if value then return ... end
  local count = select("#", ...)
  if count == 0 then error("bad argument #1 to 'assert' (value expected)", 2) end
  if count == 1 then message = "assertion failed!" end
  error(message, 2)
end

assert = setmetatable({
  spy = of_spy, stub = of_spy,
  message = function(text) return chain { message = core.text(text) } end,
}, {
  __call = assert_value,
  __index = function(_, key)
    local state, name = with_words({}, key)
    if state then return chain(state) end
    return unknown(nil, name)
  end,
})

-- Matchers ----------------------------------------------------------------------------------------

-- `match.is_table()` and others match an argument of a call. If the assertion takes several
-- arguments, this argument is the second.
local Matcher = { __name = "matcher" }

function Matcher.__matches(matcher, value)
  local state, list = matcher.state, matcher.arguments
  if not state then return true end
  local ok
  if state.assertion.count == 1 then
    ok = state.assertion.test(value)
  else
    ok = state.assertion.test(list[1], value, unpack(list, 2, list.n))
  end
  return (not ok) == (state.is_negated or false)
end

match = setmetatable({ _ = setmetatable({}, Matcher) }, {
  __index = function(_, key)
    local state, name = with_words({}, key)
    if not state or not state.assertion or state.assertion.is_of_spy then
      return core.unknown("match", assertions)(nil, name or key)
    end
    return function(...) return setmetatable({ state = state, arguments = pack(...) }, Matcher) end
  end,
})

-- What suites written for busted require.
setmetatable(core.busted, { __index = core.unknown("busted", core.busted) })
for name, value in pairs {
  busted = core.busted, ["busted.runner"] = function() end, luassert = assert,
  ["luassert.match"] = match, ["luassert.mock"] = mock, ["luassert.spy"] = spy,
  ["luassert.stub"] = stub,
} do
  package.preload[name] = function() return value end
end
