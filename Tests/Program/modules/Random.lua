-- Random programs over tables, by scripts and by C: random.lua FOLDER [seed count]
local raw, json, show = require "rawaccess", require "cjson", require "show"

-- Observation and hashes must not influence the random choices.
local state = tonumber(arg[2] or os.getenv("OBS_SEED")) or 1
local function random(n)
  state = (state * 6364136223846793005 + 1442695040888963407)
  return (state >> 33) % n + 1
end

local names = { "a", "b", "c", "d", "e" }
local function value(depth)
  local kind = random(depth > 0 and 6 or 4)
  if kind == 1 then return random(100) end
  if kind == 2 then return "text" .. random(9) end
  if kind == 3 then return random(2) == 1 end
  if kind == 4 then return random(40) / 4 end
  local t = {}
  if kind == 5 then
    for i = 1, random(5) - 1 do t[i] = value(depth - 1) end
  else
    for _ = 1, random(4) do t[names[random(#names)]] = value(depth - 1) end
  end
  return t
end

-- The tables below `t`, in an order independent of hashes.
local function tables(t, found)
  found[#found + 1] = t
  local keys = {}
  for key, element in pairs(t) do if type(element) == "table" then keys[#keys + 1] = key end end
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  for _, key in ipairs(keys) do tables(t[key], found) end
  return found
end

local function is_list(t)
  if #t == 0 and next(t) ~= nil then return false end
  for key in pairs(t) do if math.type(key) ~= "integer" then return false end end
  return true
end

local operations = {
  function(t) if not is_list(t) then raw.set(t, names[random(#names)], value(1)) end end,
  function(t) if not is_list(t) then raw.set(t, names[random(#names)], nil) end end,
  function(t) if not is_list(t) then t[names[random(#names)]] = value(1) end end,
  function(t) if is_list(t) then raw.seti(t, #t + 1, value(1)) end end,
  function(t) if is_list(t) and #t > 0 then raw.seti(t, #t, nil) end end,
  function(t) if is_list(t) and #t > 0 then raw.seti(t, random(#t), value(0)) end end,
  function(t) if is_list(t) then raw.push_front(t, value(0)) end end,
  function(t) if is_list(t) then raw.fill(t, value(0), value(0), value(0)) end end,
  function(t) if is_list(t) then table.insert(t, random(#t + 1), value(1)) end end,
  function(t) if is_list(t) and #t > 0 then table.remove(t, random(#t)) end end,
  function(t) if is_list(t) and #t > 0 then t[random(#t)] = value(1) end end,
  function(t) O(t) end,
  function(t) if FLUSH then FLUSH() end return t end,
}

local first = state
for seed = first, first + (tonumber(arg[3] or os.getenv("OBS_COUNT")) or 150) - 1 do
  state = seed * 7919
  local root = { list = { 1, 2, 3 }, map = { a = 1 } }
  for _ = 1, random(40) do
    local all = tables(root, {})
    -- Only some tables are observed, at random points.
    if random(3) == 1 then O(all[random(#all)]) end
    operations[random(#operations)](all[random(#all)])
  end
  for i, t in ipairs(tables(root, {})) do
    show(seed .. "." .. i, t, #t, raw.len(t), (raw.all(t)))
  end
  local text = json.encode(root)
  show("json", json.decode(text), #text)
end
