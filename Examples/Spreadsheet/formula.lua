-- Formulas: `A1 * 2 + sum(B1:B4)` is a Lua expression of numbers, cells and a few functions.
local formula = {}

-- Returns all arguments in one list. An argument is a number, or the list of a range of cells.
local function flatten(...)
  local list = {}
  for _, value in ipairs { ... } do
    if type(value) == "table" then
      table.move(value, 1, #value, #list + 1, list)
    else
      list[#list + 1] = value
    end
  end
  return list
end

local function sum(...)
  local total = 0
  for _, number in ipairs(flatten(...)) do total = total + number end
  return total
end

local functions = {
  sum = sum,
  count = function(...) return #flatten(...) end,
  mean = function(...) return sum(...) / #flatten(...) end,
  min = function(...) return math.min(table.unpack(flatten(...))) end,
  max = function(...) return math.max(table.unpack(flatten(...))) end,
  round = function(number) return (number + 0.5) // 1 end,
}
local words = { ["and"] = true, ["or"] = true, ["not"] = true, ["true"] = true, ["false"] = true }

-- Accepts only numbers, operators, functions and cells, so that a formula can neither loop nor make
-- strings, and reaches nothing else.
local function check(text, cells)
  local symbol = text:gsub("%a%d:%a%d", ""):gsub("%.%d", ""):match "[^%w +*/%%^(),<>=~-]"
  if symbol then error("'" .. symbol .. "' has no meaning in a formula", 0) end
  for word in text:gmatch "%f[%w]%a%w*" do
    if not (words[word] or functions[word] or cells.exists(word:upper())) then
      error("there is no cell or function '" .. word .. "'", 0)
    end
  end
end

-- Returns the value of a formula, or raises an error. `cells` has three functions: `exists(name)`,
-- `number(name)` for the number in a cell, and `numbers(from, to)` for the numbers in a range.
function formula.evaluate(text, cells)
  check(text, cells)
  local environment = setmetatable({ range = cells.numbers }, {
    __index = function(_, name) return functions[name] or cells.number(name:upper()) end,
  })
  local code = text:gsub("(%a%d):(%a%d)", function(from, to)
    return ("range('%s', '%s')"):format(from:upper(), to:upper())
  end)
  local expression, message = load("return " .. code, "=formula", "t", environment)
  if not expression then error(message, 0) end
  local value = expression()
  if type(value) == "boolean" then return value end
  if not math.type(value) or value - value ~= 0 then error("the result is no number", 0) end
  return value
end

return formula
