-- A leaderboard: players come, score and leave; the best score, the average and the order of the
-- table follow. The players are an ordinary Lua list, observed in place.

local obs = require "obs"

local game = { players = {} }

local function say(...) print(string.format(...)) end

local function player(name, score)
  local player = { name = name, score = score }
  table.insert(game.players, player)
  return player
end

-- When one of a million players scores, finding the best score costs O(log n): the other players
-- are not compared again.
obs.observe(game, "players.@max.score", function(game)
  say("best       %s", obs.get(game, "players.@max.score") or "nobody")
end, { name = "best" })

obs.observe(game, "players.@avg.score", function(game)
  local average = obs.get(game, "players.@avg.score")
  if average then say("average    %.1f of %d", average, #game.players) end
end, { name = "average" })

-- Sorts when a score has changed. Sorting changes the list, but no score.
obs.observe(game, "players.*.score", function(game)
  table.sort(game.players, function(a, b) return a.score > b.score end)
end, { name = "order" })

-- '#1' is the first place, whoever holds it. This watcher is called once, after the sort.
obs.observe(game, "players.#1", function(game)
  local leader = game.players[1]
  if leader then say("leader     %s", leader.name) end
end, { name = "leader" })

local ada = player("Ada", 10)
local grace = player("Grace", 12)
player("Alan", 7)

obs.after(0.01, function() ada.score = 20 end)
obs.after(0.02, function() grace.score = 13 end)
obs.after(0.03, function() table.remove(game.players, 1) end)
obs.after(0.04, function() game.players = {} end)
