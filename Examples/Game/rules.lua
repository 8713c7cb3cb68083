-- The rules of the game. Edit them while it runs: each change applies from the next step on.
local rules = {
  delay = 0.2,      -- Seconds between two steps.
  walls = "solid",  -- Or "open": the snake leaves on one side and comes in on the other.
  growth = 1,       -- By how much an apple makes the snake longer.
}

local moves = { up = { 0, -1 }, down = { 0, 1 }, left = { -1, 0 }, right = { 1, 0 } }

function rules.is_snake(world, x, y)
  for _, part in ipairs(world.snake) do
    if part.x == x and part.y == y then return true end
  end
  return false
end

local function place_apple(world)
  if #world.snake == world.width * world.height then
    world.is_over = true
    return
  end
  repeat
    world.apple = { x = math.random(world.width), y = math.random(world.height) }
  until not rules.is_snake(world, world.apple.x, world.apple.y)
end

function rules.start(world)
  world.snake = { { x = 4, y = 3 }, { x = 3, y = 3 }, { x = 2, y = 3 } }
  world.direction, world.heading = "right", "right"  -- Of the next step, and of the last one.
  world.hunger, world.score, world.is_over = 0, 0, false
  place_apple(world)
end

function rules.turn(world, direction)
  local old, new = moves[world.heading], moves[direction]
  if old[1] + new[1] ~= 0 or old[2] + new[2] ~= 0 then world.direction = direction end
end

function rules.step(world)
  world.heading = world.direction
  local move = moves[world.heading]
  local x, y = world.snake[1].x + move[1], world.snake[1].y + move[2]
  if rules.walls == "open" then
    x, y = (x - 1) % world.width + 1, (y - 1) % world.height + 1
  end
  local is_outside = x < 1 or x > world.width or y < 1 or y > world.height
  if is_outside or rules.is_snake(world, x, y) then
    world.is_over = true
    return
  end
  table.insert(world.snake, 1, { x = x, y = y })
  if x == world.apple.x and y == world.apple.y then
    world.score = world.score + 1
    world.hunger = world.hunger + rules.growth
    place_apple(world)
  end
  if world.hunger > 0 then
    world.hunger = world.hunger - 1
  else
    table.remove(world.snake)
  end
end

return rules
