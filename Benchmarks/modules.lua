-- Encodes 10,000 records with cjson, in milliseconds, the best of 20:
-- 
--   lua5.4 modules.lua             plain tables
--   obs-lua modules.lua plain      the same, in a script that does not use `obs`
--   obs-lua modules.lua others     1,000 other tables are observed (M1: at most 1.5 × lua5.4)
--   obs-lua modules.lua list       the list of the records is observed as a whole
--   obs-lua modules.lua records    a key of each record is observed
--   obs-lua modules.lua copied     a key of each record is observed; `obs.raw` copies the list
local json = require "cjson"
local how = arg[1] or "plain"

local records = {}
for i = 1, 10000 do
  records[i] = {
    id = i, name = "record " .. i, price = i / 4, active = i % 2 == 0, tags = { "a", "b" },
  }
end

local encode = json.encode
local others = {}
if how ~= "plain" then
  local obs = require "obs"
  local function ignore() end
  for i = 1, 1000 do
    others[i] = { n = i }
    obs.observe(others[i], "n", ignore)
  end
  if how == "list" then obs.observe(records, "*", ignore) end
  if how == "records" or how == "copied" then obs.observe(records, "*.name", ignore) end
  if how == "copied" then encode = function(t) return json.encode(obs.raw(t)) end end
end

local length = #encode(records)
local best = math.huge
for _ = 1, 20 do
  collectgarbage()
  collectgarbage "stop"
  local start = os.clock()
  assert(#encode(records) == length)
  best = math.min(best, os.clock() - start)
  collectgarbage "restart"
end
print(string.format("%-8s %6.2f ms", how, best * 1000))
