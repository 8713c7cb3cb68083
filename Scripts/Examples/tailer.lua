-- Shows the mean and the slowest of the last requests in a growing log:
-- tail -f access.log | obs-lua tailer.lua
local obs = require "obs"
local obsio = require "obs.io"

local last = { requests = obs.array {} }

-- Called once per turn, however many lines have arrived.
obs.observe(last, { "requests.@avg.ms", "requests.@max.ms" }, function()
  print(("%d requests, mean %.1f ms, slowest %d ms"):format(
    #last.requests, obs.get(last, "requests.@avg.ms"), obs.get(last, "requests.@max.ms")))
end)

obs.task(function()
  for line in obsio.lines() do
    local path, ms = line:match("^GET (%S+) (%d+) ms$")
    if path then
      last.requests:append { path = path, ms = tonumber(ms) }
      if #last.requests > 4 then last.requests:remove(1) end
    else
      io.stderr:write("not a request: ", line, "\n")
    end
  end
  print("the log has ended")
end)
