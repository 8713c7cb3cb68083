-- Properties stored as entries of another object: a slice of the module `obs`.
local core, obs = ...

local ipairs, pcall, type = ipairs, pcall, type
local bad_argument, check_observed, declare, WRITTEN =
  core.bad_argument, core.check_observed, core.declare, core.flags.WRITTEN
local each_name, observed_keys, exact_path = core.each_name, core.observed_keys, core.path
local site = core.site

function obs.backed(target, names, store)
  if type(target) ~= "table" then
    bad_argument(1, "backed", "table expected, got "
      .. (target == nil and "no value" or type(target)))
  end
  names = each_name(target, names, 2, "backed")
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
      write = write, origin = site(), is_heard and { store, exact_path(name) } or nil,
    }, get, WRITTEN)
  end
end

return obs
