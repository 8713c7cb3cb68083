-- Calls and values for comparing the definitions with the module obs.io. The calls run in a task.

local obsio = require "obs.io"
local samples = { tables = {}, overloads = {} }

local function noop() end

local function stopped(handle)
  handle:stop()
  return handle
end

samples.instances = { ["obs.io.Handle"] = stopped(obsio.on_signal("HUP", noop)) }

function samples.is_of() return false end

samples.calls = {
  ["obs.io.read"] = function() return obsio.read(assert(io.open(arg[0])), "l") end,
  ["obs.io.lines"] = function() return obsio.lines(arg[0]) end,
  ["obs.io.run"] = function() return obsio.run { "echo", "text" } end,
  ["obs.io.get"] = function() return obsio.get "file:///dev/null" end,
  ["obs.io.watch"] = function() return stopped(obsio.watch(arg[0], noop)) end,
  ["obs.io.on_signal"] = function() return stopped(obsio.on_signal("HUP", noop)) end,
  ["obs.io.Handle:stop"] = function() return stopped(obsio.on_signal("HUP", noop)):stop() end,
  ["obs.io.Handle:ref"] = function() return stopped(obsio.on_signal("HUP", noop)):ref() end,
  ["obs.io.Handle:unref"] = function() return stopped(obsio.on_signal("HUP", noop)):unref() end,
}

samples.options = {
  ["obs.io.Command"] = {
    pass = function(options)
      options[1] = "true"
      return obsio.run(options)
    end,
    -- Arguments are not options.
    values = { integer = 1, input = "text", timeout = 10, cwd = "/" },
  },
}

return samples
