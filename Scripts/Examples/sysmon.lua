-- A system monitor: a timer reads /proc into a model of nested tables. All output comes from
-- watchers on key paths of that model; the code that reads does not know them.

local obs = require "obs"

local usage = [[
usage: sysmon.lua [options]
  --rounds N          stop after N rounds (default: run until Ctrl-C)
  --interval SECONDS  time between two rounds (default: 2)
  --proc DIR          read DIR instead of /proc
  --plain             print one summary after the other (default when the output is no terminal)
  --live              redraw the screen (default on a terminal)
  --help              print this text
]]

----------------------------------------------------------------------------------------------------
-- Options
----------------------------------------------------------------------------------------------------

local options = { interval = 2, proc = "/proc" }

local function refuse(message)
  io.stderr:write("sysmon: ", message, "\n", usage)
  os.exit(2)
end

local function number_after(name, text)
  local number = tonumber(text)
  if not number or not (number > 0 and number < math.huge) then
    refuse(name .. (text and " needs a number above 0, not '" .. text .. "'" or " needs a number"))
  end
  return number
end

do
  local position = 1
  local function value()
    position = position + 1
    return arg[position]
  end
  while arg[position] do
    local name = arg[position]
    if name == "--rounds" then
      local text = value()
      options.rounds = math.tointeger(number_after(name, text))
        or refuse("--rounds needs a whole number, not '" .. text .. "'")
    elseif name == "--interval" then options.interval = number_after(name, value())
    elseif name == "--proc" then options.proc = value() or refuse("--proc needs a folder")
    elseif name == "--plain" then options.live = false
    elseif name == "--live" then options.live = true
    elseif name == "--help" then
      io.write(usage)
      os.exit(0)
    else refuse("unknown option '" .. name .. "'") end
    position = position + 1
  end
  -- The shell inherits the standard output, so it can test for a terminal, which Lua alone cannot.
  if options.live == nil then options.live = os.execute("test -t 1") == true end
end

----------------------------------------------------------------------------------------------------
-- The model
----------------------------------------------------------------------------------------------------

local system = {
  round = 0,
  cpu = { cores = 0 },  -- total: percent busy, from the second round on
  memory = {},          -- total, available, swap_total, swap_free in bytes
  load = nil,           -- { one, five, fifteen }, a new table each time it changes
  processes = {},       -- by pid: { pid, name, started, cpu, rss }
  disks = {},           -- by name: { read, written } in bytes per second
  network = {},         -- by name: { received, sent } in bytes per second
  missing = {},         -- by file name: whether it cannot be read here
  alerts = {},          -- a list of { number, text, raised }, the latest last
}

----------------------------------------------------------------------------------------------------
-- Reading: /proc → the model
----------------------------------------------------------------------------------------------------

local function read(name)
  local file = io.open(options.proc .. "/" .. name)
  local text = file and file:read("a")
  if file then file:close() end
  return text
end

-- Like `read`, but notes a missing file in the model (containers hide some).
local function read_or_miss(name)
  local text = read(name)
  system.missing[name] = not text or nil
  return text or ""
end

local function numbers_in(text)
  local numbers = {}
  for number in text:gmatch("%d+") do numbers[#numbers + 1] = math.tointeger(number) end
  return numbers
end

-- Removes the entries of a group that were not found this time.
local function retain(group, found)
  for key in pairs(group) do
    if not found[key] then group[key] = nil end
  end
end

local last_busy, last_ticks

-- Returns the number of ticks per core since the last round; nil in the first round.
local function read_cpu()
  local text = read_or_miss("stat")
  local line = text:match("^cpu +([^\n]*)")
  if not line then
    system.cpu.total, last_busy, last_ticks = nil, nil, nil
    return nil
  end
  local _, cores = text:gsub("\ncpu%d", "")
  system.cpu.cores = math.max(cores, 1)
  local fields, ticks = numbers_in(line), 0
  -- The two fields after the eighth are guests' time, which the first two already contain.
  for index = 1, 8 do ticks = ticks + (fields[index] or 0) end
  local busy = ticks - (fields[4] or 0) - (fields[5] or 0)
  local elapsed = last_ticks and ticks - last_ticks
  if elapsed and elapsed > 0 then
    system.cpu.total = math.min(100, math.max(0, 100 * (busy - last_busy) / elapsed))
  end
  last_busy, last_ticks = busy, ticks
  return elapsed and elapsed > 0 and elapsed / system.cpu.cores or nil
end

local function read_memory()
  local text = read_or_miss("meminfo")
  local function bytes(name)
    local kilobytes = text:match(name .. ": *(%d+) kB")
    return kilobytes and math.tointeger(kilobytes) * 1024
  end
  local memory = system.memory
  memory.total = bytes("MemTotal")
  memory.available = bytes("MemAvailable") or bytes("MemFree")
  memory.swap_total, memory.swap_free = bytes("SwapTotal"), bytes("SwapFree")
end

local function read_load()
  local one, five, fifteen = read_or_miss("loadavg"):match("^(%S+) (%S+) (%S+)")
  one, five, fifteen = tonumber(one), tonumber(five), tonumber(fifteen)
  local load = system.load
  if not (load and load.one == one and load.five == five and load.fifteen == fifteen) then
    system.load = one and { one = one, five = five, fifteen = fifteen }
  end
end

local function output_of(command)
  local pipe = io.popen(command)
  local text = pipe and pipe:read("a")
  if pipe then pipe:close() end
  return text or ""
end

local page_size = tonumber(output_of("getconf PAGESIZE 2>/dev/null")) or 4096
local list_processes = "ls '" .. options.proc:gsub("'", [['\'']]) .. "' 2>/dev/null"
local last_process_ticks = setmetatable({}, { __mode = "k" })

local function read_process(pid, core_ticks)
  local text = read(pid .. "/stat")
  -- A name may contain spaces and parentheses, so it ends at the last parenthesis.
  local name, rest = (text or ""):match("^%d+ %((.*)%) %S (.*)$")
  if not name then return false end  -- the process has ended since it was listed
  local fields = {}
  for field in rest:gmatch("%S+") do fields[#fields + 1] = tonumber(field) or 0 end
  local ticks, started = (fields[11] or 0) + (fields[12] or 0), fields[19] or 0
  local rss = (fields[21] or 0) * page_size
  local process = system.processes[pid]
  if process and process.started == started then
    process.name, process.rss = name, rss
    if core_ticks then
      local spent = ticks - last_process_ticks[process]
      process.cpu = math.max(0, 100 * spent / core_ticks)
    end
  else  -- a new process, or another one with a reused pid
    process = { pid = pid, name = name, started = started, rss = rss, cpu = 0 }
    system.processes[pid] = process
  end
  last_process_ticks[process] = ticks
  return true
end

local function read_processes(core_ticks)
  local found = {}
  for word in output_of(list_processes):gmatch("%S+") do
    local pid = word:match("^%d+$") and math.tointeger(word)
    if pid and read_process(pid, core_ticks) then found[pid] = true end
  end
  retain(system.processes, found)
end

local last_counts = setmetatable({}, { __mode = "k" })

-- Turns counters that only grow into rates of the device `name` in `group`.
local function count(group, name, seconds, counts)
  local device = group[name]
  if not device then
    device = {}
    for key in pairs(counts) do device[key] = 0 end
    group[name] = device
  elseif seconds > 0 then
    for key, value in pairs(counts) do
      device[key] = math.max(0, value - last_counts[device][key]) / seconds
    end
  end
  last_counts[device] = counts
end

local function is_partition(name)
  return name:find("^[shvx]v?d%l+%d+$") or name:find("^%l+%d+n%d+p%d+$")
    or name:find("^mmcblk%d+p%d+$") or name:find("^loop") or name:find("^ram")
end

local function read_disks(seconds)
  local found = {}
  for name, rest in read_or_miss("diskstats"):gmatch("%d+ +%d+ (%S+) ([^\n]*)") do
    if not is_partition(name) then
      local fields = numbers_in(rest)
      local sector = 512  -- in this file, whatever the sector size of the disk is
      count(system.disks, name, seconds,
        { read = (fields[3] or 0) * sector, written = (fields[7] or 0) * sector })
      found[name] = true
    end
  end
  retain(system.disks, found)
end

local function read_network(seconds)
  local found = {}
  for name, rest in read_or_miss("net/dev"):gmatch("([^%s:]+): *([%d ]+)") do
    local fields = numbers_in(rest)
    count(system.network, name, seconds, { received = fields[1] or 0, sent = fields[9] or 0 })
    found[name] = true
  end
  retain(system.network, found)
end

local last_time = obs.now()

local function read_all()
  local now = obs.now()
  local seconds = now - last_time
  last_time = now
  local core_ticks = read_cpu()
  read_memory()
  read_load()
  read_processes(core_ticks)
  read_disks(seconds)
  read_network(seconds)
  system.round = system.round + 1
end

----------------------------------------------------------------------------------------------------
-- Watching: the model → alerts
----------------------------------------------------------------------------------------------------

local function size(bytes)
  if not bytes then return "–" end
  if bytes < 1000 then return string.format("%.0f B", bytes) end
  local units, power = { "KiB", "MiB", "GiB", "TiB" }, 1
  bytes = bytes / 1024
  while bytes >= 1000 and power < #units do bytes, power = bytes / 1024, power + 1 end
  return string.format("%.1f %s", bytes, units[power])
end

local announced = 0

local function announce(raised, text, ...)
  announced = announced + 1
  local entry = { number = announced, raised = raised, text = string.format(text, ...) }
  table.insert(system.alerts, entry)
  if #system.alerts > 100 then table.remove(system.alerts, 1) end
end

-- Hysteresis: raised beyond `enter`, cleared only beyond `leave`, so that a value that wavers
-- between the two is reported once. If `enter` is the lower one, low values raise the alert.
local function is_raised(was_raised, value, enter, leave)
  if enter < leave then value, enter, leave = -value, -enter, -leave end
  if was_raised then return value > leave end
  return value > enter
end

local function alert(name, paths, enter, leave, value_of, unit)
  local raised = false
  obs.observe(system, paths, function(system)
    local value = value_of(system)
    if not value or is_raised(raised, value, enter, leave) == raised then return end
    raised = not raised
    announce(raised, "%s %s: %.1f%s", name, raised and "alert" or "is fine again", value, unit)
  end, { name = name .. " alert" })
end

alert("cpu", "cpu.total", 90, 75, function(system) return system.cpu.total end, " %")

alert("memory", { "memory.available", "memory.total" }, 10, 15, function(system)
  local memory = system.memory
  return memory.available and memory.total and 100 * memory.available / memory.total
end, " % available")

alert("load", { "load.one", "cpu.cores" }, 2, 1.5, function(system)
  return system.load and system.cpu.cores > 0 and system.load.one / system.cpu.cores
end, " per core")

local greedy = setmetatable({}, { __mode = "k" })

-- One call per round, however many processes grew.
obs.observe(system, "processes.*.rss", function(system)
  local total = system.memory.total
  if not total then return end
  for pid, process in pairs(system.processes) do
    local percent = 100 * process.rss / total
    if is_raised(greedy[process] or false, percent, 25, 20) ~= (greedy[process] or false) then
      greedy[process] = not greedy[process] or nil
      announce(greedy[process] or false, "process %d (%s) %s %.1f %% of memory", pid, process.name,
        greedy[process] and "takes" or "is back at", percent)
    end
  end
end, { name = "greedy processes" })

local function watch_names(group, came, went, first_round)
  local known = {}
  obs.observe(system, group .. ".*", function(system)
    local before = known
    known = {}
    for name in pairs(system[group]) do
      known[name] = true
      if not before[name] and system.round >= first_round then announce(true, came, name) end
    end
    for name in pairs(before) do
      if not known[name] then announce(false, went, name) end
    end
  end, { name = group })
end

watch_names("disks", "disk %s came", "disk %s went", 2)
watch_names("network", "network device %s came", "network device %s went", 2)
watch_names("missing", "%s cannot be read: left out", "%s can be read again", 1)

----------------------------------------------------------------------------------------------------
-- Watching: the model → the screen
----------------------------------------------------------------------------------------------------

local function sorted_keys(group)
  local keys = {}
  for key in pairs(group) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

local function busiest(processes, wanted)
  local list = {}
  for _, process in pairs(processes) do list[#list + 1] = process end
  table.sort(list, function(a, b)
    if a.cpu ~= b.cpu then return a.cpu > b.cpu end
    if a.rss ~= b.rss then return a.rss > b.rss end
    return a.pid < b.pid
  end)
  return table.move(list, 1, math.min(wanted, #list), 1, {}), #list
end

local function summary(system)
  local lines = {}
  local function add(text, ...) lines[#lines + 1] = string.format(text, ...) end
  local memory, load = system.memory, system.load
  local top, processes = busiest(system.processes, options.live and 10 or 5)

  add("── round %d ── %s ── %d processes", system.round, os.date("%X"), processes)
  local busy = system.cpu.total
  add("cpu     %s of %d cores", busy and string.format("%.1f %%", busy) or "–", system.cpu.cores)
  add("load    %s", load and table.concat({ load.one, load.five, load.fifteen }, "  ") or "–")
  add("memory  %s available of %s", size(memory.available), size(memory.total))
  if (memory.swap_total or 0) > 0 then
    add("swap    %s free of %s", size(memory.swap_free), size(memory.swap_total))
  end
  add("%9s %7s %11s  %s", "pid", "cpu %", "memory", "process")
  for _, process in ipairs(top) do
    add("%9d %7.1f %11s  %s", process.pid, process.cpu, size(process.rss), process.name)
  end
  for _, name in ipairs(sorted_keys(system.disks)) do
    local disk = system.disks[name]
    add("disk     %-10s %11s/s read      %11s/s written", name, size(disk.read),
      size(disk.written))
  end
  for _, name in ipairs(sorted_keys(system.network)) do
    local device = system.network[name]
    add("network  %-10s %11s/s received  %11s/s sent", name, size(device.received),
      size(device.sent))
  end
  return table.concat(lines, "\n")
end

local function alert_line(entry) return (entry.raised and "!! " or "ok ") .. entry.text end

local told = 0

obs.observe(system, "alerts.*", function(system)
  for _, entry in ipairs(system.alerts) do
    if entry.number > told and not options.live then print(alert_line(entry)) end
  end
  told = announced
end, { name = "alerts" })

-- Registered last, so it runs last and shows the writes of earlier watchers in the same turn.
obs.observe(system, "round", function(system)
  if not options.live then
    print(summary(system))
    return
  end
  local recent = {}
  for index = math.max(1, #system.alerts - 7), #system.alerts do
    recent[#recent + 1] = alert_line(system.alerts[index])
  end
  -- Home, each line cleared to its end, then the rest of the screen, which avoids flicker.
  local text = summary(system) .. "\n\n" .. table.concat(recent, "\n") .. "\n"
  io.write("\27[H", (text:gsub("\n", "\27[K\n")), "\27[J")
  io.flush()
end, { name = "summary" })

----------------------------------------------------------------------------------------------------
-- Running
----------------------------------------------------------------------------------------------------

if not (read("stat") or read("meminfo") or read("loadavg")) then
  refuse("'" .. options.proc .. "' has none of stat, meminfo and loadavg")
end

io.stdout:setvbuf("line")  -- a reader of a pipe sees each round when it ends
if options.live then io.write("\27[?25l\27[2J") end

obs.on_exit(function()
  if options.live then io.write("\27[?25h") end
  local calls = obs.stats().calls
  print(string.format(
    "rounds: %d, alerts: %d, calls of watchers: %d", system.round, announced, calls))
end)

read_all()

if options.rounds ~= 1 then
  local timer
  timer = obs.every(options.interval, function()
    read_all()
    if system.round == options.rounds then timer:stop() end
  end)
end
