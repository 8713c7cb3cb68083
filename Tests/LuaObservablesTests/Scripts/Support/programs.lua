-- Common functions of random programs that run against a reference, whatever their statements.
--
-- `random.difference(kind, program)` runs a program and returns the difference from the expected
-- result.
local obs = require "obs"
local programs = {}

-- Removes statements while the program still fails; `copy` copies a shortened program.
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

-- Runs one printed program.
function programs.run(random, kind, program)
  local message = random.difference(kind, program)
  if message then error(message, 0) end
end

-- The first and last seed: `OBS_COUNT` or `count` seeds, beginning with `OBS_SEED`.
function programs.seeds(count)
  local first = math.tointeger(tonumber(os.getenv "OBS_SEED" or nil)) or 1
  if os.getenv "OBS_LIGHT" then count = math.max(count // 10, 1) end
  count = math.tointeger(tonumber(os.getenv "OBS_COUNT" or nil)) or count
  assert(count > 0, "no programs")
  return first, first + count - 1
end

-- The same, or the first seed and the count from the command line.
function programs.named_seeds(count)
  if not (arg and arg[1]) then return programs.seeds(count) end
  local first = math.tointeger(tonumber(arg[1])) or error("no seed: " .. arg[1], 0)
  local named = math.tointeger(tonumber(arg[2] or 1)) or error("no count: " .. arg[2], 0)
  return first, first + named - 1
end

local function resume_in_turn(driver, ...)
  local results = table.pack(...)
  obs.next_turn(function()
    local ok, message = coroutine.resume(driver, table.unpack(results, 1, results.n))
    if not ok then error(message, 0) end
  end)
end

-- Runs a function that may `await` results that take several turns.
function programs.in_turns(body) resume_in_turn(coroutine.create(body)) end

-- Calls `start` with a function for its result, and waits for the result.
function programs.await(start)
  local driver = coroutine.running()
  start(function(result) resume_in_turn(driver, result) end)
  return coroutine.yield()
end

return programs
