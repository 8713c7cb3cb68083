-- Binding: one object follows keys of another.
local core, obs = ...

local ipairs, pcall, type = ipairs, pcall, type
local bad_argument, check_observed, exact_key, register, same =
  core.bad_argument, core.check_observed, core.exact_key, core.register, core.same
local written = core.written

local function write(object, key, value) object[key] = value end

local function copy(to, from, name, last)
  local value = from[name]
  if same(value, last[name]) then return end
  to[name] = value
  last[name] = value
end

function obs.bind(destination, source, keys)
  check_observed(destination, 1, "bind")
  check_observed(source, 2, "bind")
  if keys == nil then bad_argument(3, "bind", "key or list of keys expected, got no value") end
  if type(keys) ~= "table" then keys = { keys } end
  if #keys == 0 then bad_argument(3, "bind", "the list of keys is empty") end
  local paths, names, last = {}, {}, {}
  for i, key in ipairs(keys) do
    names[i], paths[i] = exact_key(source, key, 3, "bind")
  end
  for _, name in ipairs(names) do
    last[name] = source[name]
    written(pcall(write, destination, name, last[name]))
  end
  paths.kind = "bind"
  return register(source, paths, function(from, to)
    -- Set only keys that changed in the source, so that a local override of another key lasts. A
    -- key that could not be set is tried again with the next change.
    local failed, failure = false, nil
    for _, name in ipairs(names) do
      local ok, message = pcall(copy, to, from, name, last)
      if not ok and not failed then failed, failure = true, message end
    end
    written(not failed, failure)
  end, { observer = destination, name = "bind" })
end

return obs
