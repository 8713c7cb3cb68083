-- A copy of a mirrored tree, for `Replica`.
local obs = require "obs"

local name, url, options = ...

_G.Point = _G.Point or obs.model("Point", { x = 0, y = 0, next = obs.none })
root = options.root or { a = { 1, 2, 3 }, b = { n = 0 } }
options.url, options.root = url, nil
local rejections = 0
options.on_rejected = options.on_rejected or function(change)
  rejections, last_rejected = rejections + 1, change
end
function rejected() return rejections end
mirror = obs.mirror(root, name, options)

-- The kind of a table, as a program can tell it.
function kind_of(t)
  local text = tostring(t)
  return text:match "^obs%.(%a+)" or text:match "^Point"
end

-- The text of the tree, with all sharing, the same for equal trees; without computed properties.
function dump()
  local lines, numbers, count = {}, {}, 0
  local function show(value)
    if type(value) ~= "table" then
      -- 1 and 1.0 are the same value (T5).
      return type(value) == "number" and ("%.17g"):format(value) or ("%q"):format(value)
    end
    if numbers[value] then return "#" .. numbers[value] end
    count = count + 1
    numbers[value] = count
    local keys, kind = {}, kind_of(value)
    for key in pairs(value) do
      if key ~= "sum" then keys[#keys + 1] = key end
    end
    table.sort(keys, function(a, b)
      if type(a) ~= type(b) then return type(a) < type(b) end
      if type(a) == "boolean" then return a and not b end
      return a < b
    end)
    local parts = {}
    for _, key in ipairs(keys) do
      parts[#parts + 1] = ("[%s]=%s"):format(show(key), show(value[key]))
    end
    return (kind or "") .. "{" .. table.concat(parts, ",") .. "}"
  end
  return show(root)
end

function status() return mirror.state, mirror.pending, mirror.version end
