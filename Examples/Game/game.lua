-- Snake: obs-lua --watch=reload game.lua. Arrow keys turn, n begins again, Ctrl-C ends.
-- If the input is no terminal, each key is a step, and `.` a step straight on.
package.path = (arg[0]:match ".*/" or "./") .. "?.lua;" .. package.path
local obs = require "obs"
local rules = require "rules"

local is_terminal = os.execute "test -t 0"

-- The world outlives reloads of the rules and of this file.
local world = obs.state("world", { width = 20, height = 6 })
if not world.snake then
  math.randomseed(is_terminal and os.time() or 1)
  rules.start(world)
end

----------------------------------------------------------------------------------------------------
-- The display
----------------------------------------------------------------------------------------------------

local function cell(world, x, y)
  if world.apple.x == x and world.apple.y == y then return "\27[31m██\27[0m" end
  if world.snake[1].x == x and world.snake[1].y == y then return "\27[33m██\27[0m" end
  return rules.is_snake(world, x, y) and "\27[32m██\27[0m" or "  "
end

if is_terminal then io.write "\27[2J" end

-- Called once for each step, whatever it has changed.
obs.observe(world, "**", function(world)
  local is_open = rules.walls == "open"
  local side, edge = is_open and "┊" or "│", (is_open and "┄" or "─"):rep(2 * world.width)
  local lines = { "┌" .. edge .. "┐" }
  for y = 1, world.height do
    local cells = {}
    for x = 1, world.width do cells[x] = cell(world, x, y) end
    lines[y + 1] = side .. table.concat(cells) .. side
  end
  table.insert(lines, "└" .. edge .. "┘")
  local note = world.problem or world.is_over and "game over: press n"
  table.insert(lines, "  score " .. world.score .. (note and "  " .. note or ""))
  -- On a terminal from its first line; messages below the picture stay.
  local start, ending = is_terminal and "\27[H" or "", is_terminal and "\27[K\n" or "\n"
  io.write(start, table.concat(lines, ending), ending)
  io.flush()
end, { name = "display", initial = true })

----------------------------------------------------------------------------------------------------
-- The keys and the clock
----------------------------------------------------------------------------------------------------

-- A mistake in the rules leaves the world as it was before the step, and is shown.
local function step()
  if world.is_over then return end
  local is_done, message = obs.transaction({ world }, function() rules.step(world) end)
  world.problem = not is_done and tostring(message) or nil
end

-- The last of the three characters of an arrow key is enough.
local directions = {
  w = "up", a = "left", s = "down", d = "right", A = "up", D = "left", B = "down", C = "right",
}

local input

local function perform(key)
  if key == "n" then
    rules.start(world)
  elseif not key then
    input:stop()
  else
    if directions[key] then rules.turn(world, directions[key]) end
    if not is_terminal then step() end
  end
end

input = obs.on_readable(io.stdin, function(file) perform(file:read(1)) end)

local function tick()
  obs.after(tonumber(rules.delay) or 1, tick)
  step()
end

if is_terminal then
  -- The mode that the user's terminal had before the game, also after a reload of this file.
  local terminal = obs.state "terminal"
  terminal.mode = terminal.mode or io.popen("stty -g"):read()
  os.execute "stty -icanon -echo"
  obs.on_exit(function() os.execute("stty " .. terminal.mode) end)
  tick()
end
