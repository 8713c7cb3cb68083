-- Random trees for the rules of deep changes: worlds written by programs of numbers, copies of
-- them, and comparisons by content and sharing.
local obs = require "obs"

local worlds = {}

local Point = obs.model("RandomPoint", { x = 0, y = obs.none, link = obs.none })
local Named = obs.model("RandomNamed", { name = "none", tags = obs.none, link = obs.none })

local function array_kind(value) return getmetatable(value) == getmetatable(obs.array {}) end
local function set_kind(value) return getmetatable(value) == getmetatable(obs.set_of {}) end
local function dictionary_kind(value)
  return getmetatable(value) == getmetatable(obs.dictionary {})
end

--- The kind of a table: "array", "set", "dictionary", "point", "named", or "plain".
function worlds.kind(value)
  if array_kind(value) then return "array" end
  if set_kind(value) then return "set" end
  if dictionary_kind(value) then return "dictionary" end
  local meta = getmetatable(value)
  return meta == Point and "point" or meta == Named and "named" or "plain"
end

local makers = {
  plain = function() return {} end,
  array = function() return obs.array {} end,
  set = function() return obs.set_of {} end,
  dictionary = function() return obs.dictionary {} end,
  point = function() return Point {} end,
  named = function() return Named {} end,
}
local kinds = { "plain", "plain", "plain", "array", "array", "dictionary", "set", "point", "named" }
local names = {
  point = { "x", "y", "link" }, named = { "name", "tags", "link" },
}
local keys = { "a", "b", "c", "d", 1, 2, 3, 5, 2.5, true }
local scalars = { 0, 1, 2, 1.5, "x", "y", true, false }

--- A world: a root, and all objects that programs have made.
function worlds.new()
  local root = {}
  return { root = root, objects = { root } }
end

-- The value for a number: nil, a scalar, a new object, or an existing one.
local function value_of(world, number, is_needed)
  local choice, rest = number % 8, number // 8
  if choice == 0 and not is_needed then return nil end
  if choice <= 2 then return scalars[rest % #scalars + 1] end
  if choice <= 5 then
    local object = makers[kinds[rest % #kinds + 1]]()
    world.objects[#world.objects + 1] = object
    return object
  end
  return world.objects[rest % #world.objects + 1]
end

local function length(list)
  local n = 0
  while rawget(list, n + 1) ~= nil do n = n + 1 end
  return n
end

local function has_holes(list)
  local n = length(list)
  for key in next, list do
    if math.type(key) == "integer" and key > n then return true end
  end
  return false
end

--- Performs one step of a program: a write to an object. `only` can exclude objects.
function worlds.step(world, step)
  local objects = world.objects
  local object = objects[step[1] % #objects + 1]
  local kind, choice = worlds.kind(object), step[2]
  local number = step[3]
  if kind == "set" then
    local member = scalars[number % #scalars + 1]
    if number % 16 == 15 then member = objects[choice % #objects + 1] end
    if choice % 2 == 0 then object:add(member) else object:remove(member) end
  elseif kind == "array" then
    local n = #object
    local operation, place = choice % 5, choice // 5
    if operation <= 1 or n == 0 then
      object:insert(place % (n + 1) + 1, value_of(world, number, true))
    elseif operation == 2 then
      object:remove(place % n + 1)
    elseif operation == 3 then
      object:move(place % n + 1, number % n + 1)
    else
      object[place % n + 1] = value_of(world, number, true)
    end
  elseif kind == "plain" and choice % 3 == 0 and not has_holes(object) then
    local n, place = length(object), choice // 3
    if place % 3 == 0 and n > 0 then
      table.remove(object, number % n + 1)
    else
      table.insert(object, place % (n + 1) + 1, value_of(world, number, true))
    end
  else
    local list = names[kind] or keys
    object[list[choice % #list + 1]] = value_of(world, number)
  end
end

--- A random program.
function worlds.program(random, steps)
  local program = {}
  for i = 1, steps do
    program[i] = { random(0, 1 << 20), random(0, 1 << 20), random(0, 1 << 20) }
  end
  return program
end

--- The world after a program.
function worlds.run(program, world)
  world = world or worlds.new()
  for i = 1, #program do worlds.step(world, program[i]) end
  return world
end

-- The entries of an object that lead to other objects. Members of sets are leaves.
local function copy_of(object) return makers[worlds.kind(object)]() end

--- A copy of a tree with the same kinds and the same sharing. Members of sets are not copied.
function worlds.copy(root)
  local copies, work = { [root] = copy_of(root) }, { root }
  local function copied(value)
    if type(value) ~= "table" then return value end
    if not copies[value] then
      copies[value] = copy_of(value)
      work[#work + 1] = value
    end
    return copies[value]
  end
  local i = 1
  while i <= #work do
    local from = work[i]
    local to, kind = copies[from], worlds.kind(from)
    if kind == "set" then
      for member in from:values() do to:add(member) end
    elseif kind == "array" then
      for index = 1, #from do to[index] = copied(from[index]) end
    else
      for _, name in ipairs(names[kind] or {}) do to[name] = nil end
      for key, value in next, from do to[key] = copied(value) end
    end
    i = i + 1
  end
  return copies[root], copies
end

local ranks = { number = 1, string = 2, boolean = 3 }

--- A copy of a tree in which all tables are plain; the members of a set become a list, in order.
function worlds.plain(root)
  local copies, work = { [root] = {} }, { root }
  for _, from in ipairs(work) do
    local to = copies[from]
    local function copied(value)
      if type(value) ~= "table" then return value end
      if not copies[value] then
        copies[value] = {}
        work[#work + 1] = value
      end
      return copies[value]
    end
    if worlds.kind(from) == "set" then
      for member in from:values() do to[#to + 1] = member end
      table.sort(to, function(a, b)
        if type(a) ~= type(b) then return (ranks[type(a)] or 4) < (ranks[type(b)] or 4) end
        if type(a) == "boolean" then return a and not b end
        return tostring(a) < tostring(b)
      end)
    else
      for key, value in next, from do to[key] = copied(value) end
    end
  end
  return copies[root]
end

--- nil if two trees are equal in content and sharing; otherwise the path and the difference.
function worlds.difference(a, b)
  local partner, origin = { [a] = b }, { [b] = a }
  local work = { { a, b, "root" } }
  local i = 1
  while i <= #work do
    local x, y, path = work[i][1], work[i][2], work[i][3]
    i = i + 1
    if worlds.kind(x) ~= worlds.kind(y) then
      return path .. " is " .. worlds.kind(x) .. ", not " .. worlds.kind(y)
    end
    local is_set = worlds.kind(x) == "set"
    for key, value in next, x do
      local other, place = rawget(y, key), path .. "." .. tostring(key)
      if is_set then
        if not y:contains(key) then return place .. " is a member of the first one only" end
      elseif type(value) ~= "table" or type(other) ~= "table" then
        if value ~= other or math.type(value) ~= math.type(other) then
          return string.format("%s is %s, not %s", place, tostring(value), tostring(other))
        end
      elseif partner[value] or origin[other] then
        if partner[value] ~= other or origin[other] ~= value then
          return place .. " is shared otherwise"
        end
      else
        partner[value], origin[other] = other, value
        work[#work + 1] = { value, other, place }
      end
    end
    for key in next, y do
      local is_there
      if is_set then is_there = x:contains(key) else is_there = rawget(x, key) ~= nil end
      if not is_there then return path .. "." .. tostring(key) .. " is in the second one only" end
    end
  end
end

--- Numbers for the objects below a root, the same for equal trees.
function worlds.places(root)
  local places, work = { [root] = 1 }, { root }
  for _, object in ipairs(work) do
    if worlds.kind(object) ~= "set" then
      local found = {}
      for key, value in next, object do
        if type(value) == "table" and not places[value] then found[#found + 1] = key end
      end
      table.sort(found, function(a, b)
        if type(a) ~= type(b) then return type(a) < type(b) end
        return tostring(a) < tostring(b)
      end)
      for _, key in ipairs(found) do
        local value = object[key]
        if not places[value] then
          work[#work + 1] = value
          places[value] = #work
        end
      end
    end
  end
  return places
end

--- Whether a tree has objects in sets. Those objects exist only in this state.
function worlds.has_object_members(root)
  local seen, work = { [root] = true }, { root }
  while #work > 0 do
    local object = table.remove(work)
    if worlds.kind(object) == "set" then
      for member in object:values() do
        if type(member) == "table" then return true end
      end
    else
      for _, value in next, object do
        if type(value) == "table" and not seen[value] then
          seen[value] = true
          work[#work + 1] = value
        end
      end
    end
  end
  return false
end

-- Failures ---------------------------------------------------------------------------------------

--- Removes steps from programs while `check` still finds a problem; returns the programs and the
--- problem.
function worlds.shrunk(programs, check)
  local wrong = check(programs)
  local is_shorter = true
  while is_shorter do
    is_shorter = false
    for number, program in ipairs(programs) do
      local size = math.max(1, #program // 2)
      while size >= 1 do
        local at = 1
        while at <= #program do
          local shorter = {}
          for i, step in ipairs(program) do
            if i < at or i >= at + size then shorter[#shorter + 1] = step end
          end
          local candidate = {}
          for i, other in ipairs(programs) do candidate[i] = i == number and shorter or other end
          local still = check(candidate)
          if still then
            programs, program, wrong, is_shorter = candidate, shorter, still, true
          else
            at = at + size
          end
        end
        size = size // 2
      end
    end
  end
  return programs, wrong
end

--- The text of programs as a Lua expression.
function worlds.text(programs)
  local parts = {}
  for _, program in ipairs(programs) do
    local steps = {}
    for i, step in ipairs(program) do steps[i] = "{" .. table.concat(step, ",") .. "}" end
    parts[#parts + 1] = "{ " .. table.concat(steps, ", ") .. " }"
  end
  return table.concat(parts, "\n")
end

return worlds
