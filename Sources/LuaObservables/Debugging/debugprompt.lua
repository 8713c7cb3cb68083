-- The prompt of `break_on_change`: its lines see the variables of the writing function.
local _, to_text = ...

local error, load, pcall, select, setmetatable, sort =
  error, load, pcall, select, setmetatable, table.sort
local concat, unpack = table.concat, table.unpack
local find, gsub, match = string.find, string.gsub, string.match
local running = coroutine.running

-- The writing function is found again by its distance from the outermost function, which does not
-- change while code of the prompt runs.
local function begin(debug, globals)
  local getinfo, getlocal, setlocal = debug.getinfo, debug.getlocal, debug.setlocal
  local getupvalue, setupvalue = debug.getupvalue, debug.setupvalue
  local thread = running()
  local writer, distance

  -- The number of active functions, without this one.
  local function height()
    -- Levels 0 and 1 of the calling coroutine are `getinfo` and this function.
    local first = running() == thread and 2 or 0
    local level = first
    while getinfo(thread, level, "l") do level = level + 1 end
    return level - first
  end

  local function find_writer()
    local level, info = 1, nil
    repeat
      level = level + 1
      info = getinfo(thread, level, "Sf")
      if not info then return end
    until info.what ~= "C" and info.source ~= "=obs" and info.source ~= "=obs.prompt"
    writer, distance = info.func, height() - level
  end
  -- A script may have removed functions from the library.
  if getinfo and getlocal and setlocal and getupvalue and setupvalue then find_writer() end

  -- The level of the writing function, for use in the function that calls this one; the call must
  -- not be a tail call.
  local function level_of_writer()
    local level = height() - distance - 1
    return level
  end

  -- The number of a variable; an inner variable hides outer ones with the same name.
  local function local_number(name)
    local level, found, i = level_of_writer(), nil, 0
    local candidate
    repeat
      i = i + 1
      candidate = getlocal(thread, level, i)
      if candidate == name then found = i end
    until not candidate
    return found
  end

  local function upvalue_number(name)
    local i = 1
    while true do
      local candidate = getupvalue(writer, i)
      if not candidate then return nil end
      if candidate == name then return i end
      i = i + 1
    end
  end

  local environment = globals
  if writer then
    local number = upvalue_number "_ENV"
    local own = number and select(2, getupvalue(writer, number))
    if own ~= nil then environment = own end
  end

  local function read(_, name)
    if writer then
      local number = local_number(name)
      if number then return (select(2, getlocal(thread, level_of_writer(), number))) end
      number = upvalue_number(name)
      if number then return (select(2, getupvalue(writer, number))) end
    end
    return environment[name]
  end

  local function assign(_, name, value)
    if writer then
      local number = local_number(name)
      if number then
        setlocal(thread, level_of_writer(), number, value)
        return
      end
      number = upvalue_number(name)
      if number then
        setupvalue(writer, number, value)
        return
      end
    end
    environment[name] = value
  end

  local function names()
    local list, seen = {}, {}
    local function add(name)
      if name and not seen[name] and find(name, "^[%a_]") and name ~= "_ENV" then
        seen[name] = true
        list[#list + 1] = name
      end
    end
    if writer then
      local level = level_of_writer()
      local i = 1
      while getlocal(thread, level, i) do
        add((getlocal(thread, level, i)))
        i = i + 1
      end
      i = 1
      while getupvalue(writer, i) do
        add((getupvalue(writer, i)))
        i = i + 1
      end
    end
    sort(list)
    return list
  end

  -- A variable whose reading raises an error counts as absent.
  local function is_variable(name)
    local ok, value = pcall(read, nil, name)
    return ok and value ~= nil
  end

  return setmetatable({}, { __index = read, __newindex = assign }), names, is_variable
end

local HELP = [[
Lua statements are run, and expressions are printed, where the value was written.
cont or Ctrl-D goes on, Ctrl-C ends the script.]]

local function help(names)
  if #names == 0 then return HELP end
  return HELP .. "\nVariables here: " .. concat(names, ", ") .. "."
end

local MOST_VALUES = 100

local function texts(columns, is_coloured, ...)
  local count = select("#", ...)
  if count == 0 then return nil end
  if count <= MOST_VALUES then return to_text(columns, is_coloured, false, 0, ...) end
  local more = count - MOST_VALUES
  return to_text(columns, is_coloured, false, more, unpack({ ... }, 1, MOST_VALUES))
end

-- (library `debug`, globals, columns, whether colours are used) -> a function that runs a line and
-- returns the text to show
return function(debug, globals, columns, is_coloured)
  local environment, names, is_variable = begin(debug, globals)
  return function(line)
    if match(line, "^%s*help%s*$") and not is_variable "help" then return help(names()) end
    -- Lua's prompt accepts this, too.
    line = gsub(line, "^=", "return ", 1)
    local body = load("return " .. line, "=(debug command)", "t", environment)
    local message
    if not body then body, message = load(line, "=(debug command)", "t", environment) end
    if not body then error(message, 0) end
    return texts(columns, is_coloured, body())
  end
end
