-- Shows the fleet once: the robots by name, with their alarms.
local obs = require "obs"

local fleet = { robots = obs.dictionary {}, alarms = obs.dictionary {} }
local mirror = obs.mirror(fleet, "fleet", { url = arg[1], write = false })

obs.task(function()
  mirror:synced()
  local names = {}
  for name in pairs(fleet.robots) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local robot = fleet.robots[name]
    local alarm = fleet.alarms[name]
    print(("  %s %3d %% %s%s"):format(name, robot.battery, robot.task or "idle",
      alarm and " ! " .. alarm or ""))
  end
  mirror:stop()
end)
