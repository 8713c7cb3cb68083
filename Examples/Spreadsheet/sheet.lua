-- A spreadsheet: obs-lua sheet.lua
package.path = (arg[0]:match ".*/" or "./") .. "?.lua;" .. package.path
local obs = require "obs"
local formula = require "formula"

local usage = [[
  A1 = 4           a number, or any text      A1           the text of a cell
  B1 = =A1 * 2     a formula                  show         the sheet
  B1 =             empties the cell           undo, redo   one line back or forth
  functions: sum, count, mean, min, max, round, as in sum(A1:A9)    quit: the end]]

local columns, rows = { "A", "B", "C", "D", "E", "F" }, 9
local names = {}
for row = 1, rows do
  for _, column in ipairs(columns) do table.insert(names, column .. row) end
end

-- The texts that the user has entered. Everything else follows from them.
local sheet = { texts = {} }
local history = obs.history(sheet.texts)

----------------------------------------------------------------------------------------------------
-- The cells
----------------------------------------------------------------------------------------------------

-- The value of a cell whose formula fails, and of all cells that use it.
local Failure = { __tostring = function(self) return "#" .. self.cell end }
local function is_failure(value) return getmetatable(value) == Failure end

local cells = {}

local is_name = {}
for _, name in ipairs(names) do is_name[name] = true end
function cells.exists(name) return is_name[name] end

function cells.number(name)
  local value = sheet[name]
  if is_failure(value) then error(value, 0) end
  if type(value) == "string" then error(name .. " is a text: " .. value, 0) end
  if value == nil then return 0 end
  return value
end

-- Texts, conditions and empty cells are left out.
function cells.numbers(from, to)
  local list = {}
  for _, name in ipairs(names) do
    local column, row = name:byte(1, 2)
    if column >= from:byte() and column <= to:byte() and row >= from:byte(2) and row <= to:byte(2)
      and (math.type(sheet[name]) or is_failure(sheet[name])) then
      table.insert(list, cells.number(name))
    end
  end
  return list
end

local function value_of(self, name)
  local text = self.texts[name]
  local expression = text and text:match "^=(.*)"
  if not expression then
    local number = tonumber(text)
    return number and number + 0.0 or text  -- Integers would overflow.
  end
  local is_valid, value = pcall(formula.evaluate, expression, cells)
  if is_valid or is_failure(value) then return value end
  local reason = tostring(value):gsub("^[^ ]*:%d+: ", "")
  return setmetatable({ cell = name, reason = reason }, Failure)
end

-- sheet.B1 is the value of the cell B1. It is computed when it is read, and again after a change of
-- something that its formula has read.
for _, name in ipairs(names) do
  obs.computed(sheet, name, function(self) return value_of(self, name) end)
end

----------------------------------------------------------------------------------------------------
-- The display
----------------------------------------------------------------------------------------------------

local function shown(value)
  if value == nil then return "" end
  return math.type(value) and ("%.10g"):format(value) or tostring(value)
end

-- Prints each cell that has another value at the end of the turn. The cell that caused a failure
-- also shows the reason.
obs.observe_keys(sheet, names, function(name, _, value)
  local is_cause = is_failure(value) and value.cell == name
  print(("  %s: %s%s"):format(name, shown(value), is_cause and "  " .. value.reason or ""))
end, {
  equals = function(old, new)
    return shown(old) == shown(new) and (not is_failure(old) or old.reason == new.reason)
  end,
})

-- Shows the rows up to the last one that is used.
local function show()
  local lines, last = { " " .. (" %9s"):rep(#columns):format(table.unpack(columns)) }, 2
  for row = 1, rows do
    local line = tostring(row)
    for _, column in ipairs(columns) do
      local text = shown(sheet[column .. row])
      if text ~= "" then last = row + 1 end
      line = line .. (" %9s"):format(text:sub(1, 9))
    end
    table.insert(lines, (line:gsub(" +$", "")))
  end
  print("  " .. table.concat(lines, "\n  ", 1, last))
end

----------------------------------------------------------------------------------------------------
-- The commands
----------------------------------------------------------------------------------------------------

local function perform(line)
  local name, equal, text = line:match "^(%a%d+)%s*(=?)%s*(.-)$"
  if name and not is_name[name:upper()] then
    print(("  there is no cell %s; the cells are A1 to %s"):format(name, names[#names]))
  elseif name and equal == "=" then
    sheet.texts[name:upper()] = text ~= "" and text or nil
  elseif name then
    print("  " .. (sheet.texts[name:upper()] or "(empty)"))
  elseif line == "undo" or line == "redo" then
    if not history[line](history) then print("  nothing to " .. line) end
  elseif line == "show" then
    show()
  elseif line ~= "" then
    print(usage)
  end
end

local is_terminal = os.execute "test -t 0"
local function prompt()
  if is_terminal then io.write("> ") io.flush() end
end

local input
input = obs.on_readable(io.stdin, function(file)
  local line = file:read()
  line = line and line:match "^%s*(.-)%s*$"
  if not line or line == "quit" then return input:stop() end
  if not is_terminal then print("> " .. line) end
  perform(line)
  obs.next_turn(prompt)  -- After the display of this turn.
end)
prompt()
