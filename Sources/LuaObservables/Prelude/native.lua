-- C modules that are left alone: they read and write observed tables raw.
local core, obs = ...

local package, pairs, type = package, pairs, type
local string_format = string.format
local bad_argument = core.bad_argument

-- Whether the name belongs to a Lua module and to no C module.
local function is_in_lua(name)
  if type(package) ~= "table" or type(package.searchpath) ~= "function" then return false end
  local path, cpath = package.path, package.cpath
  if type(path) ~= "string" or type(cpath) ~= "string" then return false end
  return not package.searchpath(name, cpath) and package.searchpath(name, path) ~= nil
end

local function check(name, shown)
  if type(name) ~= "string" then
    bad_argument(1, "native",
      "names of modules expected, as in { luv = false }, got a key of type " .. type(name))
  end
  if type(shown) ~= "boolean" then
    bad_argument(1, "native", string_format(
      "module '%s' takes true (it sees observed tables as scripts do) or false (it is left alone), "
        .. "got %s", name, type(shown)))
  end
  if is_in_lua(name) then
    bad_argument(1, "native", string_format(
      "module '%s' is written in Lua; name the C module that it requires", name))
  end
end

function obs.native(modules)
  if type(modules) ~= "table" then
    bad_argument(1, "native", "table expected, as in { luv = false }, got "
      .. (modules == nil and "no value" or type(modules)))
  end
  -- Check all before setting one.
  for name, shown in pairs(modules) do check(name, shown) end
  for name, shown in pairs(modules) do
    if not core.native(name, shown) then
      bad_argument(1, "native", string_format(
        "this host program always leaves C modules alone, so '%s' cannot be true", name))
    end
  end
end

return obs
