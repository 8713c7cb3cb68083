-- The module obs.io: input, processes, changes of files, and signals, for tasks; based on luv.
local core = ...

core.load "tasks"

local error, ipairs, pairs, pcall, select, setmetatable, tonumber, tostring, type =
  error, ipairs, pairs, pcall, select, setmetatable, tonumber, tostring, type
local to_integer = math.tointeger
local concat, pack, sort, unpack = table.concat, table.pack, table.sort, table.unpack
local find, format, gmatch, gsub, match, sub, upper = string.find, string.format, string.gmatch,
  string.gsub, string.match, string.sub, string.upper
local open, stdin, kind_of = io.open, io.stdin, io.type
local add_to_scope, after, bad_argument, check_function, check_task =
  core.add_to_scope, core.after, core.bad_argument, core.check_function, core.check_task
local check_timeout, buffered_of, call_back, descriptor_of =
  core.check_timeout, core.io.buffered, core.io.call_back, core.io.descriptor
local ignore_broken_pipes, restore_signals, is_instance, nearest_name, on_exit =
  core.io.ignore_broken_pipes, core.io.restore_signals, core.is_instance, core.nearest, core.on_exit
local changes, unwatch, watch = core.io.changes, core.io.unwatch, core.io.watch
local note_owned, on_readable, outward, raise, running_owner, site_of, wait =
  core.note_owned, core.on_readable, core.outward, core.raise, core.tasks.owner, core.site,
  core.wait

local is_there, uv = pcall(require, "luv")
if not is_there then
  raise("obs.io needs the module luv, which is not installed (Debian's package is lua-luv): "
    .. tostring(uv))
end

local io = {}

-- Reading --------------------------------------------------------------------------------------

local CHUNK = 65536
-- Longer texts are not read as numerals.
local LONGEST_NUMERAL = 200

-- Text that was read from a file, or from a descriptor number, but not yet returned.
local readers = setmetatable({}, { __mode = "k" })

local function reader_of(file, number, name)
  local reader = readers[file]
  if reader then return reader end
  reader = { text = "", descriptor = descriptor_of(file, name, number), is_over = false }
  readers[file] = reader
  return reader
end

local function await_readable(file, name)
  wait("obs.io." .. name, function(wake)
    local handler
    handler = on_readable(file, function()
      handler:stop()
      wake()
    end)
    return function() handler:stop() end
  end)
end

-- Reads more; returns false at the end. An error also ends the input, and is returned.
local function fill(reader, file, name)
  if reader.is_over then return false end
  local text, message, code
  repeat
    await_readable(file, name)
    local buffered = buffered_of(file)
    if buffered > 0 then
      text = file:read(buffered)
    else
      text, message, code = uv.fs_read(reader.descriptor, CHUNK, -1)
    end
  until text or code ~= "EAGAIN"
  if text and text ~= "" then
    reader.text = reader.text .. text
    return true
  end
  reader.is_over = true
  return false, message
end

local function take(reader, count, skipped)
  local text = reader.text
  reader.text = sub(text, count + (skipped or 0) + 1)
  return sub(text, 1, count)
end

local function read_line(reader, file, name, keeps_end)
  local from = 1
  while true do
    local at = find(reader.text, "\n", from, true)
    if at then return keeps_end and take(reader, at) or take(reader, at - 1, 1) end
    from = #reader.text + 1
    local more, message = fill(reader, file, name)
    if not more then
      if reader.text == "" then return nil, message end
      return take(reader, #reader.text)
    end
  end
end

local function read_all(reader, file, name)
  -- Joined once at the end, as otherwise each chunk would copy the input so far.
  local parts = { take(reader, #reader.text) }
  while fill(reader, file, name) do parts[#parts + 1] = take(reader, #reader.text) end
  return concat(parts)
end

local function read_bytes(reader, file, name, count)
  while #reader.text < count or reader.text == "" do
    local more, message = fill(reader, file, name)
    if not more then
      if reader.text == "" then return nil, message end
      break
    end
  end
  return take(reader, count)
end

-- The longest prefix of a text that can begin a numeral, as for `file:read("n")`.
local function numeral(text)
  local hex = match(text, "^[+-]?0[xX]")
  local digits, exponent = hex and "%x" or "%d", hex and "[pP]" or "[eE]"
  local prefix = hex or match(text, "^[+-]?")
  local found = match(text, "^" .. digits .. "*%.?" .. digits .. "*", #prefix + 1)
  local end_of_digits = #prefix + #found + 1
  if find(found, "%x") then
    found = found .. (match(text, "^" .. exponent .. "[+-]?%d*", end_of_digits) or "")
  end
  return prefix .. found
end

local function read_number(reader, file, name)
  while true do
    take(reader, #match(reader.text, "^%s*"))
    local found = numeral(sub(reader.text, 1, LONGEST_NUMERAL))
    if #found < #reader.text or #found == LONGEST_NUMERAL or not fill(reader, file, name) then
      return tonumber(take(reader, #found))
    end
  end
end

local formats = {
  l = read_line,
  L = function(reader, file, name) return read_line(reader, file, name, true) end,
  a = read_all,
  n = read_number,
}

local function read_from(file, first, name, ...)
  local wanted = pack(...)
  if wanted.n == 0 then wanted = { "l", n = 1 } end
  for i = 1, wanted.n do
    local what, is_format = wanted[i], false
    if type(what) == "number" then
      wanted[i] = to_integer(what)
      is_format = wanted[i] ~= nil and wanted[i] >= 0
    elseif type(what) == "string" then
      is_format = formats[match(what, "^%*?(.)") or ""] ~= nil
    end
    if not is_format then
      bad_argument(first + i - 1, name,
        "format expected ('l', 'L', 'a', 'n', or a number of bytes)")
    end
  end
  local reader, results = reader_of(file, 1, name), {}
  for i = 1, wanted.n do
    local what, message = wanted[i], nil
    if type(what) == "string" then
      results[i], message = formats[match(what, "^%*?(.)")](reader, file, name)
    else
      results[i], message = read_bytes(reader, file, name, what)
    end
    if results[i] == nil then
      if message then results[i + 1] = message end
      return unpack(results, 1, message and i + 1 or i)
    end
  end
  return unpack(results, 1, wanted.n)
end

function io.read(...)
  if kind_of((...)) then return read_from((...), 2, "read", select(2, ...)) end
  return read_from(stdin, 1, "read", ...)
end

function io.lines(file, ...)
  local wanted, opened = pack(...), nil
  if type(file) == "string" then
    local found, message = open(file)
    if not found then error(message, 2) end
    file, opened = found, found
  end
  file = file or stdin
  reader_of(file, 1, "lines")
  return function()
    local results = pack(read_from(file, 2, "lines", unpack(wanted, 1, wanted.n)))
    if results[1] == nil then
      if opened then opened:close() end
      if type(file) == "number" then readers[file] = nil end
      if results[2] then error(results[2], 2) end
    end
    return unpack(results, 1, results.n)
  end
end

-- Processes ------------------------------------------------------------------------------------

local function suggest(name, names)
  local nearest = type(name) == "string" and nearest_name(name, names)
  return nearest and format("; did you mean '%s'?", nearest) or ""
end

local function close(handle)
  if handle and not handle:is_closing() then handle:close() end
end

-- Checks an option: `types` has each option's type, and `names` the sorted names of all options.
local function check_option(key, value, number, name, types, names)
  local wanted = types[key]
  if not wanted then
    bad_argument(number, name, format("'%s' is not an option; the options are %s%s", tostring(key),
      concat(names, ", "), suggest(key, names)))
  elseif type(value) ~= wanted then
    bad_argument(number, name, format("'%s' takes a %s, not a %s", key, wanted, type(value)))
  end
end

local run_options = { input = "string", timeout = "number", cwd = "string" }
local run_names = { "cwd", "input", "timeout" }

-- Checks a command, and returns its number of words.
local function check_command(command, name)
  if type(command) ~= "table" or type(command[1]) ~= "string" then
    bad_argument(1, name, "table expected that begins with a program, as in { \"ls\", \"-l\" }")
  end
  local count = 0
  for key, value in pairs(command) do
    local position = type(key) == "number" and to_integer(key)
    if position and position > 0 then
      if position > count then count = position end
    else
      check_option(key, value, 1, name, run_options, run_names)
    end
  end
  -- Do not skip a missing word: the words after it would change their meaning.
  for i = 1, count do
    local kind = type(command[i])
    if kind ~= "string" and kind ~= "number" then
      bad_argument(1, name, format("argument %d must be a string, not %s", i,
        kind == "nil" and "nil" or "a " .. kind))
    end
  end
  check_timeout(command.timeout, 1, name)
  return count
end

-- The processes that have not ended.
local running = {}

local function kill(run)
  run.is_killed = true
  if run.status == nil then run.process:kill("sigkill") end
end

local kills_at_end = false

-- Kills the processes when the program ends, as their tasks then do not finish.
local function kill_at_end()
  if kills_at_end then return end
  kills_at_end = true
  on_exit(function()
    for run in pairs(running) do kill(run) end
  end)
end

-- Starts a process; `finished` is called after both the process and its pipes have ended.
local function start(command, count, finished)
  local run = { output = {}, errors = {}, pipes = { uv.new_pipe(), uv.new_pipe() }, left = 3 }
  local function ended()
    run.left = run.left - 1
    if run.left == 0 then finished() end
  end
  local arguments = {}
  for i = 2, count do arguments[i - 1] = tostring(command[i]) end
  if command.input then run.input = uv.new_pipe() end
  local message
  run.process, message = uv.spawn(command[1], {
    args = arguments, cwd = command.cwd, stdio = { run.input, run.pipes[1], run.pipes[2] },
  }, function(code, signal)
    run.status = signal > 0 and 128 + signal or code
    running[run] = nil
    close(run.process)
    ended()
    if run.is_killed then finished() end
  end)
  if not run.process then
    close(run.input) close(run.pipes[1]) close(run.pipes[2])
    return nil, message
  end
  running[run] = true
  kill_at_end()
  for i, parts in pairs { run.output, run.errors } do
    run.pipes[i]:read_start(function(_, text)
      if text then
        parts[#parts + 1] = text
      else
        close(run.pipes[i])
        ended()
      end
    end)
  end
  if run.input then
    ignore_broken_pipes(true)
    run.input:write(command.input, function()
      ignore_broken_pipes(false)
      close(run.input)
    end)
  end
  return run
end

function io.run(command)
  local count = check_command(command, "run")
  check_task("obs.io.run")
  local finish
  local run, message = start(command, count, function() finish() end)
  if not run then return nil, message end
  local is_over = wait("obs.io.run", function(wake)
    local timer = command.timeout and after(command.timeout, function() kill(run) end)
    function finish() wake(not run.is_killed) end
    return function()
      function finish() end
      if timer then timer:stop() end
      -- The task was cancelled, or a child of the process still holds its pipes.
      if run.status == nil then kill(run) end
      close(run.pipes[1]) close(run.pipes[2]) close(run.input)
    end
  end)
  return is_over and run.status, concat(run.output), concat(run.errors)
end

local get_options, get_names = { timeout = "number" }, { "timeout" }

function io.get(url, options)
  if type(url) ~= "string" then bad_argument(1, "get", "URL expected, got " .. type(url)) end
  if options ~= nil and type(options) ~= "table" then
    bad_argument(2, "get", "table of options expected, got " .. type(options))
  end
  for key, value in pairs(options or {}) do
    check_option(key, value, 2, "get", get_options, get_names)
  end
  local timeout = options and options.timeout
  check_timeout(timeout, 2, "get")
  local status, output, errors = io.run {
    "curl", "--silent", "--show-error", "--location", "--write-out", "\n%{http_code}",
    timeout = timeout, "--", url,
  }
  if status == nil then
    return nil, "obs.io.get needs the program curl (Debian's package is curl): " .. output
  end
  if status == false then return nil, format("no answer within %s s from %s", timeout, url) end
  if status ~= 0 then return nil, (gsub(errors, "%s+$", "")) end
  local body, code = match(output, "^(.*)\n(%d+)$")
  return body, tonumber(code)
end

-- Files and signals ----------------------------------------------------------------------------

local Handle = { __name = "obs.io.Handle", __index = {} }

local function check_handle(handle, name)
  if not is_instance(handle, Handle) then
    bad_argument(1, name, "handle of obs.io expected, got " .. type(handle))
  end
  return handle
end

-- The handles of each watched path, in order of registration.
local watching = {}

local function forget(handle)
  local root, others = handle.root, {}
  for _, other in ipairs(watching[root]) do
    if other ~= handle then others[#others + 1] = other end
  end
  watching[root], handle.root = others[1] and others, nil
  if not others[1] then unwatch(root) end
end

function Handle.__index:stop()
  local handle = check_handle(self, "stop")
  if handle.root then forget(handle) end
  close(handle.timer)
  close(handle.source)
  -- Let the signals end the program again.
  restore_signals()
end

function Handle.__index:ref() check_handle(self, "ref").source:ref() return self end
function Handle.__index:unref() check_handle(self, "unref").source:unref() return self end

-- Changes of a file within this number of seconds count as one.
local SETTLING = 0.02

-- Waits for changes of all watched paths; nothing keeps the program running for it.
local changes_source

local function note_changes()
  for root, entry in gmatch(changes(), "([^\0]+)\0([^\0]*)\0") do
    for _, handle in ipairs(watching[root] or {}) do handle.note(entry) end
  end
end

function io.watch(path, callback)
  if type(path) ~= "string" or path == "" then
    bad_argument(1, "watch", "path expected, got " .. (path == "" and "''" or type(path)))
  end
  check_function(callback, 2, "watch")
  local site, module = site_of(callback), running_owner() >> 32
  local root, descriptor = watch(path)
  if not root then raise(format("obs.io.watch cannot watch '%s': %s", path, descriptor)) end
  if not changes_source then
    changes_source = uv.new_poll(descriptor)
    changes_source:start("r", note_changes)
    changes_source:unref()
  end
  path = match(path, "^(/?.-)/*$")
  -- The handle keeps the program running by a source without events.
  local timer, source = uv.new_timer(), uv.new_async(function() end)
  local changed, entries = {}, {}
  local function tell()
    local found = entries
    changed, entries = {}, {}
    for i = 1, #found do
      -- The callback may stop the handle, which ends the calls at once.
      if source:is_closing() then return end
      local changed_path = found[i] == "" and path or path .. "/" .. found[i]
      call_back(callback, "obs.io.watch", site, changed_path, module)
    end
  end
  local function note(entry)
    if changed[entry] then return end
    changed[entry] = true
    entries[#entries + 1] = entry
    if not timer:is_active() then timer:start(SETTLING * 1000 // 1, 0, tell) end
  end
  timer:unref()
  local handle =
    setmetatable({ source = source, timer = timer, root = root, note = note }, Handle)
  watching[root] = watching[root] or {}
  watching[root][#watching[root] + 1] = handle
  return add_to_scope(note_owned(handle))
end

function io.on_signal(name, callback)
  if type(name) ~= "string" then
    bad_argument(1, "on_signal", "name of a signal expected, got " .. type(name))
  end
  check_function(callback, 2, "on_signal")
  local short = gsub(upper(name), "^SIG", "")
  if not uv.constants["SIG" .. short] then
    local names = {}
    for constant in pairs(uv.constants) do names[#names + 1] = match(constant, "^SIG(%u%w+)$") end
    sort(names)
    bad_argument(1, "on_signal",
      format("name of a signal expected, got '%s'%s", name, suggest(short, names)))
  end
  local source, site, module = uv.new_signal(), site_of(callback), running_owner() >> 32
  local started, message = source:start("sig" .. short:lower(), function()
    call_back(callback, "obs.io.on_signal", site, short, module)
  end)
  if not started then
    close(source)
    raise(format("obs.io.on_signal cannot handle '%s': %s", name, message))
  end
  return add_to_scope(note_owned(setmetatable({ source = source }, Handle)))
end

outward(io, 0)

return io
