-- The text of plain data, with the keys in order.
local function text(value)
  if type(value) == "string" then return ("%q"):format(value) end
  if type(value) ~= "table" then return tostring(value) end
  local parts, n = {}, 0
  while value[n + 1] ~= nil do
    n = n + 1
    parts[n] = text(value[n])
  end
  local keys = {}
  for key in pairs(value) do
    if not (math.type(key) == "integer" and key >= 1 and key <= n) then keys[#keys + 1] = key end
  end
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  for _, key in ipairs(keys) do parts[#parts + 1] = tostring(key) .. "=" .. text(value[key]) end
  return "{" .. table.concat(parts, " ") .. "}"
end

return text
