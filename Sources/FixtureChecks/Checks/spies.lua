-- Spies and stubs, as global functions. A spy is a table that can be called: it calls a function
-- and keeps the arguments and results. The end of the case or block that put a spy into a table
-- restores the field.
local core = ...

-- Scripts may replace these functions, so they are read first.
local error, format, getmetatable, ipairs = error, string.format, getmetatable, ipairs
local pairs, rawget, select, setmetatable = pairs, rawget, select, setmetatable
local concat, sort, type, unpack = table.concat, table.sort, type, table.unpack
local is_callable = core.is_callable

-- A list of arguments or results with its length `n`. As in busted, `vals` and `refs` are the list.
local function list_of(...)
  local list = { ... }
  return setmetatable(list, { __index = { n = select("#", ...), vals = list, refs = list } })
end

-- Whether a list of values equals a list of expected values, which may be matchers.
function core.fits(actual, expected)
  if actual.n ~= expected.n then return false end
  for i = 1, expected.n do
    local value, wanted = actual[i], expected[i]
    local meta = getmetatable(wanted)
    if type(meta) == "table" and meta.__matches then
      if not meta.__matches(wanted, value) then return false end
    elseif core.differences(value, wanted) then
      return false
    end
  end
  return true
end

function core.show_list(list)
  local shown = {}
  for i = 1, list.n do shown[i] = core.show(list[i]) end
  return "(" .. concat(shown, ", ") .. ")"
end

local Spy = {}
Spy.__index = Spy
Spy.__name = "spy"

local function keep(spy, ...)
  spy.returnvals[#spy.returnvals + 1] = list_of(...)
  return ...
end

function Spy.__call(spy, ...)
  spy.calls[#spy.calls + 1] = list_of(...)
  return keep(spy, spy.callback(...))
end

-- Forgets the calls.
function Spy:clear()
  self.calls, self.returnvals = {}, {}
  return self
end

-- Restores the field.
function Spy:revert()
  if self.restore then self.restore() end
  self.restore = nil
  return self
end

function core.is_spy(value) return getmetatable(value) == Spy end

local function new_spy(callback) return setmetatable({ callback = callback }, Spy):clear() end

-- Replaces a field until the end of the case or block.
local function put(spy, object, key)
  local own = object[key]
  if type(object) == "table" then own = rawget(object, key) end
  object[key] = spy
  spy.restore = function() object[key] = own end
  local undo = core.scope().undo
  if undo then undo[#undo + 1] = function() spy:revert() end end
  return spy
end

-- Returns the function in a field.
local function callable_at(object, key, name, allows_nil)
  local kind = type(object)
  if kind ~= "table" and kind ~= "userdata" then
    error(format("bad argument #1 to '%s' (table expected, got %s)", name, kind), 3)
  end
  local value = object[key]
  if is_callable(value) or value == nil and allows_nil then return value end
  local names = {}
  for other, known in pairs(object) do
    if type(other) == "string" and is_callable(known) then names[#names + 1] = other end
  end
  local near = core.nearest(core.text(key), concat(names, " "))
  error(format("bad argument #2 to '%s' (%s is %s, function expected%s)", name, core.show(key),
    value == nil and "nil" or "a " .. type(value),
    near and "; did you mean '" .. near .. "'?" or ""), 3)
end

-- Returns the function that raises an error for an unknown field of a table of functions.
function core.unknown(name, list)
  return function(_, key)
    local names = {}
    for known in pairs(list) do names[#names + 1] = known end
    sort(names)
    local near = core.nearest(core.text(key), concat(names, " "))
    error(format("%s has no %s (%s)", name, core.show(key),
      near and "did you mean '" .. near .. "'?" or "it has " .. concat(names, ", ")), 2)
  end
end

-- Makes a table of functions that can be called itself.
local function library(name, functions, call)
  return setmetatable(
    functions, { __call = call, __index = core.unknown(name, functions) })
end

local function spy_on(_, object, key)
  if key == nil and is_callable(object) then return new_spy(object) end
  return put(new_spy(callable_at(object, key, "spy")), object, key)
end

-- Replaces a function in a table by a spy that calls it.
spy = library("spy", {
  on = function(object, key) return spy_on(nil, object, key) end,
  new = function(callback)
    if callback ~= nil then core.need_function(callback, 1, "spy.new") end
    return new_spy(callback or function() end)
  end,
  is_spy = core.is_spy,
}, spy_on)

local function returning(...)
  local results = list_of(...)
  return function() return unpack(results, 1, results.n) end
end

local function stub_at(_, object, key, ...)
  local answer, answers = returning(...), {}
  local stub = new_spy(function(...)
    local arguments = list_of(...)
    for i = #answers, 1, -1 do
      if core.fits(arguments, answers[i].arguments) then return answers[i].answer(...) end
    end
    return answer(...)
  end)
  local function setters(set)
    return {
      returns = function(...)
        set(returning(...))
        return stub
      end,
      invokes = function(body)
        core.need_function(body, 1, "invokes")
        set(body)
        return stub
      end,
    }
  end
  stub.by_default = setters(function(body) answer = body end)
  stub.returns, stub.invokes = stub.by_default.returns, stub.by_default.invokes
  function stub.on_call_with(...)
    local arguments = list_of(...)
    return setters(function(body)
      answers[#answers + 1] = { arguments = arguments, answer = body }
    end)
  end
  if object == nil and key == nil then return stub end
  callable_at(object, key, "stub", true)
  return put(stub, object, key)
end

-- Replaces a function in a table by a spy that returns the given results.
stub = library("stub", {
  new = function(...) return stub_at(nil, ...) end,
}, stub_at)

-- Replaces all functions in a table by spies, or by stubs; returns the table.
function mock(object, is_stubbed)
  if type(object) ~= "table" then
    error(format("bad argument #1 to 'mock' (table expected, got %s)", type(object)), 2)
  end
  local keys = {}
  for key, value in pairs(object) do
    if is_callable(value) and not core.is_spy(value) then keys[#keys + 1] = key end
  end
  for _, key in ipairs(keys) do (is_stubbed and stub or spy)(object, key) end
  return object
end
