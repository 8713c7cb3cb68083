-- Stock and guests: a key or a member can be watched before it exists.

local obs = require "obs"

local stock, online = obs.dictionary { tea = 3 }, obs.set_of { "Ada" }

obs.observe(stock, "coffee", function() print("coffee", stock.coffee) end)
obs.observe(stock, "count", function() print("sorts", obs.get(stock, "count")) end)
obs.observe_keys(stock, { "tea", "coffee" }, function(key, old, new) print(key, old, new) end)
obs.observe(online, online:key_of "Grace", function()
  print("Grace is there", online:contains "Grace")
end)

stock.coffee = 5       -- a new key
stock.sugar = nil      -- was absent: no call
online:add "Grace"
online:add "Ada"       -- was a member: no call
print(online:key_of "Grace", #online)
