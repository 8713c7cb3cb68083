-- The tools for recordings: `--report` makes a page of one, `--trace` a file for trace viewers, and
-- `--replay` reads its header, the text of a script in it, and where this machine has C modules.
--
-- Called with the tool, the recording, the file to write or the script, and the page, with a mark
-- where the recording belongs. Raises errors without a place, for the user.
--
-- A recording may come from a stranger: no file that it names is opened.
local tool, path, output, page = ...

local VERSION = 1

local function fail(text, ...) error(text:format(...), 0) end

local function open(name, mode)
  local file, message = io.open(name, mode)
  if not file then fail("cannot open '%s': %s", name, message:match ": (.*)$" or message) end
  return file
end

-- JSON -------------------------------------------------------------------------------------------

local null = {}
local escapes = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t" }

--- The value of a line; nil if the line is no JSON.
local function decode(source)
  local at, value = 1, nil
  local function text()
    local parts = {}
    while true do
      local plain, stop = source:match('^([^"\\]*)(["\\])', at)
      if not plain then error "no text" end
      parts[#parts + 1], at = plain, at + #plain + 1
      if stop == '"' then return table.concat(parts) end
      local char = source:sub(at, at)
      if char == "u" then
        parts[#parts + 1] = utf8.char(tonumber(source:sub(at + 1, at + 4), 16))
        at = at + 5
      else
        parts[#parts + 1], at = escapes[char] or char, at + 1
      end
    end
  end
  local function next_char()
    at = source:find("%S", at) or #source + 1
    return source:sub(at, at)
  end
  local function list(made, closing, add)
    at = at + 1
    while next_char() ~= closing do
      add(made)
      if next_char() == "," then at = at + 1 elseif next_char() ~= closing then error "no list" end
    end
    at = at + 1
    return made
  end
  function value()
    local char = next_char()
    if char == '"' then
      at = at + 1
      return text()
    elseif char == "[" then
      return list({}, "]", function(made) made[#made + 1] = value() end)
    elseif char == "{" then
      return list({}, "}", function(made)
        local key = value()
        if next_char() ~= ":" then error "no object" end
        at = at + 1
        made[key] = value()
      end)
    end
    local word = source:match("^[%w%.%+%-]+", at) or ""
    at = at + #word
    if word == "null" then return null end
    if word == "true" then return true elseif word == "false" then return false end
    return tonumber(word) or error "no value"
  end
  local ok, made = pcall(value)
  if ok and not source:find("%S", at) then return made end
end

local function encode(value)
  if value == null then return "null" end
  if type(value) == "table" then
    if value.o then return encode(("%s 0x%s"):format(value.t, value.o)) end
    if value.x then return encode(value.x) end
    return encode(value.hidden and "hidden" or value.n or "?")
  end
  if type(value) ~= "string" then return tostring(value) end
  return '"' .. value:gsub('[%c"\\]', function(char)
    return ("\\u%04x"):format(char:byte())
  end) .. '"'
end

-- Reading ----------------------------------------------------------------------------------------

--- Checks the first line of the recording. Returns this line, a function that returns the next one,
--- the decoded first line, and the file.
local function lines()
  local file = open(path, "rb")
  local first = file:read "L"
  if not first then fail("'%s' is empty: it is not a recording", path) end
  local header = decode(first)
  if type(header) ~= "table" or header["obs-lua"] ~= "recording" then
    fail("'%s' is not a recording", path)
  end
  if math.type(header.version) ~= "integer" or header.version > VERSION then
    fail("'%s' is a recording of version %s; this program reads version %d", path,
      tostring(header.version), VERSION)
  end
  return first, function() return file:read "L" end, header, file
end

-- The files of the recorded run ------------------------------------------------------------------

local ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
local digits = {}
for i = 1, #ALPHABET do digits[ALPHABET:byte(i)] = i - 1 end

local function from_base64(text)
  local bytes, bits, count = {}, 0, 0
  for i = 1, #text do
    local digit = digits[text:byte(i)]
    if not digit then break end
    bits, count = (bits << 6 | digit) & 0xffff, count + 6
    if count >= 8 then
      count = count - 8
      bytes[#bytes + 1] = string.char(bits >> count & 0xff)
    end
  end
  return table.concat(bytes)
end

--- The bytes of an input: its text or, if they are not UTF-8, its base64.
local function bytes_of(input)
  local value = input[6]
  if type(value) == "table" and value.b then return from_base64(value.b) end
  return type(value) == "string" and value or ""
end

--- Returns the text of each file whose name is in the set `wanted`, as far as the recorded run read
--- it when it first read from the file.
local function texts_of(wanted, next_line)
  local texts, streams, opened = {}, {}, 0
  local function open_stream(input)
    if input[4] < 0 then return end
    -- Streams are named by the number of their opening.
    opened = opened + 1
    local name = input[2] == "fopen" and input[3]
    if wanted[name] and not texts[name] then streams["#" .. opened] = { name = name } end
  end
  local readers = {
    stdin = open_stream, fopen = open_stream, popen = open_stream, tmpfile = open_stream,
    -- A file that was read as a whole, for a sandbox.
    text = function(input)
      local name = input[3]
      if wanted[name] and not texts[name] then texts[name] = bytes_of(input) end
    end,
    read = function(input)
      local stream = streams[input[3]]
      if stream then stream[#stream + 1] = bytes_of(input) end
    end,
    fclose = function(input)
      local stream = streams[input[3]]
      streams[input[3]] = nil
      -- The search for a module opens its file, too, but reads nothing.
      if stream and stream[1] and not texts[stream.name] then
        texts[stream.name] = table.concat(stream)
      end
    end,
  }
  -- The bytes that are read after one of these do not follow the previous ones.
  readers.seek = function(input) streams[input[3]] = nil end
  readers.write = readers.seek
  for line in next_line do
    local kind, subject = line:match '^%["input","(%l+)","?(#?%d*)'
    local reader = readers[kind]
    -- Other files may be most of a recording, so their lines are not decoded.
    if reader and (kind ~= "read" or streams[subject]) then
      local input = decode(line)
      if input then pcall(reader, input) end
    end
  end
  return texts
end

-- The header -------------------------------------------------------------------------------------

--- The seed, the program, the form of values, the script, whether the standard input was a
--- terminal, and the command line of a recorded run; the seed is nil if there are no inputs.
local function read_header()
  local _, _, header = lines()
  local function field(name, kind)
    if type(header[name]) ~= kind then
      fail("'%s' has no valid '%s' in its first line", path, name)
    end
    return header[name]
  end
  if header.seed == nil then return end
  local command = {}
  for i, argument in ipairs(field("command", "table")) do
    -- A list of bytes, if the argument is not UTF-8.
    local ok, text = pcall(string.char, table.unpack(type(argument) == "table" and argument or {}))
    if type(argument) == "string" then ok, text = true, argument end
    if not ok or text == "" and argument ~= "" then
      fail("'%s' has no valid 'command' in its first line", path)
    end
    command[i] = text
  end
  return field("seed", "string"), field("build", "string"), field("values", "string"),
    header.script ~= null and field("script", "string") or "-",
    tostring(field("terminal", "boolean")), table.unpack(command)
end

-- The page ---------------------------------------------------------------------------------------

-- "<" occurs in JSON only within texts, where the escape means the same.
local function harmless(json) return (json:gsub("<", "\\u003c")) end

-- The longest block of lines: browsers limit the length of a text.
local BLOCK = 1 << 27

--- Opens the file to write; it may replace a former one, which begins with `mark`, or nothing.
local function create(mark)
  local former = io.open(output, "rb")
  local beginning = former and former:read(#mark)
  if former then former:close() end
  -- Devices such as /dev/full begin with zeros.
  if beginning and beginning:byte() ~= 0 and beginning:lower() ~= mark then
    fail("'%s' exists, and was not made by --%s", output, tool)
  end
  return open(output, "wb")
end

--- Writes the end of the file.
local function finish(out, ...)
  local ok, message = out:write(...)
  if ok then ok, message = out:close() end
  if not ok then fail("cannot write '%s': %s", output, message) end
end

-- The most bytes of a source that a page shows.
local SOURCE = 1 << 20

local function report()
  local line, next_line, _, file = lines()
  local from, to = page:find("<!-- data -->", 1, true)
  local opening, closing = '<script type="application/json" class="recording">', "</script>\n"
  local out <close> = create "<!doctype html>"
  local sources, names, size = {}, {}, 0
  out:write(page:sub(1, from - 1), opening)
  while line do
    if size + #line > BLOCK and size > 0 then
      out:write(closing, opening)
      size = 0
    end
    size = size + #line
    out:write(harmless(line))
    local name = line:match '^%["text",%d+,(".*):%d+"%]'
    name = name and decode(name .. '"')
    if type(name) == "string" and not sources[name] then
      sources[name] = true
      names[#names + 1] = name
    end
    line = next_line()
  end
  out:write(closing, '<script type="application/json" id="files">{')
  -- A pipe cannot be read twice.
  local texts = file:seek "set" and texts_of(sources, next_line) or {}
  local separator = ""
  for _, name in ipairs(names) do
    local text = texts[name]
    if text and #text <= SOURCE and utf8.len(text) then
      out:write(separator, harmless(encode(name) .. ":" .. encode(text)))
      separator = ","
    end
  end
  finish(out, "}", closing, page:sub(to + 1))
end

-- The trace --------------------------------------------------------------------------------------

-- Trace events of Chrome: turns, calls and computations as slices, writes as instants.
local function trace()
  local _, next_line = lines()
  local out <close> = create "["
  local texts, watchers, properties, objects, calls, separator = {}, {}, {}, {}, {}, "[\n"
  local turn, time
  local function put(event)
    out:write(separator, event)
    separator = ",\n"
  end
  local function slice(name, category, start, duration, arguments)
    put(('{"ph":"X","pid":1,"tid":1,"name":%s,"cat":"%s","ts":%d,"dur":%d,"args":{%s}}'):format(
      encode(name), category, start, duration, arguments or ""))
  end
  put '{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"turns"}}'
  local readers = {
    text = function(e) texts[e[2]] = e[3] end,
    object = function(e) objects[e[2]] = (texts[e[3]] or "object") .. " #" .. e[2] end,
    watcher = function(e)
      watchers[e[2]] = { name = texts[e[3]] or "watcher " .. e[2], place = texts[e[4]] }
    end,
    lazy = function(e) properties[e[2]] = { name = texts[e[3]] or "?", place = texts[e[4]] } end,
    turn = function(e)
      turn, time = { number = e[2], kind = e[3], place = texts[e[4]], start = e[5] }, e[5]
    end,
    ["end"] = function(e)
      if not turn then return end
      slice(("turn %d (%s)"):format(turn.number, turn.kind), "turn", turn.start, e[3] - turn.start,
        turn.place and '"place":' .. encode(turn.place))
      turn = nil
    end,
    call = function(e)
      calls[#calls + 1] = { watcher = e[2], start = e[4], causes = e[3] }
      time = e[4]
    end,
    ["return"] = function(e)
      local call = table.remove(calls)
      local watcher = call and watchers[call.watcher]
      if not watcher then return end
      slice(watcher.name, "call", call.start, e[3], ('"registered":%s,"writes":"%s"'):format(
        encode(watcher.place or ""), table.concat(call.causes, ", ")))
      time = call.start + e[3]
    end,
    compute = function(e)
      local property = properties[e[2]]
      if not property then return end
      slice(property.name, "compute", e[5] - e[6], e[6], ('"old":%s,"new":%s,"getter":%s'):format(
        encode(e[3]), encode(e[4]), encode(property.place or "")))
      time = e[5]
    end,
    write = function(e)
      put(('{"ph":"i","s":"t","pid":1,"tid":1,"name":%s,"cat":"write","ts":%d,"args":{"object":%s,'
        .. '"old":%s,"new":%s,"place":%s,"write":%d}}'):format(encode(tostring(e[4])), time or 0,
        encode(objects[e[3]] or ""), encode(e[5]), encode(e[6]), encode(texts[e[7]] or ""), e[2]))
    end,
    error = function(e)
      put(('{"ph":"i","s":"t","pid":1,"tid":1,"name":%s,"cat":"error","ts":%d}'):format(
        encode(e[2]), time or 0))
    end,
  }
  for line in next_line do
    local event = decode(line)
    local reader = event and readers[event[1]]
    -- A line that was cut, or made by a later version, is left out.
    if reader then pcall(reader, event) end
  end
  if separator == "[\n" then out:write "[" end
  finish(out, "\n]\n")
end

if tool == "header" then return read_header() end
if tool == "modules" then return package.cpath end
if tool == "script" then
  local _, next_line = lines()
  return texts_of({ [output] = true }, next_line)[output]
end
if tool == "report" then report() else trace() end
