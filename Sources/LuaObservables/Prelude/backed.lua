-- Properties stored as entries of another object: a slice of the module `obs`.
local core, obs = ...

local ipairs, pcall, type = ipairs, pcall, type
local bad_argument, check_literal, check_observed, declare, WRITTEN =
  core.bad_argument, core.check_literal, core.check_observed, core.declare, core.flags.WRITTEN
local observed_keys, exact_path = core.observed_keys, core.path

local function names_of(target, names)
  if type(names) == "table" then
    if #names == 0 then bad_argument(2, "backed", "the list of names is empty") end
    for _, name in ipairs(names) do
      if type(name) ~= "string" then
        bad_argument(2, "backed", "list of names expected, got one with a " .. type(name))
      end
      check_literal(target, name, 2, "backed")
    end
    return names
  end
  if type(names) ~= "string" then
    bad_argument(2, "backed", "name or list of names expected, got " ..
      (names == nil and "no value" or type(names)))
  end
  check_literal(target, names, 2, "backed")
  return { names }
end

function obs.backed(target, names, store)
  if type(target) ~= "table" then
    bad_argument(1, "backed", "table expected, got "
      .. (target == nil and "no value" or type(target)))
  end
  names = names_of(target, names)
  check_observed(store, 3, "backed")
  if target == store then bad_argument(3, "backed", "a table cannot be its own store") end
  -- Objects of other libraries can be stores, too, but their changes are not observed.
  local is_heard = type(store) == "table" or pcall(observed_keys, store)
  local function get(_, name) return store[name] end
  local function write(self, name, value)
    store[name] = value
    -- The store may have stored another value, so the next read must ask it.
    core.own.invalidate(self, name)
  end
  for _, name in ipairs(names) do
    declare(target, name, {
      write = write, origin = get, is_heard and { store, exact_path(name) } or nil,
    }, get, WRITTEN)
  end
end

return obs
