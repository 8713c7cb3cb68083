-- Two copies of a document are kept equal through a pipe: each turn sends its changes as a line of
-- JSON.
--
-- This program starts itself again, as the process with the second copy.

local obs = require "obs"

-- JSON -------------------------------------------------------------------------------------------

local function encode(value)
  if type(value) == "string" then
    return '"' .. value:gsub('[%c"\\]', function(c) return ("\\u%04x"):format(c:byte()) end) .. '"'
  end
  if type(value) ~= "table" then return tostring(value) end
  local parts = {}
  if #value > 0 then
    for i, element in ipairs(value) do parts[i] = encode(element) end
    return "[" .. table.concat(parts, ",") .. "]"
  end
  for key, element in pairs(value) do
    parts[#parts + 1] = encode(key) .. ":" .. encode(element)
  end
  return "{" .. table.concat(parts, ",") .. "}"
end

local function decode(text)
  local literal = { ["true"] = true, ["false"] = false }
  local at = 1
  local value
  local function list(closing, read)
    at = at + 1
    while text:sub(at, at) ~= closing do
      read()
      if text:sub(at, at) == "," then at = at + 1 end
    end
    at = at + 1
  end
  function value()
    local first, result = text:sub(at, at), {}
    if first == "[" then
      list("]", function() result[#result + 1] = value() end)
    elseif first == "{" then
      list("}", function()
        local key = value()
        at = at + 1
        result[key] = value()
      end)
    elseif first == '"' then
      local inside, behind = text:match('^"([^"]*)"()', at)
      at = behind
      return (inside:gsub("\\u(%x+)", function(hex) return string.char(tonumber(hex, 16)) end))
    else
      local word, behind = text:match("^([%w.+-]+)()", at)
      at = behind
      if literal[word] ~= nil then return literal[word] end
      return tonumber(word)
    end
    return result
  end
  return value()
end

-- The two processes ------------------------------------------------------------------------------

local document = { title = "Shopping", items = { { name = "tea" }, { name = "milk" } } }

local function text()
  local names = {}
  for i, item in ipairs(document.items) do
    names[i] = item.name .. (item.done and " (done)" or "")
  end
  return document.title .. ": " .. table.concat(names, ", ")
end

if arg[1] == "receive" then
  for line in io.lines() do
    obs.apply(document, decode(line))
    print("  received: " .. text())
  end
else
  io.stdout:setvbuf "no"
  local program = ("'%s' '%s' receive"):format(arg[-1], arg[0])
  local pipe = assert(io.popen(program, "w"))
  obs.changes(document, function(_, changes)
    pipe:write(encode(changes), "\n")
  end)
  obs.task(function()
    document.items[1].done = true
    table.insert(document.items, { name = "bread" })
    obs.sleep(0)
    document.items[1], document.items[2] = document.items[2], document.items[1]
    obs.sleep(0)
    document.title = "Done"
    document.items = {}
    obs.sleep(0)
    pipe:close()
    print("sent:       " .. text())
  end)
end
