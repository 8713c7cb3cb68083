-- Saves only changes, in a log from which the state is restored.

local obs = require "obs"

local log = {}
local game = { level = 1, heroes = { { name = "Ann", hp = 10 }, { name = "Bob", hp = 8 } } }
local start = obs.raw(game)

obs.changes(game, function(_, changes)
  log[#log + 1] = changes
  for _, change in ipairs(changes) do
    print(("%s %s: %s -> %s"):format(change.kind, table.concat(change.path, "."),
      change.old, change.new))
  end
end)

obs.task(function()
  game.heroes[1].hp = 7
  game.level = 2
  obs.sleep(0)
  -- A failed transaction leaves no changes to save.
  obs.transaction({ game }, function()
    game.level = 3
    game.heroes = nil
    error "a bug in the level"
  end)
  obs.sleep(0)
  game.heroes[2].hp = 9
  obs.sleep(0)

  local loaded = start
  for _, changes in ipairs(log) do obs.apply(loaded, changes) end
  print("equal again:", #obs.diff(loaded, game) == 0)
end)
