-- X1: everything that a path with `**` reaches, found by walking each of its routes.
local obs = require "obs"

return function(contents)
  local kind, entries, is_object = contents.kind, contents.entries, contents.is_object
  local COUNTED = {
    array = true, set = true, dictionary = true, hostset = true, hostarray = true, hostmap = true,
  }
  local SPREAD = { array = true, set = true, hostarray = true, hostset = true }
  local UNORDERED = { set = true, hostset = true }
  local UNNUMBERED = {
    set = true, dictionary = true, host = true, hostset = true, hostmap = true, base = true,
    child = true,
  }

  local function parts_of(path)
    local parts = {}
    for part in path:gmatch "[^.]+" do parts[#parts + 1] = part end
    if parts[#parts] == "**" then parts[#parts + 1] = "*" end
    return parts
  end

  -- The places of a path below an object: each object that `**` reaches, and each key that another
  -- step names, with its value. `name` gives the text of a value.
  return function(root, path, name)
    local parts, places, seen = parts_of(path), {}, {}
    local first_deep
    for i, part in ipairs(parts) do first_deep = first_deep or part == "**" and i end
    local function note(...) places[table.concat({ ... }, " ")] = true end

    local walk
    local function each(object, visit)
      local is_of_members = UNORDERED[kind(object)]
      for key, value in next, entries(object) do
        if is_of_members then visit(key, "a member") else visit(value, key) end
      end
    end
    local steps = {}
    steps["**"] = function(object, at)
      note("deep", at, name(object))
      walk(object, at + 1)
      -- If `**` begins at an opaque object, the object is watched one level deep.
      if kind(object) == "opaque" then return end
      each(object, function(value, key)
        if is_object(value) and not is_object(key) and kind(value) ~= "opaque" then
          walk(value, at)
        end
      end)
    end
    steps["*"] = function(object, at)
      each(object, function(value, key)
        note("value", at, name(object), name(key), name(value))
        walk(value, at + 1)
      end)
    end
    function steps.count(object, at)
      local count = entries(object).count
      if COUNTED[kind(object)] then count = obs.get(object, "count") end
      note("count", at, name(object), name(count))
    end
    steps["#1"] = function(object, at)
      if UNNUMBERED[kind(object)] then return end
      note("slot", at, name(object), name(entries(object)[1]))
    end
    local function step_by_name(object, at)
      if SPREAD[kind(object)] then
        -- Before `**`, a name over a collection applies to its elements (C8).
        if first_deep and at > first_deep then return end
        each(object, function(value, key)
          note("element", at, name(object), name(key), name(value))
          walk(value, at)
        end)
        return
      end
      local value = entries(object)[parts[at]]
      note("key", at, name(object), parts[at], name(value))
      walk(value, at + 1)
    end

    function walk(object, at)
      if not is_object(object) or not parts[at] then return end
      seen[at] = seen[at] or {}
      if seen[at][object] then return end
      seen[at][object] = true;
      (steps[parts[at]] or step_by_name)(object, at)
    end
    walk(root, 1)
    return places
  end
end
