-- Prints the events of `obs.log` as text.
local core, obs = ...

local rawget, tostring, type = rawget, tostring, type
local concat, string_format, string_sub = table.concat, string.format, string.sub

local MOST_TEXT = 60
-- The meaning of an event's place, unless the event happened there.
local places = { call = "registered at", compute = "declared at" }

-- Shows a value without running code of scripts.
local function value_text(value)
  local kind = type(value)
  if kind == "string" then
    local text = string_format("%q", string_sub(value, 1, MOST_TEXT))
    return #value > MOST_TEXT and text .. "…" or text
  end
  if kind == "number" or kind == "boolean" or kind == "nil" then return tostring(value) end
  return string_format("%s: %p", kind, value)
end

--- An event as a sentence.
function core.event_text(event)
  local function field(name)
    local value = rawget(event, name)
    return type(value) == "string" and value or nil
  end
  local key, name, path = field "key", field "name", field "path"
  local words = { field "kind" or "event", key and "'" .. key .. "'" or name }
  if path then words[#words + 1] = "on '" .. path .. "'" end
  if field "object" then words[#words + 1] = "of " .. field "object" end
  local old, new = rawget(event, "old"), rawget(event, "new")
  if old ~= nil or new ~= nil then
    words[#words + 1] = string_format("(%s → %s)", value_text(old), value_text(new))
  end
  if rawget(event, "equal") then words[#words + 1] = "(equal)" end
  if rawget(event, "failed") then words[#words + 1] = "(failed)" end
  if field "site" then
    words[#words + 1] = (places[field "kind"] or "at") .. " " .. field "site"
  end
  return concat(words, " ")
end

return obs
