-- The inspector of the running program (V1–V4): a slice of the module `obs`.
local core, obs = ...

local bad_argument, begin, check_options, stop, raise =
  core.bad_argument, core.begin_inspecting, core.check_options, core.stop_inspecting, core.raise
local next, setmetatable, type = next, setmetatable, type

local numbers = setmetatable({}, { __mode = "k" })

local Inspector = { __name = "obs.Inspector", __metatable = false, __index = {} }
local methods = Inspector.__index

function Inspector.__newindex() raise "an inspector cannot be changed" end

--- Ends the inspector: its page is no longer answered.
function methods:stop() stop(numbers[self] or bad_argument(1, "stop", "inspector expected")) end

core.classes[#core.classes + 1] = Inspector

local known = { port = true, roots = true, write = "boolean" }

local function bad_option(name, expected, value)
  bad_argument(1, "inspect",
    "option '" .. name .. "' takes " .. expected .. ", not " .. type(value))
end

function obs.inspect(options)
  options = check_options(options, 1, "inspect", known)
  local port, roots, write = options.port, options.roots, options.write
  if port == nil then port = 0 end
  if type(port) ~= "number" or port ~= port // 1 or port < 0 or port > 65535 then
    bad_argument(1, "inspect", "option 'port' takes a number from 0 to 65535")
  end
  if roots ~= nil and type(roots) ~= "table" then
    bad_option("roots", "a table of objects by name", roots)
  end
  local names, values = {}, {}
  for name, value in next, roots or {} do
    if type(name) ~= "string" then bad_option("roots", "names as keys", name) end
    if type(value) ~= "table" and type(value) ~= "userdata" then
      bad_option("roots", "objects", value)
    end
    names[#names + 1], values[#values + 1] = name, value
  end
  local number, url = begin(port // 1 | 0, write == true, names, values)
  if not number then return nil, url end
  local made = setmetatable({ url = url }, Inspector)
  numbers[made] = number
  return made
end

return obs
