-- Tables of options, as several functions take them: a slice of the module `obs`.
local core, obs = ...

local next, tostring, type = next, tostring, type
local concat, sort, string_format = table.concat, table.sort, string.format
local bad_argument = core.bad_argument

--- Checks the names of options, and the values of those that `known` calls "boolean"; names in
--- `refused` pass.
function core.check_options(options, number, name, known, refused)
  if options == nil then return {} end
  if type(options) ~= "table" then
    bad_argument(number, name, "table of options expected, got " .. type(options))
  end
  for key, value in next, options do
    if known[key] == "boolean" and type(value) ~= "boolean" then
      bad_argument(number, name, string_format("option '%s' takes a boolean, not a %s", key,
        type(value)))
    end
    if not known[key] and not (refused and refused[key]) then
      local names = {}
      for option in next, known do names[#names + 1] = option end
      sort(names)
      bad_argument(number, name, string_format("unknown option '%s'%s", tostring(key),
        core.hint(key, names, " (there is '" .. concat(names, "', '") .. "')")))
    end
  end
  return options
end

return obs
