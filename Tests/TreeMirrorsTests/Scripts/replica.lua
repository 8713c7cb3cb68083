-- A copy of a mirrored tree that makes random changes, for `RandomMirrorTests`.
local obs = require "obs"

local seed, name, url, options = ...
options = options or {}

-- Numbers that are the same on every machine.
local function random(n)
  seed = (seed * 6364136223846793005 + 1442695040888963407) & 0x7fffffffffffffff
  return (seed >> 33) % n + 1
end

local Point = obs.model("Point", { x = 0, y = 0, next = obs.none })

root = options.root or { a = { 1, 2, 3 }, b = { n = 0 } }
-- Lists whose elements are only inserted, removed and moved: each is there exactly once, unless a
-- process has removed it (A4).
local lists = options.lists and { {}, {}, obs.array {}, { 1, 2, 3, 4, 1, 2 } }
local made, removed, last_made, is_joined = {}, {}, 0, false
if lists then root.lists = lists end
local has_history, has_watchers = options.history, options.watchers
local first_seed = seed
options.url, options.root, options.history, options.watchers = url, nil, nil, nil
options.lists = nil
local rejections = 0
options.on_rejected = options.on_rejected or function(change)
  rejections, last_rejected = rejections + 1, change
end
function rejected() return rejections end
mirror = obs.mirror(root, name, options)
local history = has_history and obs.history(root)

-- What watchers and computed properties made of the tree.
local seen = {}
local function count(value)
  local n = 0
  for _ in pairs(type(value) == "table" and value or {}) do n = n + 1 end
  return n
end
local function number(value) return type(value) == "number" and value == value and value or 0 end
if has_watchers then
  obs.computed(root, "sum", function(self) return number(self.k1) + number(self[7]) end)
  obs.observe(root, "sum", function(root) seen.sum = root.sum end)
  obs.observe(root, "k2", function(root) root.k3 = root.k2 end)
  seen.a = count(root.a)
  obs.observe(root, "a.*", function(root) seen.a = count(root.a) end)
end

-- What is wrong with what the watchers have seen; the empty text if nothing is.
function wrong()
  if not has_watchers then return "" end
  local wrong = {}
  local function check(name, value, expected)
    if value ~= expected then
      wrong[#wrong + 1] = ("%s is %s, not %s"):format(name, value, expected)
    end
  end
  check("sum", seen.sum or 0, number(root.k1) + number(root[7]))
  check("the number of elements", seen.a, count(root.a))
  return table.concat(wrong, "; ")
end

local function objects()
  local found, seen = { root }, { [root] = true }
  local i = 0
  while i < #found do
    i = i + 1
    local keys = {}
    do
      for key, value in pairs(found[i]) do
        if type(value) == "table" and not seen[value] and value ~= root.lists then
          keys[#keys + 1] = key
        end
      end
    end
    table.sort(keys, function(a, b)
      if type(a) ~= type(b) then return type(a) < type(b) end
      return tostring(a) < tostring(b)
    end)
    for _, key in ipairs(keys) do
      local value = found[i][key]
      if not seen[value] then
        seen[value] = true
        found[#found + 1] = value
      end
    end
  end
  return found
end

local function value(all)
  local kind = random(12)
  if kind <= 3 then return random(5) end
  if kind == 4 then return random(5) / 2 end
  if kind == 5 then return random(2) == 1 end
  if kind == 6 then return "t" .. random(4) end
  if kind == 7 then return all[random(#all)] end
  if kind == 8 then return { random(3), random(3) } end
  if kind == 9 then return { k1 = random(3), k2 = { random(4) } } end
  if kind == 10 then return obs.array { random(4), { n = random(4) } } end
  if kind == 11 then return Point { x = random(9) } end
  return random(2) == 1 and obs.dictionary { k1 = random(9) } or obs.set_of { random(5) }
end

local names = { "k1", "k2", "k3", 0, 7, 2.5, true, "\xff" }

-- The kind of a table, as a program can tell it.
local function kind_of(t)
  local text = tostring(t)
  return text:match "^obs%.(%a+)" or text:match "^Point"
end

local function step()
  local all = objects()
  local t = all[random(#all)]
  local kind = kind_of(t)
  if kind == "Array" then
    local what, n = random(4), #t
    if what == 1 or n == 0 then
      t:insert(random(n + 1), value(all))
    elseif what == 2 then
      t:remove(random(n))
    elseif what == 3 then
      t:move(random(n), random(n))
    else
      t[random(n)] = value(all)
    end
  elseif kind == "Dictionary" then
    t["k" .. random(3)] = random(3) > 1 and value(all) or nil
  elseif kind == "Set" then
    if random(2) == 1 then t:add(random(5)) else t:remove(random(5)) end
  elseif kind == "Point" then
    t[({ "x", "y" })[random(2)]] = random(9)
    if random(3) == 1 then t.next = random(2) == 1 and all[random(#all)] or nil end
  elseif rawlen(t) > 0 and random(4) > 1 then
    local what, n = random(7), #t
    if what == 1 then
      table.insert(t, random(n + 1), value(all))
    elseif what == 2 then
      table.remove(t, random(n))
    elseif what == 3 then
      local moved = table.remove(t, random(n))
      table.insert(t, random(#t + 1), moved)
    elseif what == 4 then
      local i, j = random(n), random(n)
      t[i], t[j] = t[j], t[i]
    elseif what == 5 then
      t[n + 1] = value(all)
    elseif what == 6 then
      t[random(n)] = value(all)
    else
      -- A hole, or a key behind the end.
      if random(2) == 1 then t[random(n)] = nil else t[n + 2] = random(4) end
    end
  else
    t[names[random(#names)]] = random(4) > 1 and value(all) or nil
  end
end

local function any_step()
  local what = random(20)
  if what == 1 then
    obs.transaction({ root }, function()
      step()
      step()
      error "no"
    end)
  elseif what == 2 and history then
    history:undo()
  elseif what == 3 and history then
    history:redo()
  else
    step()
  end
end

-- The elements of the lists, and how often each is there: an object by its name, a value as it is.
local function elements()
  local counts = {}
  for _, list in ipairs(root.lists or {}) do
    for _, element in ipairs(list) do
      local name = type(element) == "table" and element.name or element
      counts[name] = (counts[name] or 0) + 1
    end
  end
  return counts
end

-- Edits of lists and arrays.
local function insert(list, i, element)
  if kind_of(list) then list:insert(i, element) else table.insert(list, i, element) end
end
local function remove(list, i)
  if kind_of(list) then return list:remove(i) end
  return table.remove(list, i)
end

-- The last list has values, which do not leave it.
local function list_step()
  local number = random(4)
  local list = root.lists[number]
  local other = number == 4 and list or root.lists[random(3)]
  local what, n = random(8), #list
  if n == 0 or what == 1 then
    last_made = last_made + 1
    insert(list, random(n + 1),
      number == 4 and random(4) or { name = ("e%d-%d"):format(first_seed, last_made) })
  elseif what == 2 then
    remove(list, random(n))
  elseif what == 3 then
    local i, j = random(n), random(n)
    list[i], list[j] = list[j], list[i]
  elseif what == 4 then
    table.sort(list, function(a, b)
      if number == 4 then return a < b end
      return a.name < b.name
    end)
  elseif what == 5 then
    for i = 1, n // 2 do list[i], list[n + 1 - i] = list[n + 1 - i], list[i] end
  elseif what == 6 and #other > 0 and list ~= other then
    local i, j = random(n), random(#other)
    list[i], other[j] = other[j], list[i]
  else
    local element = remove(list, random(n))
    insert(other, random(#other + 1), element)
  end
end

-- The elements in the lists, or that this process has made or removed, each with its number.
function elements_in(which)
  local parts = {}
  local all = which == "made" and made or which == "removed" and removed or elements()
  for name, n in pairs(all) do parts[#parts + 1] = name .. "=" .. n end
  return table.concat(parts, " ")
end

function act(count)
  is_joined = is_joined or mirror.state == "live"
  local of_lists, before = lists and is_joined and random(3) == 1, elements()
  for _ = 1, count do (of_lists and list_step or any_step)() end
  local after = elements()
  for name, n in pairs(before) do
    removed[name] = (removed[name] or 0) + math.max(0, n - (after[name] or 0))
  end
  -- A value in the place of another one is dropped if that one has gone.
  if not of_lists then return end
  for name in pairs(after) do
    if type(name) == "string" and not before[name] then made[name] = 1 end
  end
end

-- The text of the tree, with all sharing, the same for equal trees; without computed properties.
function dump()
  local lines, numbers, count = {}, {}, 0
  local function show(value)
    if type(value) ~= "table" then
      -- 1 and 1.0 are the same value (T5).
      return type(value) == "number" and ("%.17g"):format(value) or ("%q"):format(value)
    end
    if numbers[value] then return "#" .. numbers[value] end
    count = count + 1
    numbers[value] = count
    local keys, kind = {}, kind_of(value)
    for key in pairs(value) do
      if key ~= "sum" then keys[#keys + 1] = key end
    end
    table.sort(keys, function(a, b)
      if type(a) ~= type(b) then return type(a) < type(b) end
      if type(a) == "boolean" then return a and not b end
      return a < b
    end)
    local parts = {}
    for _, key in ipairs(keys) do
      parts[#parts + 1] = ("[%s]=%s"):format(show(key), show(value[key]))
    end
    return (kind or "") .. "{" .. table.concat(parts, ",") .. "}"
  end
  return show(root)
end

function status() return mirror.state, mirror.pending, mirror.version end
