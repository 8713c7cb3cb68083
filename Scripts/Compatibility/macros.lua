-- Prints the macros that are gone, which swift-api-digester does not compare (Swift 6.3):
-- macros.lua OLD NEW LABEL
--
-- OLD and NEW are files of public.lua. A macro with other parameters is another one.

local json = require "cjson"

local function macros(node, found)
  if node.declKind == "Macro" then found[node.usr] = node.printedName end
  for _, child in pairs(node) do
    if type(child) == "table" then macros(child, found) end
  end
  return found
end

local function read(path)
  local file <close> = assert(io.open(path))
  return macros(json.decode(file:read "a"), {})
end

local old, new = read(arg[1]), read(arg[2])
local gone = {}
for usr, name in pairs(old) do
  if not new[usr] then gone[#gone + 1] = name end
end
table.sort(gone)
for _, name in ipairs(gone) do print(("%s: Macro %s has been removed"):format(arg[3], name)) end
