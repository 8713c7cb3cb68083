-- The module as scripts see it: the last slice.
local core, obs = ...

local getmetatable, type = getmetatable, type
local classes, next, outer = core.classes, core.next, core.outer

-- These functions can be nested deeper than calls from C.
local is_nested = { batch = true, scope = true, task = true }

-- Functions written in Lua lose the line of a caller that makes a tail call, and drop surplus
-- arguments. `objects`: 1 for methods, otherwise 0.
local function outward(functions, objects)
  for name, value in next, functions do
    if type(value) == "function" and not is_nested[name] then
      functions[name] = outer(value, name, objects)
    end
  end
end

core.outward = outward
outward(obs, 0)
core.note_callers()
for _, class in next, classes do outward(class.__index, 1) end

--- Hides the metatables that scripts share.
function core.hide_metatables()
  local shared = { core.Descriptor, core.Event }
  for _, class in next, classes do shared[#shared + 1] = class end
  for _, collection in next, { obs.array {}, obs.dictionary {}, obs.set_of {} } do
    shared[#shared + 1] = getmetatable(collection)
  end
  for _, metatable in next, shared do metatable.__metatable = metatable.__name end
end

return obs
