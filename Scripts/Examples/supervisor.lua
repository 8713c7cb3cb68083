-- Keeps three processes running. A process that fails is started again, up to three times in all.
local obs = require "obs"
local obsio = require "obs.io"

local workers = {
  { name = "mailer", command = { "sleep", "0.1" } },
  { name = "indexer", command = { "sh", "-c", "exit 7" } },
  { name = "backup", command = { "backup-tool", "--daily" } },
}

local function supervise(worker)
  worker.starts, worker.state = 0, "running"
  repeat
    worker.starts = worker.starts + 1
    local status, message = obsio.run(worker.command)
    if status == nil then
      worker.state = "cannot start: " .. message
      return
    end
    worker.status = status
  until status == 0 or worker.starts == 3
  worker.state = worker.status == 0 and "done" or "given up"
end

-- The tasks keep the list alive: a watcher alone would not.
local all = obs.scope(function()
  for i in ipairs(workers) do
    obs.task(function() supervise(workers[i]) end)
  end
end)

-- Cancelling a task ends its process.
local stopping
stopping = obsio.on_signal("TERM", function()
  all:stop()
  stopping:stop()
end)

obs.observe(workers, "*.state", function()
  for _, worker in ipairs(workers) do
    if worker.state == "running" then return end
  end
  for _, worker in ipairs(workers) do
    print(("%-8s %s, started %d times"):format(worker.name, worker.state, worker.starts))
  end
  stopping:stop()
end)
