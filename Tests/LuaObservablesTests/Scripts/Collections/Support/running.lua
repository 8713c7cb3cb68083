-- Runs lists of cases with one adapter: `running.run(adapter, "slots", "wholes", …)`.
--
-- A case is {rule, sentence, body}; `body` receives the adapter and a table of helpers, or is a
-- story (Support/stories.lua) with these as `A` and `t`. A case with `only = field` runs only if
-- the adapter has that field.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)"
dofile(folder .. "../../Support/stories.lua")
local obs = require "obs"

local running = {adapters = dofile(folder .. "adapters.lua")}

local function helpers(adapter)
  local self = {eq = eq, fails = fails, reporting = reporting}
  self.reports = reports

  -- Returns the watcher, and before it a function that ends the turn and returns the number of
  -- calls since its last use.
  function self.watch(root, path, options)
    local calls = 0
    local watcher = adapter.observe(root, path, function() calls = calls + 1 end, options)
    return function()
      obs.flush()
      local count = calls
      calls = 0
      return count
    end, watcher
  end

  -- In a story, makes the calls for the slots of a list entries of the log, by number.
  function self.slots(list)
    for i = 1, 5 do adapter.observe(list, "#" .. i, function() note(i) end) end
  end

  -- Makes objects named a, b, c, … from the text "a b c".
  function self.objects(text)
    local made = {}
    for name in text:gmatch "%S+" do 
      local number = #made + 1
      made[number] = adapter.new {name = name, price = number}
    end
    return made
  end

  -- Returns a list of such objects, and the objects by number.
  function self.list(text)
    local made = self.objects(text)
    return adapter.list(made), made
  end

  -- The names of the elements of a list, or the elements themselves if they have no names.
  function self.names(list)
    local names = {}
    for i = 1, adapter.size(list) do
      local element = adapter.get(list, i)
      names[i] = math.type(element) and tostring(element) or element.name
    end
    return table.concat(names, " ")
  end

  -- Checks the value of a path, if the kind of collection can be read through paths.
  function self.is(root, path, expected)
    if not adapter.read then return end
    local value = adapter.read(root, path)
    if value ~= expected or math.type(value) ~= math.type(expected) then
      error(("%s is %s, not %s"):format(path, value, expected), 2)
    end
  end

  -- The same for a list.
  function self.lists(root, path, expected)
    if not adapter.read then return end
    local value = adapter.read(root, path)
    local texts = {}
    for i, element in ipairs(value) do texts[i] = tostring(element) end
    if table.concat(texts, " ") ~= expected then
      error(("%s is %s, not %s"):format(path, table.concat(texts, " "), expected), 2)
    end
  end

  function self.by_name(a, b) return a.name < b.name end
  return self
end

function running.run(adapter, ...)
  for _, file in ipairs {...} do
    for _, case in ipairs(dofile(folder .. "../Cases/" .. file .. ".lua")) do
      if not case.only or adapter[case.only] then
        check(("%s: %s %s"):format(case[1], adapter.kind, case[2]), function()
          local body, t = case[3], helpers(adapter)
          if type(body) == "function" then return body(adapter, t) end
          local names = { A = adapter, t = t, observe = adapter.observe }
          tell(body, ("=%s.lua, %s"):format(file, case[2]), names)
        end)
      end
    end
  end
end

return running
