-- Watches the robots, and raises an alarm for each that runs low.
local obs = require "obs"

io.stdout:setvbuf "line"
local fleet = { robots = obs.dictionary {}, alarms = obs.dictionary {} }
local mirror = obs.mirror(fleet, "fleet", { url = arg[1] })

local function check()
  local names = {}
  for name in pairs(fleet.robots) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local robot = fleet.robots[name]
    local is_low = robot.battery < 20
    if is_low and not fleet.alarms[name] then
      fleet.alarms[name] = "battery at " .. robot.battery .. " %"
      print("alarm: " .. name .. " needs help")
    elseif not is_low and fleet.alarms[name] then
      fleet.alarms[name] = nil
      print("alarm: " .. name .. " is well again")
    end
  end
end

obs.task(function()
  mirror:synced()
  print "alarm: live"
  check()
  obs.observe(fleet, "robots.*.battery", check)
end)
