-- Reads the declarations that swift-api-digester found in a module, and prints those of the public
-- API: public.lua FILE
--
-- The digester also lists `package` declarations, and public ones that only serve other targets of
-- this package, which the documentation does not show.

local json = require "cjson"

local function is_public(node)
  if node.isInternal then return false end
  for _, attribute in ipairs(node.declAttributes or {}) do
    if attribute == "Documentation" then return false end
  end
  return true
end

-- Removes declarations in place. Empty lists go, because Lua cannot tell them from empty objects.
local function filter(node)
  for key, value in pairs(node) do
    if type(value) == "table" then
      local kept = {}
      for _, child in ipairs(value) do
        if type(child) ~= "table" then
          kept[#kept + 1] = child
        elseif is_public(child) then
          kept[#kept + 1] = filter(child)
        end
      end
      if #value == 0 then kept = filter(value) end
      node[key] = next(kept) and kept or nil
    end
  end
  return node
end

local file = assert(io.open(arg[1]))
io.write(json.encode(filter(json.decode(file:read "a"))))
