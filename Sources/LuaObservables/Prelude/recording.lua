-- Recordings of a run (D1–D4): a slice of the module `obs`.
local core, obs = ...

local bad_argument, begin, is_active, stop, raise =
  core.bad_argument, core.begin_recording, core.is_recording, core.stop_recording, core.raise
local next, setmetatable, tostring, type = next, setmetatable, tostring, type

local numbers = setmetatable({}, { __mode = "k" })

local Recording = { __name = "obs.Recording", __metatable = false, __index = {} }
local methods = Recording.__index

function Recording.__newindex() raise "a recording cannot be changed" end

local function number_of(recording, name)
  return numbers[recording] or bad_argument(1, name, "recording expected")
end

--- Ends the recording.
function methods:stop() stop(number_of(self, "stop")) end

--- Whether turns are still recorded.
function methods:is_active() return is_active(number_of(self, "is_active")) end

core.classes[#core.classes + 1] = Recording

local known = { hide = true, last = true, values = true }
local values_of = { [true] = "short", [false] = "none", all = "all" }

function obs.start_recording(path, options)
  if type(path) ~= "string" then
    bad_argument(1, "start_recording", "file name expected, got "
      .. (path == nil and "no value" or type(path)))
  end
  options = core.check_options(options, 2, "start_recording", known)
  local values = options.values
  if values == nil then values = true end
  if values_of[values] == nil then
    bad_argument(2, "start_recording", "option 'values' takes true, false or \"all\", not "
      .. (type(values) == "string" and "\"" .. values .. "\"" or tostring(values)))
  end
  local last = options.last
  if last ~= nil and not (type(last) == "number" and last >= 1 and last <= 2 ^ 53
    and last == last // 1) then
    bad_argument(2, "start_recording", "option 'last' takes a number of turns, not "
      .. tostring(last))
  end
  local hide = options.hide or {}
  if type(hide) ~= "table" then
    bad_argument(2, "start_recording", "option 'hide' takes a list of keys, not " .. type(hide))
  end
  local hidden = {}
  for _, key in next, hide do
    if type(key) ~= "string" then
      bad_argument(2, "start_recording", "option 'hide' takes a list of keys, not of "
        .. type(key) .. "s")
    end
    hidden[#hidden + 1] = key
  end
  local number, message = begin(path, values_of[values], last and last // 1 | 0, hidden)
  if not number then return nil, message end
  local made = setmetatable({}, Recording)
  numbers[made] = number
  return made
end

return obs
