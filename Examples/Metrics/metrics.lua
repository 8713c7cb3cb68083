-- A tray of live metrics: obs-lua metrics.lua [--live] [SAMPLES]
-- Reads /proc once a second, or the samples in a file. `--live` draws as on a terminal in any case.
local obs = require "obs"

local columns, rows = 15, 3  -- The size of a graph in characters.
local is_forced = arg[1] == "--live"
local is_live = is_forced or os.execute "test -t 1"
local path = arg[is_forced and 2 or 1]

----------------------------------------------------------------------------------------------------
-- The model
----------------------------------------------------------------------------------------------------

local Metric = obs.model("Metric", {
  name = "", format = "%.0f %%", limit = math.huge,
  top = obs.none,         -- The value of a full column; if it is nil, the highest value.
  values = obs.array {},  -- The last ones, oldest first.

  -- Three values in a row are above the limit: a short peak is no alarm.
  is_high = obs.computed({ "values.*", "limit" }, function(self)
    local values = self.values
    for i = #values - 2, #values do
      if (values[i] or 0) <= self.limit then return false end
    end
    return true
  end),

  add = function(self, value)
    self.values:append(value)
    if #self.values > columns then self.values:remove(1) end
  end,
})

local cpu = Metric { name = "cpu", top = 100, limit = 90 }
local memory = Metric { name = "memory", top = 100, limit = 80 }
local waiting = Metric { name = "load", format = "%.2f" }
local network = Metric { name = "net", format = "%.1f MB/s" }
local tray = { metrics = obs.array { cpu, memory, waiting, network }, alarms = obs.array {} }

----------------------------------------------------------------------------------------------------
-- Watching: the model → alarms
----------------------------------------------------------------------------------------------------

local start = obs.now()

for _, metric in ipairs(tray.metrics) do
  obs.observe(metric, "is_high", function(metric)
    local seconds = (obs.now() - start) // 1
    tray.alarms:append { is_high = metric.is_high, text = ("%02d:%02d  %s %s"):format(
      seconds // 60, seconds % 60, metric.name, metric.is_high and "is high" or "is well again") }
    if #tray.alarms > 3 then tray.alarms:remove(1) end
  end)
end

----------------------------------------------------------------------------------------------------
-- Watching: the model → the screen
----------------------------------------------------------------------------------------------------

local red, green, bold = 31, 32, 1

local function paint(text, style)
  return is_live and ("\27[%dm%s\27[0m"):format(style, text) or text
end

-- Returns a row of the graph of a metric; 1 is the highest.
local function graph(metric, row)
  local top = metric.top or math.max(1, table.unpack(metric.values))
  local text = (" "):rep(columns - #metric.values)
  for _, value in ipairs(metric.values) do
    local eighths = math.max(value / top * rows * 8 // 1 | 0, 1) - (rows - row) * 8
    text = text .. (eighths > 0 and utf8.char(0x2580 + math.min(eighths, 8)) or " ")
  end
  return paint(text, metric.is_high and red or green)
end

local function tile(metric, line)
  if line > rows then return "╰" .. ("─"):rep(columns + 2) .. "╯" end
  if line > 0 then return "│ " .. graph(metric, line) .. " │" end
  local value = metric.format:format(metric.values[#metric.values])
  return ("╭ %s %s %s ╮"):format(metric.name,
    ("─"):rep(columns - 2 - #metric.name - #value), paint(value, metric.is_high and red or bold))
end

local height = 0  -- The lines that are on the screen.

-- One call for each sample, however many values it has changed. The watchers of `is_high` were
-- registered before, so their alarms are shown in the same call.
obs.observe(tray, { "metrics.*.values.*", "alarms.*" }, function(tray)
  local lines = {}
  for line = 0, rows + 1 do
    local tiles = {}
    for i, metric in ipairs(tray.metrics) do tiles[i] = tile(metric, line) end
    lines[line + 1] = table.concat(tiles, " ")
  end
  for _, alarm in ipairs(tray.alarms) do
    table.insert(lines, "  " .. paint(alarm.text, alarm.is_high and red or green))
  end
  if is_live and height > 0 then io.write("\27[", height, "A") end  -- The cursor goes up.
  io.write(table.concat(lines, "\n"), "\n")
  io.flush()
  height = #lines
end)

----------------------------------------------------------------------------------------------------
-- Reading: text → the model
----------------------------------------------------------------------------------------------------

-- Returns a function that returns the text of the next sample, and nil after the last one.
local function samples()
  if path then
    local file <close> = assert(io.open(path))  -- Samples are separated by empty lines.
    return (file:read "a" .. "\n\n"):gmatch "(.-)\n\n+"
  end
  return function()
    local texts = {}
    for i, name in ipairs { "stat", "meminfo", "loadavg", "net/dev" } do
      local file <close> = assert(io.open("/proc/" .. name))
      texts[i] = file:read "a"
    end
    return table.concat(texts)
  end
end

local function numbers(text, pattern)
  local found = { text:match(pattern) }
  if not found[1] then error("a sample has no line like '" .. pattern .. "'", 0) end
  for i, digits in ipairs(found) do found[i] = tonumber(digits) end
  return table.unpack(found)
end

local next_sample, timer = samples(), nil
local last  -- The counters of the last sample: they only grow.

local function read()
  local text = next_sample()
  if not text then return timer:stop() end
  local user, nice, system, idle, wait = numbers(text, "cpu +(%d+) (%d+) (%d+) (%d+) (%d+)")
  local now = { busy = user + nice + system, idle = idle + wait, bytes = 0, time = obs.now() }
  for device, received in text:gmatch "(%w+): *(%d+) +%d+ +%d+" do
    if device ~= "lo" then now.bytes = now.bytes + received end
  end
  if last then
    local busy, idle = now.busy - last.busy, now.idle - last.idle
    cpu:add(100 * busy / math.max(busy + idle, 1))
    local available = numbers(text, "MemAvailable: +(%d+)")
    memory:add(100 - 100 * available / numbers(text, "MemTotal: +(%d+)"))
    waiting:add(numbers(text, "%f[%d]([%d.]+) [%d.]+ [%d.]+ %d+/%d+"))
    network:add((now.bytes - last.bytes) / 1e6 / (now.time - last.time))
  end
  last = now
end

timer = obs.every(1, read)
read()
