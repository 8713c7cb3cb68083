-- Key paths of the reference: from text to components, and from an object along a path.
--
-- `walk` finds everything that a path passes through. A stored element is heard when it is written
-- (P5). A computed value (a size, an operator or a lazy property) is heard when it has changed (Z4,
-- C9). Nothing is kept between two walks except the anchors of digits (C4).
local folder = debug.getinfo(1, "S").source:match "^@(.*/)"
local combine = dofile(folder .. "../../Support/operators.lua")

return function(M)
  local data, same = M.data, M.same
  -- In place of a key or value: all keys of an object, its size, no value, or an error.
  M.EVERY, M.SIZE, M.NONE, M.FAILED = {"*"}, {"size"}, {"none"}, {"failed"}
  local EVERY, NONE = M.EVERY, M.NONE

  -- The value of a lazy property or of a function, without keeping or reporting anything.
  local function supposed(source)
    local ok, value = M.supposing(source)
    if ok then return value end
    return M.FAILED
  end
  M.supposed = supposed

  -- Parsing -------------------------------------------------------------------------------------

  local function component(text)
    if text == "*" then return {kind = "every", text = text} end
    local slot, digits = text:match "^#(%d+)$", text:match "^%d+$"
    if slot then return {kind = "slot", key = math.tointeger(slot), text = text} end
    if digits then return {kind = "digits", key = math.tointeger(digits), text = text} end
    if text:find "^@" then return {kind = "operator", key = text:sub(2), text = text} end
    if text:find "^&" then return {kind = "member", key = text, text = text} end
    if text:find "^__" then error("a metamethod cannot be observed", 0) end
    return {kind = "name", key = text, text = text}
  end

  -- P1. A path is a list of components; `stop` identifies it by its text.
  function M.parse(path)
    if type(path) == "table" then
      local copy = {text = path.text, identity = path.identity}
      copy.exact, copy.is_of_copy = path.exact, path.is_of_copy
      for i, part in ipairs(path) do copy[i] = part end
      return copy
    end
    local parsed, text = {text = path}, ""
    for escape, plain in (path .. "."):gmatch "(\\?)(.)" do
      if plain == "." and escape == "" then
        parsed[#parsed + 1] = component(text)
        text = ""
      else
        text = text .. plain
      end
    end
    return parsed
  end

  -- `obs.path`: every argument is one key. Different objects have the same spelling, but are
  -- distinct.
  function M.exact_path(...)
    local path, texts, identities = {exact = true}, {}, {}
    for i, key in ipairs {...} do
      path[i] = {kind = "key", key = key}
      local is_name = type(key) == "string" and key:find "^[%a_][%w_]*$" and key ~= "count"
      identities[i] = is_name and key or ("%s %s"):format(type(key), tostring(key))
      texts[i] = type(key) == "table" and "[table]" or identities[i]
      path[i].text = type(key) == "table" and "table" or identities[i]
    end
    path.text, path.identity = table.concat(texts, "."), table.concat(identities, ".")
    return path
  end

  -- Elements and operators ----------------------------------------------------------------------

  -- The elements that operators use, and their number: 1..#t, values, or members.
  function M.elements(object)
    local d, list = data[object], {}
    if d.kind == "dictionary" or d.kind == "set" then
      for i, key in ipairs(M.keys(object)) do list[i] = d.store[key] end
    else
      for i = 1, M.length(object) do list[i] = d.store[i] end
    end
    return list, #list
  end

  -- The values of all stored keys, used by `*` before the rest of a path.
  function M.values(object)
    if data[object].kind then return (M.elements(object)) end
    local list = {}
    for i, key in ipairs(M.keys(object)) do list[i] = data[object].store[key] end
    return list
  end

  -- The whole content of a collection or plain table, for comparisons.
  function M.content(object)
    local content = {keys = M.keys(object), is_set = data[object].kind == "set"}
    for i, key in ipairs(content.keys) do content[i] = data[object].store[key] end
    return content
  end

  local follow
  local MANY = {"many"}

  -- The value of the operator at `i` for one collection; raises an error if it has none.
  local function operate(object, path, i)
    local operator = path[i].key
    local list, count = M.elements(object)
    if operator == "count" then return count end
    if operator == "first" or operator == "last" then
      return follow(list[operator == "first" and 1 or count], path, i + 1, true)
    end
    local values, n = {}, 0
    for k = 1, count do
      local value = list[k]
      if path[i + 1] then value = follow(value, path, i + 1, true) end
      if value == MANY then error("many values", 0) end
      if value ~= nil then
        n = n + 1
        values[n] = value
      end
    end
    return combine(operator, values, n, count, function(value)
      if data[value] then return M.elements(value) end
      return {}, 0
    end)
  end

  M.operate = operate
  function M.is_list(d) return d.kind == "array" or d.kind == "set" end

  -- The single value of a path from `value` on; nil if it is not reachable, MANY inside of
  -- operators.
  function follow(value, path, i, inside)
    for k = i, #path do
      local d, part = data[value], path[k]
      if not d then return nil end
      if part.kind == "operator" then return operate(value, path, k) end
      if part.kind == "every" or part.kind == "name" and M.is_list(d) and part.key ~= "count" then
        if inside then return MANY end
        error("many values", 0)
      end
      if part.kind == "name" and part.key == "count" and d.kind then
        value = select(2, M.elements(value))
      elseif part.kind == "member" then
        value = d.store[part.key]
      else
        value = M.read(value, part.key)
      end
    end
    return value
  end
  M.follow = follow

  -- Whether two computed values are the same; unions are lists.
  function M.same_result(a, b)
    if type(a) ~= "table" or type(b) ~= "table" or data[a] or data[b] then return same(a, b) end
    if #a ~= #b then return false end
    if a.keys then
      local values = {}
      for i, key in ipairs(a.keys) do values[key] = a[i] end
      for i, key in ipairs(b.keys) do if not same(values[key], b[i]) then return false end end
      return true
    end
    for i = 1, #a do
      local found = same(a[i], b[i])
      for k = 1, a.is_distinct and #b or 0 do found = found or same(a[i], b[k]) end
      if not found then return false end
    end
    return true
  end

  -- Walking -------------------------------------------------------------------------------------

  -- Collects everything that a path passes through, beginning at an object:
  --   stored: list of {object, key}, heard when the key is written;
  --   derived: list of {object, step, value, path}, heard when the value changes;
  --   digits: list of {object, step, behind a wildcard?}, where an object may leave its list (C4);
  --   labels: list of {object, text}, as `obs.observed_keys` returns them (W1).
  --
  -- `compute(source, object, step, path)` returns the value of a lazy property or of a function, or
  -- FAILED if it has none. P8: one object at one step is one state, however the path reaches it.
  function M.walk(root, path, compute, out, first)
    out = out or {stored = {}, derived = {}, digits = {}, labels = {}}
    local stored, derived, labels, seen = out.stored, out.derived, out.labels, {}
    local visit
    local is_spread = false

    local function value_of(object, step, source)
      local value = compute(source, object, step, path)
      derived[#derived + 1] = {
        object = object, step = step, value = value, path = path, source = source,
      }
      return value
    end
    local function end_of(object, operator)
      return function()
        local list, count = M.elements(object)
        return list[operator == "first" and 1 or count]
      end
    end
    local function visit_each(list, step)
      local outer = is_spread
      is_spread = true
      for _, element in ipairs(list) do visit(element, step) end
      is_spread = outer
    end

    -- The reads of an operator are observed, but are not separate steps of the path.
    local function visit_operator(object, i, operator)
      local texts = {}
      for k = i, #path do texts[#texts + 1] = path[k].text end
      local is_end = operator == "first" or operator == "last"
      labels[#labels + 1] = {object, is_end and path[i].text or table.concat(texts, "."), i}
      if is_end then
        return visit(value_of(object, i, end_of(object, operator)), i + 1)
      end
      value_of(object, i, function() return M.operate(object, path, i) end)
      if not path[i + 1] then return end
      local inner, below = {stored = {}, derived = {}, digits = {}, labels = labels}, M.parse(path)
      -- A union of collections reads all members of the collections.
      if operator:find "nionOf[AS]" then below[#below + 1] = {kind = "every", text = "*"} end
      for _, element in ipairs((M.elements(object))) do
        M.walk(element, below, supposed, inner, i + 1)
      end
    end

    function visit(object, i)
      local d, part = data[object], path[i]
      if not d or not part then return end
      seen[i] = seen[i] or {}
      if seen[i][object] then return end
      seen[i][object] = true
      local kind, key = part.kind, part.key
      if kind == "operator" then return visit_operator(object, i, key) end
      if kind == "edits" then
        labels[#labels + 1] = {object, "*", i}
        value_of(object, i, function() return M.content(object) end)
      elseif kind == "name" and key == "count" and d.kind then
        labels[#labels + 1] = {object, "count", i}
        value_of(object, i, function() return (select(2, M.elements(object))) end)
      elseif kind == "every" or kind == "name" and M.is_list(d) then
        labels[#labels + 1] = {object, "*", i}
        stored[#stored + 1] = {object, EVERY, not path[i + 1], path = path}
        if kind == "name" then return visit_each(M.elements(object), i) end
        if path[i + 1] then
          -- Lazy properties are passed over, and compared with the plain value when a declaration
          -- ends.
          for _, property in next, d.lazy do property.was_passed = true end
          return visit_each(M.values(object), i + 1)
        end
        -- C13: copies ignore lazy keys.
        if path.is_of_copy then return end
        -- Z3: `*` does not compute invalid properties. Properties that were computed before are
        -- heard from a flush on. The rules leave open whether a property is heard that became
        -- invalid before it came onto this path, or before the next flush.
        path.heard = path.heard or setmetatable({}, {__mode = "k"})
        for name, property in next, d.lazy do
          local since = path.heard[property]
          -- A tracked getter may read elements through an operator. The rules leave open whether it
          -- is valid if the result is the same.
          if property.track and M.depends_on_operator(property) then M.opened() end
          local is_valid = M.is_valid(property) and not property.is_doubtful
          if is_valid then path.heard[property] = since or M.flushes
          elseif property.known and (not since or path.begun and since == M.flushes)
              or property.may_be_known and not property.known then
            M.opened()
          end
          if path.heard[property] then value_of(object, name, property) end
        end
      elseif kind == "digits" and path.anchors and path.anchors[i] then
        local anchor = path.anchors[i][object]
        -- A new list is anchored at the flush; NONE means an empty position.
        if anchor ~= nil and anchor ~= NONE then
          labels[#labels + 1] = {object, tostring(key), i}
        end
        out.digits[#out.digits + 1] = {object, i, is_spread}
        if anchor ~= NONE then visit(anchor, i + 1) end
      elseif d.lazy[key] then
        labels[#labels + 1] = {object, part.text, i}
        local property = d.lazy[key]
        if property.cached then return visit(value_of(object, i, property), i + 1) end
        -- Without a cache, the property announces its dependencies as if they were on the path
        -- (Z3).
        local announced = {stored = {}, derived = {}, digits = {}, labels = {}}
        for _, route in ipairs(property.routes) do
          M.walk(route[1], route[2], compute, announced)
        end
        -- They are reported as changes of the property.
        for _, list in ipairs {"stored", "derived"} do
          for _, entry in ipairs(announced[list]) do
            entry.announced, entry.told = key, path
            table.insert(out[list], entry)
          end
        end
        visit(supposed(property), i + 1)
      else
        labels[#labels + 1] = {object, part.text, i}
        stored[#stored + 1] = {object, key, i, path = path}
        -- Paths do not go through values of an `__index` function.
        visit(M.value_at(object, key), i + 1)
      end
    end
    visit(root, first or 1)
    return out
  end
end
