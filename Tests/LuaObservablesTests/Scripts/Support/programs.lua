-- What random programs beside a reference have in common, of whatever statements they are.
--
-- `random.difference(kind, program)` runs a program, and returns what was other than it should be.
local programs = {}

-- Leaves statements out while the program still fails; `copy` makes the table of a shorter one.
function programs.shrink(random, kind, program, message, copy)
  local length = #program // 2
  while length > 0 do
    local start = 1
    while start <= #program do
      local shorter = table.move(program, 1, start - 1, 1, copy(program))
      table.move(program, start + length, #program, start, shorter)
      local found = random.difference(kind, shorter)
      if found then program, message = shorter, found else start = start + length end
    end
    length = length // 2
  end
  return program, message
end

-- Runs one program that was printed.
function programs.run(random, kind, program)
  local message = random.difference(kind, program)
  if message then error(message, 0) end
end

-- The first seed and the last: `OBS_COUNT`, or `count`, from `OBS_SEED` on.
function programs.seeds(count)
  local first = math.tointeger(tonumber(os.getenv "OBS_SEED" or nil)) or 1
  if os.getenv "OBS_LIGHT" then count = math.max(count // 10, 1) end
  count = math.tointeger(tonumber(os.getenv "OBS_COUNT" or nil)) or count
  assert(count > 0, "no programs")
  return first, first + count - 1
end

return programs
