-- Measures how late the functions of the module are stopped, with large inputs and with long texts,
-- and how much memory they use beyond their limit:
--
--     obs-lua measure.lua OBS-LUA BOUND SHARE LONGEST PARTS NAME…
--
-- For each function it finds the largest input that the memory limit, the quotas and LONGEST
-- milliseconds allow, without a time limit. Then it runs the same call PARTS times with time limits
-- that are parts of the time measured first, so that the call is stopped in each phase of its work.
-- Each call has a separate process, and all times are CPU times. Prints the largest lateness in
-- milliseconds. The status is 1 if a lateness exceeds the bound, or if the process uses much more
-- memory than allowed. Then texts.lua calls the function with a long text in each position. If
-- LONGEST is 0, each function is only called once, with a small input.
--
-- BOUND applies to a machine on which the reference loop below takes REFERENCE milliseconds. The
-- part of the bound that is work grows with the time that the loop takes here and now. A debug
-- build slows some steps down far more than that loop, so SHARE of the time of the whole call is
-- added. A lateness beyond the bound is measured three times, and the median counts.
local obs = require "obs"

local program, bound, share = arg[1], tonumber(arg[2]), tonumber(arg[3])
local longest, parts = tonumber(arg[4]), tonumber(arg[5])

-- Megabytes of memory for scripts, and for the rest of the process; milliseconds for a turn with
-- long texts.
local MEMORY, PROCESS, TEXT_LIMIT = 64, 100, 50

-- Milliseconds that the reference loop takes in a release build, and milliseconds of a bound that
-- are not work: ticks of the system's clock.
local REFERENCE, TICKS = 7, 10

-- Nothing stops the rollback of a transaction: the writes per element of the input, and the
-- milliseconds per write.
local writes, WRITE = { ["obs.transaction"] = 4, ["obs.abort"] = 4 }, 0.002

local here = arg[0]:match "^(.*)/" or "."
local support = here .. "/../LuaObservablesTests/Scripts/Support"

-- Runs a script in a process until `take`, which gets each line after the first, returns a value.
-- Returns that value, and the peak memory of the process in megabytes; nil if the process ended
-- before, false if it was stopped before its first line.
local function run_script(script, name, input, turn_time, take)
  local line = string.format(
    "echo $$; exec '%s' --sandbox='%s' --max-memory=%dM --turn-time=%.1fms --error=continue "
      .. "'%s/%s' '%s' '%s' 2>/dev/null",
    program, support, MEMORY, turn_time, here, script, name, input)
  local process = assert(io.popen(line))
  local number = process:read "l"
  local is_ready = process:read "l" == "ready"
  local answer
  while is_ready and not answer do
    local text = process:read "l"
    if not text then break end
    answer = take(text)
  end
  local memory = 0
  if answer then
    for entry in io.lines("/proc/" .. number .. "/status") do
      memory = tonumber(entry:match "^VmHWM:%s*(%d+)") or memory
    end
    os.execute("kill " .. number .. " 2>/dev/null")
  end
  local _, how, code = process:close()
  if not is_ready and how == "exit" and code == 1 then return false end
  return answer, memory / 1024
end

-- Runs a call with a large input. Returns the milliseconds it took, whether it returned, and the
-- peak memory; nil or false as `run_script`.
local function run(name, size, turn_time)
  local answer, memory = run_script("late.lua", name, size, turn_time, function(line)
    return line
  end)
  if not answer then return answer end
  local taken, is_whole = answer:match "^(%S+) (%S+)"
  return tonumber(taken), is_whole == "whole", memory
end

-- Runs a call with a long text of `character` in each position. Returns a list of the cases, which
-- also has the milliseconds of each under its title, the peak memory, and the limit, which grows if
-- the script does not reach the first call; nil if the process ended without an answer.
local function run_texts(name, character, limit)
  local cases = {}
  local answer, memory = run_script("texts.lua", name, character, limit, function(line)
    if line == "done" then return cases end
    local taken, title = line:match "^%d+ (%S+) (.*)"
    cases[#cases + 1] = title
    cases[title] = tonumber(taken)
  end)
  if answer == false and limit < 1000 then return run_texts(name, character, limit * 2) end
  return answer or nil, memory, limit
end

-- Runs a call with a time limit, which grows if the script does not reach the call. Also returns
-- the limit.
local function run_limited(name, size, limit)
  local time, _, memory = run(name, size, limit)
  if time == false and limit < 20000 then return run_limited(name, size, limit * 2) end
  return time, memory, limit
end

local function median(values)
  table.sort(values)
  return values[#values // 2 + 1]
end

-- Milliseconds of a loop over the most frequent operations of the module's functions.
local function reference()
  local start = os.clock()
  local t = { list = {} }
  for i = 1, 2000 do t.list[i] = { x = i } end
  local watcher = obs.observe(t, "list.*.x", function() end)
  for i = 1, 2000 do t.list[i].x = 0 end
  obs.flush()
  watcher:stop()
  obs.flush()
  return (os.clock() - start) * 1000
end

-- The bound for this build on this machine at its present load, for an input size with which the
-- whole call takes `taken` milliseconds.
local function bound_now(name, size, taken)
  local times = {}
  for i = 1, 5 do times[i] = reference() end
  local undoing = (writes[name] or 0) * size * WRITE
  local work = (bound - TICKS + undoing) * math.max(1, median(times) / REFERENCE)
  return TICKS + work + share * taken
end

-- Characters of long texts: plain, zero, not UTF-8, separators and escapes of paths, quoted.
local characters = { "x", "\\0", "\\xff", ".", "\\\\", "\"" }

-- Calls a function with long texts; returns whether each call ended in time.
local function measure_texts(name)
  local is_right, count = true, 0
  for _, character in ipairs(characters) do
    local cases, memory, limit = run_texts(name, character, TEXT_LIMIT)
    if not cases then
      print(string.format("%-22s no answer with texts of '%s'", name, character))
      return false
    end
    count = count + #cases
    if memory > MEMORY + PROCESS then
      print(string.format("%-22s LATE %3.0f MB with texts of '%s'", name, memory, character))
      is_right = false
    end
    local bound, again = bound_now(name, 0, 0), nil
    for _, title in ipairs(cases) do
      if cases[title] - limit > bound then
        again = again or {
          cases, run_texts(name, character, limit) or {}, run_texts(name, character, limit) or {},
        }
        local times = {}
        for _, other in ipairs(again) do times[#times + 1] = other[title] end
        local time = median(times)
        if time - limit > bound then
          print(string.format("%-22s LATE %6.1f ms of %.1f with a text of '%s': argument %s", name,
            time, limit, character, title))
          is_right = false
        end
      end
    end
  end
  print(string.format("%-22s %s %d calls with long texts", name, is_right and "ok  " or "LATE",
    count))
  return is_right
end

if #arg == 5 then print(string.format("the bound is %.1f ms", bound_now(nil, 0, 0))) end

local status = 0
for i = 6, #arg do
  local name = arg[i]
  local size, taken = 0, 0
  local next_size, factor = 64, 4
  while next_size < 1 << 21 do
    local time, is_whole = run(name, next_size, 20000)
    if not time then
      print(name .. ": no answer; is there a case in late.lua or calls.lua?")
      status = 1
      break
    end
    if not is_whole then
      -- The limits are reached between the two sizes.
      if factor == 2 or size == 0 then break end
      factor, next_size = 2, size
    else
      size, taken = next_size, time
      if time > longest / 4 then break end
    end
    next_size = next_size * factor
  end
  local latest, most, at = 0, 0, 0
  for part = 1, size > 0 and taken > 15 and parts or 0 do
    local time, memory, limit = run_limited(name, size, taken * part / (parts + 1))
    if not time then
      print(name .. ": no answer with a limit of " .. limit)
      status = 1
    else
      most = math.max(most, memory)
      if time - limit > bound_now(name, size, taken) then
        local times = { time }
        for _ = 1, 2 do times[#times + 1] = run_limited(name, size, limit) or time end
        time = median(times)
      end
      if time - limit > latest then latest, at = time - limit, limit end
    end
  end
  local is_late = most > MEMORY + PROCESS or latest > 0 and latest > bound_now(name, size, taken)
  if is_late then status = 1 end
  print(string.format("%-22s %s %6.1f ms late of %6.1f at %6.1f, %3.0f MB, %d elements", name,
    is_late and "LATE" or "ok  ", latest, taken, at, most, size))
  if longest > 0 and not measure_texts(name) then status = 1 end
end
os.exit(status == 0)
