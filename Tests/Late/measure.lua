-- How late the functions of the module are stopped, and how much memory they take beyond their
-- limit:
--
--     obs-lua measure.lua OBS-LUA BOUND LONGEST PARTS NAME…
--
-- For each function it looks for the largest input that the limit of memory, the quotas and LONGEST
-- milliseconds allow, without a limit of time. Then the same call runs PARTS times with a limit of
-- time that is a part of what it has taken, so that it is stopped in each phase of its work. Each
-- call has a separate process, and all times are of its CPU. Prints the largest lateness in
-- milliseconds; the status is 1 where one is beyond the bound, or the process takes much more
-- memory than it may.
local program, bound, longest, parts = arg[1], tonumber(arg[2]), tonumber(arg[3]), tonumber(arg[4])

-- Megabytes of memory for scripts, and for the process besides.
local MEMORY, PROCESS = 64, 100

local here = arg[0]:match "^(.*)/" or "."
local support = here .. "/../LuaObservablesTests/Scripts/Support"

-- Runs a call in a process; the milliseconds it took, whether it returned, and the megabytes that
-- the process had at most. nil where it ended without an answer, false where it was stopped before
-- the call.
local function run(name, size, turn_time)
  local line = string.format(
    "echo $$; exec '%s' --sandbox='%s' --max-memory=%dM --turn-time=%.1fms --error=continue "
      .. "'%s/late.lua' '%s' %d 2>/dev/null",
    program, support, MEMORY, turn_time, here, name, size)
  local process = assert(io.popen(line))
  local number = process:read "l"
  local is_ready = process:read "l" == "ready"
  local answer = is_ready and process:read "l"
  local memory = 0
  if answer then
    for entry in io.lines("/proc/" .. number .. "/status") do
      memory = tonumber(entry:match "^VmHWM:%s*(%d+)") or memory
    end
    os.execute("kill " .. number .. " 2>/dev/null")
  end
  local _, how, code = process:close()
  if not is_ready and how == "exit" and code == 1 then return false end
  if not answer then return nil end
  local taken, is_whole = answer:match "^(%S+) (%S+)"
  return tonumber(taken), is_whole == "whole", memory / 1024
end

-- Runs a call with a limit of time, which is made longer where the script does not come to the
-- call; also returns the limit.
local function run_limited(name, size, limit)
  local time, _, memory = run(name, size, limit)
  if time == false and limit < 20000 then return run_limited(name, size, limit * 2) end
  return time, memory, limit
end

local status = 0
for i = 5, #arg do
  local name = arg[i]
  local size, taken = 0, 0
  local next_size = 64
  while next_size < 1 << 21 do
    local time, is_whole = run(name, next_size, 20000)
    if not time then
      print(name .. ": no answer; is there a case in late.lua or calls.lua?")
      status = 1
      break
    end
    if not is_whole then break end
    size, taken = next_size, time
    if time > longest / 4 then break end
    next_size = next_size * 4
  end
  local latest, most, at = 0, 0, 0
  for part = 1, size > 0 and taken > 15 and parts or 0 do
    local time, memory, limit = run_limited(name, size, taken * part / (parts + 1))
    if not time then
      print(name .. ": no answer with a limit of " .. limit)
      status = 1
    else
      most = math.max(most, memory)
      if time - limit > latest then latest, at = time - limit, limit end
    end
  end
  local is_late = latest > bound or most > MEMORY + PROCESS
  if is_late then status = 1 end
  print(string.format("%-22s %s %6.1f ms late of %6.1f at %6.1f, %3.0f MB, %d elements", name,
    is_late and "LATE" or "ok  ", latest, taken, at, most, size))
end
os.exit(status == 0)
