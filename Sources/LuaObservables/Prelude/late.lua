-- Slices that few scripts need: they are compiled when one of their functions is first called.
local core, obs = ...

local error, pcall, setmetatable = error, pcall, setmetatable
local names = { "abort", "apply", "changes", "diff", "history", "invert", "merge", "transaction" }

-- What these slices use of the libraries, read before any script can replace it.
local globals = {
  error = error, getmetatable = getmetatable, ipairs = ipairs, next = next, pairs = pairs,
  pcall = pcall, rawequal = rawequal, rawget = rawget, rawset = rawset,
  setmetatable = setmetatable, tostring = tostring, type = type,
  string = { format = string.format, match = string.match, sub = string.sub },
  table = {
    concat = table.concat, insert = table.insert, move = table.move, pack = table.pack,
    remove = table.remove, sort = table.sort, unpack = table.unpack,
  },
}

-- What the slices define. They find everything else in the module.
local functions, is_loaded = setmetatable({}, { __index = obs }), false

-- Until `transactions.lua` is loaded, no transaction can be open.
function core.witness() end

--- Loads the slices. Where that fails, for want of memory, it is tried again.
function core.load_late()
  if is_loaded then return end
  local known = #core.classes
  local ok, message = pcall(core.run_late, functions, globals)
  if not ok then
    for i = #core.classes, known + 1, -1 do core.classes[i] = nil end
    error(message, 0)
  end
  is_loaded = true
  for i = known + 1, #core.classes do core.outward(core.classes[i].__index) end
end

for i = 1, #names do
  local name = names[i]
  obs[name] = function(...)
    if not is_loaded then core.load_late() end
    return functions[name](...)
  end
end

return obs
