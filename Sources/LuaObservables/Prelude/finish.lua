-- What scripts see of the module: the last slice.
local core, obs = ...

local type = type
local next, outer = core.next, core.outer

-- These functions may be nested deeper than calls from C can be.
local is_nested = { batch = true, scope = true, task = true }

-- Functions in Lua lose the line of a caller that makes a tail call.
local function outward(functions)
  for name, value in next, functions do
    if type(value) == "function" and not is_nested[name] then functions[name] = outer(value) end
  end
end

outward(obs)
for _, class in next, core.classes do outward(class) end

return obs
