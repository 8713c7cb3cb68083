-- A small JSON codec, as in other programs: integers stay integers, other numbers are floats,
-- tables with 1..n are arrays.
local json = {}

local function text(value)
  return '"' .. value:gsub('[%c"\\]', function(c) return ("\\u%04x"):format(c:byte()) end) .. '"'
end

function json.encode(value)
  local kind = math.type(value) or type(value)
  if kind == "string" then return text(value) end
  if kind == "float" then return ("%.17g"):format(value):gsub("^(-?%d+)$", "%1.0") .. "" end
  if kind ~= "table" then return tostring(value) end
  local parts = {}
  if value[1] ~= nil then
    while value[#parts + 1] ~= nil do parts[#parts + 1] = json.encode(value[#parts + 1]) end
    for key in pairs(value) do
      if math.type(key) ~= "integer" or key < 1 or key > #parts then error "no list for JSON" end
    end
    return "[" .. table.concat(parts, ",") .. "]"
  end
  for key, entry in pairs(value) do
    if type(key) ~= "string" then error "a key that is no text is no JSON" end
    parts[#parts + 1] = text(key) .. ":" .. json.encode(entry)
  end
  return "{" .. table.concat(parts, ",") .. "}"
end

function json.decode(source)
  local at = 1
  local value
  local function next_char() at = source:find("%S", at) return source:sub(at, at) end
  local readers = {
    ['"'] = function()
      local closing = at
      repeat closing = closing + 1 until source:sub(closing, closing) == '"'
      local result = source:sub(at + 1, closing - 1)
      at = closing + 1
      return (result:gsub("\\u(%x%x%x%x)", function(hex)
        return ("").char(tonumber(hex, 16))
      end))
    end,
    ["["] = function()
      local list = {}
      at = at + 1
      while next_char() ~= "]" do
        list[#list + 1] = value()
        if next_char() == "," then at = at + 1 end
      end
      at = at + 1
      return list
    end,
    ["{"] = function()
      local map = {}
      at = at + 1
      while next_char() ~= "}" do
        local key = value()
        next_char()
        at = at + 1
        map[key] = value()
        if next_char() == "," then at = at + 1 end
      end
      at = at + 1
      return map
    end,
  }
  function value()
    local reader = readers[next_char()]
    if reader then return reader() end
    local word = source:match("^[%w%.%+%-]+", at)
    at = at + #word
    if word == "true" then return true elseif word == "false" then return false end
    return tonumber(word)
  end
  return value()
end

return json
