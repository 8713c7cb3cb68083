-- The expected state of watchers, computed from plain tables by walking whole paths.
--
-- `lists[table]` distinguishes lists from objects.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)"
local combine = dofile(folder .. "../../Support/operators.lua")
local reference = {lists = setmetatable({}, {__mode = "k"})}
local lists = reference.lists

-- T5: identity for objects, == for the rest, NaN equals NaN.
local function same(a, b) return rawequal(a, b) or a == b or (a ~= a and b ~= b) end
reference.same = same

function reference.split(path)
  local parts = {}
  for part in path:gmatch "[^.]+" do parts[#parts + 1] = part end
  return parts
end

local none = {}

-- The value of an operator with the rest of a path, for one list.
local evaluate

-- The value of a path for one object, below an operator.
local function value_of(object, parts, i)
  if i > #parts or object == nil then return object end
  local part = parts[i]
  if lists[object] then
    if part:sub(1, 1) == "@" then return evaluate(object, parts, i) end
    if part == "count" then return #object end
    error("no single value")
  end
  if type(object) ~= "table" then return nil end
  return value_of(object[part], parts, i + 1)
end

function evaluate(list, parts, i)
  local operator = parts[i]:sub(2)
  if operator == "count" then return #list end
  if operator == "first" then return value_of(list[1], parts, i + 1) end
  if operator == "last" then return value_of(list[#list], parts, i + 1) end
  local values, n = {}, 0
  for k = 1, #list do
    local value = value_of(list[k], parts, i + 1)
    if value ~= nil then
      n = n + 1
      values[n] = value
    end
  end
  return combine(operator, values, n, #list, function(tags) return tags, #tags end)
end

-- Collects the stored elements of a path in `out`, and the operators and sizes in `derived`.
local function walk(value, parts, i, out, derived)
  local part = parts[i]
  if not part or type(value) ~= "table" then return end
  if part:sub(1, 1) == "@" or (part == "count" and lists[value]) then
    derived[#derived + 1] = {list = value, step = i}
    return
  end
  local function note(key, element)
    local n = #out
    out[n + 1], out[n + 2], out[n + 3] = value, key, element == nil and none or element
  end
  if not lists[value] then
    note(part, value[part])
    walk(value[part], parts, i + 1, out, derived)
  elseif part:sub(1, 1) == "#" then
    local k = math.tointeger(part:sub(2))
    note(k, value[k])
    walk(value[k], parts, i + 1, out, derived)
  else
    -- A wildcard, or a name that applies to every element (C8).
    local seen = {}
    for k = 1, #value do
      note(k, value[k])
      if not seen[value[k]] then
        seen[value[k]] = true
        walk(value[k], parts, part == "*" and i + 1 or i, out, derived)
      end
    end
    note("count", #value)
  end
end

-- The state of a path: its stored elements, and the derived values with their lists.
function reference.snapshot(root, parts)
  local stored, derived = {}, {}
  walk(root, parts, 1, stored, derived)
  for _, entry in ipairs(derived) do
    local operator = parts[entry.step]
    if operator == "count" then
      entry.value = #entry.list
    elseif operator == "@first" or operator == "@last" then
      entry.ends = entry.list[operator == "@first" and 1 or #entry.list]
      entry.value = evaluate(entry.list, parts, entry.step)
    else
      entry.value = evaluate(entry.list, parts, entry.step)
      if type(entry.value) == "table" then
        entry.copy = table.move(entry.value, 1, #entry.value, 1, {})
        entry.is_distinct = operator:find "^@distinct" ~= nil
      end
    end
  end
  return {stored = stored, derived = derived}
end

local function same_lists(a, b)
  if #a ~= #b then return false end
  for i = 1, #a do if not same(a[i], b[i]) then return false end end
  return true
end
reference.same_lists = same_lists

function reference.same_stored(a, b) return same_lists(a.stored, b.stored) end

local function counts(list)
  local bag = {}
  for _, value in ipairs(list) do bag[value] = (bag[value] or 0) + 1 end
  return bag
end

local function same_bags(a, b)
  local first, second = counts(a), counts(b)
  for value, n in pairs(first) do if second[value] ~= n then return false end end
  for value, n in pairs(second) do if first[value] ~= n then return false end end
  return true
end

-- Whether a derived value has changed: "yes", "no", or "maybe" if the rules do not decide (the
-- order of a union; an integer and a float that are equal).
function reference.derived_changed(a, b)
  local answer = "no"
  for i, entry in ipairs(a.derived) do
    local other = b.derived[i]
    if not other or other.list ~= entry.list then return "maybe" end
    if entry.copy then
      if not same_bags(entry.copy, other.copy) then return "yes" end
      if not same_lists(entry.copy, other.copy) then answer = "maybe" end
      -- The same values in the same order may come from other lists.
      if not entry.is_distinct then answer = "maybe" end
    elseif not same(entry.value, other.value) or not same(entry.ends, other.ends) then
      return "yes"
    elseif math.type(entry.value) ~= math.type(other.value) then
      answer = "maybe"
    end
  end
  return answer
end

-- The number of single-element insertions, removals and replacements between two lists.
function reference.distance(from, to)
  local row = {}
  for j = 0, #to do row[j] = j end
  for i = 1, #from do
    local diagonal = row[0]
    row[0] = i
    for j = 1, #to do
      local above = row[j]
      if same(from[i], to[j]) then
        row[j] = diagonal
      else
        row[j] = 1 + math.min(diagonal, above, row[j - 1])
      end
      diagonal = above
    end
  end
  return row[#to]
end

return reference
