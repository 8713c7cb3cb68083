-- Shortens a failing program as far as possible, statement by statement, option by option.

-- The parts of a statement that can be shortened; the others are needed whole.
local PARTS = {"body", "options", "filters", "keys", "elements", "fields"}

-- All lists in a program, each with its minimum length.
local function lists_of(program, all)
  all[#all + 1] = {program, 0}
  for _, n in ipairs(program) do
    if type(n) == "table" then
      for _, part in ipairs(PARTS) do if n[part] then lists_of(n[part], all) end end
      if n.paths then all[#all + 1] = {n.paths, 1} end
    end
  end
  return all
end

local function copy(value)
  if type(value) ~= "table" then return value end
  local result = {}
  for key, element in next, value do result[key] = copy(element) end
  return result
end

-- Removes everything removable from the list with a number.
local function shorten(program, number, fails)
  local entry = lists_of(program, {})[number]
  local length = #entry[1]
  while length > 0 do
    local start = 1
    while start <= #lists_of(program, {})[number][1] do
      local shorter = copy(program)
      local list, least = table.unpack(lists_of(shorter, {})[number])
      for _ = 1, math.min(length, #list - start + 1) do table.remove(list, start) end
      if #list >= least and fails(shorter) then program = shorter else start = start + length end
    end
    length = length // 2
  end
  return program
end

local function size(program)
  local n = 0
  for _, entry in ipairs(lists_of(program, {})) do n = n + #entry[1] end
  return n
end

-- `fails(program)` returns whether it still fails.
return function(program, fails)
  local before
  repeat
    before = size(program)
    local number = 1
    while lists_of(program, {})[number] do
      program = shorten(program, number, fails)
      number = number + 1
    end
  until size(program) == before
  return program
end
