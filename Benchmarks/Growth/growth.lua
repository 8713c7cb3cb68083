-- Measures rows of rows.lua, those whose first function is named:
--
--   obs-lua growth.lua small large surroundings name…
--   obs-lua growth.lua first name…       prints the first functions of the rows of these functions
--
-- Each row is measured with a size of `small` and of `large`. If `surroundings` is 1, each function
-- is also measured beside every surrounding. callgrind writes the counts, under the name
-- "functions<TAB>size<TAB>order<TAB>n<TAB>operations".
local obs = require "obs"
local measure = require "counter"
local module = require "rows"

if arg[1] == "first" then
  local asked, printed = {}, {}
  for i = 2, #arg do asked[arg[i]] = true end
  for _, row in ipairs(module.rows) do
    local first = row.functions[1]
    for _, name in ipairs(row.functions) do
      if asked[name] and not printed[first] then
        printed[first] = true
        print(first)
      end
    end
  end
  os.exit(true, false)
end

local OPERATIONS = 4
local sizes = { tonumber(arg[1]), tonumber(arg[2]) }
local wanted = {}
for i = 4, #arg do wanted[arg[i]] = true end

-- Finishes the work that dead objects and ended watchers have left.
local function settle()
  for _ = 1, 3 do
    collectgarbage()
    obs.flush()
  end
end

-- Measures an operation, after two calls that may compile code or grow tables.
local function count(row, size, order, n, make)
  local operate
  local scope = obs.scope(function() operate = make() end)
  for i = 1, 2 do operate(i) end
  settle()
  collectgarbage "stop"
  local names = table.concat(row.functions, " ")
  measure(("%s\t%s\t%s\t%d\t%d"):format(names, size, order, n, OPERATIONS), function()
    for i = 3, OPERATIONS + 2 do operate(i) end
  end)
  collectgarbage "restart"
  scope:stop()
  operate = nil
  module.forget()
  settle()
end

local first = {}
for _, row in ipairs(module.rows) do
  if wanted[row.functions[1]] then
    for _, n in ipairs(sizes) do
      count(row, row.size, row.order, n, function() return row.make(n) end)
    end
    local is_first = false
    for _, name in ipairs(row.functions) do
      is_first, first[name] = is_first or not first[name], true
    end
    if arg[3] == "1" and is_first then
      for _, outside in ipairs(module.surroundings) do
        for _, n in ipairs(sizes) do
          count(row, "beside " .. outside.size, row.order_beside, n, function()
            outside.make(n)
            return row.make(3)
          end)
        end
      end
    end
  end
end
os.exit(true, false)
