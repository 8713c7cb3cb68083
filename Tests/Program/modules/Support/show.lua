-- Writes values with the keys in order: (name, value).
local function text(value, depth)
  if type(value) ~= "table" then
    return type(value) == "string" and string.format("%q", value) or tostring(value)
  end
  if depth > 6 then return "…" end
  local keys, parts = {}, {}
  for key in pairs(value) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b)
    if type(a) == type(b) then return a < b end
    return type(a) < type(b)
  end)
  for i, key in ipairs(keys) do
    parts[i] = text(key, depth + 1) .. "=" .. text(value[key], depth + 1)
  end
  return "{" .. table.concat(parts, ", ") .. "}"
end

return function(name, ...)
  local parts = table.pack(...)
  for i = 1, parts.n do parts[i] = text(parts[i], 0) end
  print(name, table.concat(parts, "  "))
end
