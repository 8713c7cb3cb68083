-- Reads recordings of runs, without the code that writes or shows them.
local recordings = {}

recordings.unknown, recordings.hidden, recordings.nan = { "unknown" }, { "hidden" }, { "nan" }
local null = { "null" }

local escapes = { n = "\n", ['"'] = '"', ["\\"] = "\\" }

-- JSON as recordings have it: null and empty lists are kept.
local function decode(source)
  local at = 1
  local value
  local function expect(char)
    assert(source:sub(at, at) == char, "no JSON: " .. source)
    at = at + 1
  end
  local function text()
    local parts = {}
    expect '"'
    while true do
      local plain, stop = source:match('^([^"\\]*)(.)', at)
      at = at + #plain + 1
      parts[#parts + 1] = plain
      if stop == '"' then return table.concat(parts) end
      local char = source:sub(at, at)
      at = at + 1
      if char == "u" then
        parts[#parts + 1] = utf8.char(tonumber(source:sub(at, at + 3), 16))
        at = at + 4
      else
        parts[#parts + 1] = assert(escapes[char])
      end
    end
  end
  function value()
    local char = source:sub(at, at)
    if char == '"' then return text() end
    if char == "[" or char == "{" then
      local made, closing = {}, char == "[" and "]" or "}"
      at = at + 1
      while source:sub(at, at) ~= closing do
        if char == "[" then
          made[#made + 1] = value()
        else
          local key = text()
          expect ":"
          made[key] = value()
        end
        if source:sub(at, at) == "," then at = at + 1 end
      end
      at = at + 1
      return made
    end
    local word = source:match("^[%w%.%+%-]+", at)
    at = at + #word
    if word == "null" then return null end
    if word == "true" then return true elseif word == "false" then return false end
    return assert(tonumber(word), "no JSON: " .. source)
  end
  local made = value()
  assert(at == #source + 1, "no JSON: " .. source)
  return made
end

local function from_base64(text)
  local alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
  local bits, count, bytes = 0, 0, {}
  for char in text:gmatch "[^=]" do
    bits, count = bits << 6 | alphabet:find(char, 1, true) - 1, count + 6
    if count >= 8 then
      count = count - 8
      bytes[#bytes + 1] = string.char(bits >> count & 255)
    end
  end
  return table.concat(bytes)
end

-- The value that a line has; objects stay tables with the address `o`.
local function plain(value)
  if value == null then return nil end
  if type(value) ~= "table" then return value end
  if value.u then return recordings.unknown end
  if value.hidden then return recordings.hidden end
  if value.b then return from_base64(value.b) end
  if value.n == "nan" then return recordings.nan end
  if value.n then return value.n == "inf" and 1 / 0 or -1 / 0 end
  return value
end

local fields = {
  write = { "number", "object", "key", "old", "new", "place" },
  edit = { "number", "object", "operation", "position", "value", "place" },
  equal = { "object", "key", "place", "count" },
  call = { "watcher", "causes", "time" }, invalid = { "property", "write" },
  compute = { "property", "old", "new", "time", "duration", "flag" },
  object = { "object", "name", "address", "contents" }, gone = { "object" },
  watcher = { "watcher", "name", "place", "object", "path" },
  lazy = { "property", "name", "place", "object" }, turn = { "turn", "kind", "place", "time" },
  error = { "message", "place" },
}
local texts = { place = true, name = true, path = true }

local Recording = {}
Recording.__index = Recording

function Recording:all(kind)
  local found = {}
  for _, event in ipairs(self.events) do
    if event.kind == kind then found[#found + 1] = event end
  end
  return found
end

function Recording:first(kind) return self:all(kind)[1] end

function recordings.read(path)
  local read = setmetatable({ events = {}, text = "" }, Recording)
  local text, watchers, properties = {}, {}, {}
  for line in io.lines(path) do
    local made = decode(line)
    read.text = read.text .. line .. "\n"
    if not read.header then
      read.header = made
    elseif made[1] == "text" then
      text[made[2]] = made[3]
    else
      local event = { kind = made[1] }
      for i, field in ipairs(fields[made[1]] or {}) do
        local value = made[i + 1]
        if texts[field] then value = text[value] end
        if field == "old" or field == "new" or field == "value" and value == null
          or field == "value" and not (type(value) == "table" and event.operation == "all") then
          value = plain(value)
        end
        if value == null then value = nil end
        event[field] = value
      end
      if event.kind == "watcher" then watchers[event.watcher] = event.name end
      if event.kind == "lazy" then properties[event.property] = event end
      if event.kind == "call" then event.name = watchers[event.watcher] end
      if event.kind == "compute" then
        local property = properties[event.property]
        event.name, event.object = property.name, property.object
      end
      read.events[#read.events + 1] = event
    end
  end
  return read
end

--- The contents of the object with a number at the end of the recording, with all objects below it.
function Recording:state(number)
  local contents, addresses = {}, {}
  for _, event in ipairs(self.events) do
    local known = contents[event.object]
    if event.kind == "object" then
      addresses[event.address] = event.object
      local filled
      if event.contents then
        filled = {}
        for _, pair in ipairs(event.contents) do filled[pair[1]] = plain(pair[2]) end
      end
      contents[event.object] = filled
    elseif event.kind == "gone" then
      contents[event.object] = nil
    elseif event.kind == "write" and known then
      known[event.key] = event.new
    elseif event.kind == "compute" and known and not event.flag then
      known[event.name] = event.new
    elseif event.kind == "edit" and known then
      if event.operation == "insert" then
        table.insert(known, event.position, event.value)
      elseif event.operation == "remove" then
        table.remove(known, event.position)
      elseif event.operation == "replace" then
        known[event.position] = event.value
      else
        for key in pairs(known) do
          if math.type(key) == "integer" then known[key] = nil end
        end
        for _, pair in ipairs(event.value) do known[pair[1]] = plain(pair[2]) end
      end
    end
  end
  local function resolve(value)
    if type(value) == "table" and value.o then return contents[addresses[value.o]] or value end
    return value
  end
  for _, object in pairs(contents) do
    for key, value in pairs(object) do object[key] = resolve(value) end
  end
  return contents[tonumber(number)]
end

--- Whether a rebuilt object equals a real one; else also the path at which they differ.
function recordings.same(rebuilt, real, path)
  path = path or ""
  if type(rebuilt) ~= "table" or type(real) ~= "table" then return rebuilt == real, path end
  for key, value in pairs(real) do
    local same, where = recordings.same(rebuilt[key], value, path .. "." .. tostring(key))
    if not same then return false, where end
  end
  for key in pairs(rebuilt) do
    if real[key] == nil then return false, path .. "." .. tostring(key) .. " (too much)" end
  end
  return true
end

--- A generator of pseudo-random numbers from 1 to its argument.
function recordings.random(seed)
  local state = seed * 2654435761 % 2 ^ 32
  return function(limit)
    state = (state * 1664525 + 1013904223) % 2 ^ 32
    return math.floor(state / 65536) % limit + 1
  end
end

return recordings
