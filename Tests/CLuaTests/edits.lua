-- Random writes to a list: the reported edits keep a copy equal to it, and a watched element is
-- reported exactly when it has changed.
--
--     driver edits.lua [first seed [last seed]]
local core = require("obs").core
local first, last = tonumber(arg[1] or 1), tonumber(arg[2] or 300)

local function run(seed)
  math.randomseed(seed)
  local random = math.random
  local list, n = {}, random(0, 9)
  for i = 1, n do list[i] = random(4) end
  local watched = {}
  core.watch(list, true, nil, 1)
  for i = 1, random(0, 12) do
    local key = random(12)
    if not watched[key] then
      core.watch(list, false, key, 5)
      watched[key] = true
    end
  end
  core.journal(list, true)
  local mirror, size, told = {}, #list, {}
  for i = 1, size do mirror[i] = list[i] end

  local function insert(at, value)
    table.move(mirror, at, size, at + 1)
    mirror[at] = value
    size = size + 1
  end
  local function remove(at)
    table.move(mirror, at + 1, size, at)
    mirror[size] = nil
    size = size - 1
  end
  -- The border has moved over keys that were written before, or are nil.
  local function settle(length)
    while size > length do remove(size) end
    while size < length do insert(size + 1, rawget(list, size + 1)) end
  end
  core.on_edit(function(t, edit)
    if t ~= list then return end
    if edit.unsettled then return end
    local kind = edit.kind
    if kind == "none" then
      local key = math.tointeger(edit.key)
      if key and key >= 1 and key <= math.min(size, edit.length) then mirror[key] = edit.new end
    elseif kind == "insert" then
      insert(edit.at, edit.element)
    elseif kind == "remove" then
      assert(mirror[edit.at] == edit.element, "removed another element")
      remove(edit.at)
    elseif kind == "range" then
      for i = 1, edit.count do
        local key = edit.at + i - 1
        if key <= size then
          assert(mirror[key] == edit.list[i], "another old value")
          mirror[key] = rawget(list, key)
        end
      end
    elseif kind == "whole" then
      assert(edit.count == size, "another length")
      for i = 1, size do assert(edit.permutation == false or edit.list[i] == mirror[i]) end
      for i = 1, math.max(size, edit.length) do
        mirror[i] = i <= edit.length and rawget(list, i) or nil
      end
      size = edit.length
    else
      error("unexpected " .. kind)
    end
    settle(edit.length)
  end)
  local before = {}
  core.on_written(function(t, key, old, new, slot, every)
    if t == list and slot then
      assert(told[key] == nil or t.busy, "told twice")
      told[key] = true
    end
  end)

  local function attempt(f, ...) return pcall(f, ...) end
  local operations = {
    function() list[random(#list + 2)] = random(4) end,
    function() list[random(#list + 2)] = random(5) > 2 and random(4) or nil end,
    function() list[#list + 1] = random(4) end,
    function() list[#list] = nil end,
    function() list.x = random(3) end,
    function() attempt(table.insert, list, random(4)) end,
    function() attempt(table.insert, list, random(0, #list + 2), random(4)) end,
    function() attempt(table.insert, list, random(1, #list + 1), nil) end,
    function() attempt(table.remove, list) end,
    function() attempt(table.remove, list, random(0, #list + 2)) end,
    function() table.move(list, 1, random(0, #list), random(3)) end,
    function() table.move({1, 2, random(2) == 1 and 3 or nil}, 1, 3, random(#list + 1), list) end,
    function() attempt(table.sort, list) end,
    function()
      local n = 0
      attempt(table.sort, list, function(a, b)
        n = n + 1
        if n == 7 then error("enough") end
        return a < b
      end)
    end,
    function() rawset(list, random(#list + 1), random(4)) end,
  }
  for step = 1, 40 do
    local keys = {}
    for key in pairs(watched) do keys[key] = { rawget(list, key) } end
    told = {}
    local op = random(#operations)
    operations[op]()
    assert(size == #list, ("seed %d step %d: %d elements, not %d"):format(seed, step, size, #list))
    for i = 1, size do
      if mirror[i] ~= rawget(list, i) then
        error(("seed %d step %d at %d"):format(seed, step, i))
      end
    end
    for key, was in pairs(keys) do
      local changed = was[1] ~= rawget(list, key)
      if changed ~= (told[key] or false) then
        error(("seed %d step %d: slot %d told %s"):format(seed, step, key, tostring(told[key])))
      end
    end
  end
  core.journal(list, false)
end

for seed = first, last do run(seed) end
print(last - first + 1 .. " programs")
