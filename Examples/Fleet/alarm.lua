-- Watches the robots, and raises an alarm for each that runs low.
local obs = require "obs"

io.stdout:setvbuf "line"
local fleet = { robots = obs.dictionary {}, alarms = obs.dictionary {} }
local mirror = obs.mirror(fleet, "fleet", { url = arg[1] })

-- Prints the alarm once the other processes can know it, too.
local function say(text)
  obs.task(function()
    mirror:synced()
    print("alarm: " .. text)
  end)
end

local function check()
  local names = {}
  for name in pairs(fleet.robots) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local robot = fleet.robots[name]
    local is_low = robot.battery < 20
    if is_low and not fleet.alarms[name] then
      fleet.alarms[name] = "battery at " .. robot.battery .. " %"
      say(name .. " needs help")
    elseif not is_low and fleet.alarms[name] then
      fleet.alarms[name] = nil
      say(name .. " is well again")
    end
  end
end

obs.task(function()
  mirror:synced()
  print "alarm: live"
  check()
  obs.observe(fleet, "robots.*.battery", check)
end)
