-- X2, X3 and X4 as laws of single trees: what changes, differences and merges do to copies. Each
-- check returns a problem, or nil.
local obs = require "obs"

return function(Objects)
  local contents = Objects.contents
  local kind, copy, difference, plain = contents.kind, contents.copy, contents.difference,
    contents.plain
  local laws = {}

  local function fail(text, ...) error(text:format(...), 0) end
  local function problem_of(check, ...)
    local ok, message = pcall(check, ...)
    return not ok and tostring(message) or nil
  end

  -- The text of plain data, for messages.
  local function text_of(value, depth)
    if type(value) ~= "table" or depth > 5 then return tostring(value) end
    local parts = {}
    for key, inner in next, value do
      parts[#parts + 1] = tostring(key) .. "=" .. text_of(inner, depth + 1)
    end
    table.sort(parts)
    return "{" .. table.concat(parts, " ") .. "}"
  end

  -- Applies changes to a copy of a tree, which must then equal another one.
  local function expect(target, changes, wanted, what)
    local made = copy(target)
    local ok, message = pcall(obs.apply, made, changes)
    local wrong = not ok and message or difference(wanted, made)
    if wrong then fail("%s: %s\n    %s", what, wrong, text_of(changes, 0)) end
  end

  function laws.check_changes(before, after, changes)
    return problem_of(function()
      expect(before, changes, after, "X3: apply(before, changes)")
      expect(after, obs.invert(changes), before, "X3: apply(after, invert(changes))")
    end)
  end

  -- The same data as it comes from JSON: whole numbers are integers. Fails for data that JSON
  -- cannot carry.
  local function through_json(value)
    if math.type(value) == "float" then
      assert(value == value and math.abs(value) < math.huge, "no number of JSON")
      return math.tointeger(value) or value
    elseif type(value) ~= "table" then
      assert(type(value) ~= "function", "no value of JSON")
      return value
    end
    local made, n = {}, 0
    while value[n + 1] ~= nil do
      n = n + 1
      made[n] = through_json(value[n])
    end
    for key, inner in next, value do
      if made[key] == nil then
        assert(n == 0 and type(key) == "string", "no key of JSON")
        made[key] = through_json(inner)
      end
    end
    return made
  end

  local function has_object_keys(changes)
    for _, change in ipairs(changes) do
      for _, key in ipairs(change.path) do if type(key) == "table" then return true end end
    end
    return false
  end

  -- Whether the module treats the objects of a tree and of its copy alike.
  local COPIED = { plain = true, list = true, array = true, set = true, dictionary = true,
    base = true, child = true }
  local function is_common(root)
    for object in next, (contents.reach({ root }, true)) do
      if not COPIED[kind(object)] then return false end
    end
    return true
  end

  function laws.check_diff(before, after)
    if not is_common(before) or not is_common(after) then return nil end
    return problem_of(function()
      local changes = obs.diff(before, after)
      local back = obs.invert(changes)
      expect(before, changes, after, "X4: apply(before, diff)")
      expect(after, back, before, "X4: apply(after, invert(diff))")
      expect(before, obs.invert(back), after, "X4: apply(before, invert(invert(diff)))")
      if not contents.has_object_members(before) and not contents.has_object_members(after) then
        local ok, read = pcall(through_json, changes)
        if ok and not has_object_keys(changes) then
          expect(before, read, after, "X4: changes that went through JSON")
          expect(after, obs.invert(read), before, "X4: the inverse of such changes")
        end
      end
      if #obs.diff(after, (copy(after))) > 0 then fail "X4: a copy differs" end
    end)
  end

  -- Where the tree has a set, replaces the list in `data` by the list that `plain` makes of an
  -- equal set.
  local function normalize(tree, data, seen)
    if seen[tree] then return end
    seen[tree] = true
    if kind(tree) == "set" then
      local set = obs.set_of {}
      for i, value in ipairs(data) do
        set:add(value)
        data[i] = nil
      end
      for i, value in ipairs(plain(set)) do data[i] = value end
      return
    end
    for key, value in next, contents.entries(tree) do
      local other = data[key]
      if type(value) == "table" and type(other) == "table" then normalize(value, other, seen) end
    end
  end

  -- Where a tree lacks something that the data has; nil if it lacks nothing.
  local function lack(tree, data, seen)
    if seen[data] then return end
    seen[data] = true
    for key, value in next, data do
      local own
      if kind(tree) == "set" then own = tree:contains(value) and value else own = tree[key] end
      if type(value) ~= "table" then
        if not contents.same(own, value) then return tostring(key) end
      else
        local inner = type(own) ~= "table" and "" or lack(own, value, seen)
        if inner then return tostring(key) .. "." .. inner end
      end
    end
  end

  -- Merges data, and fails if a second merge of the same data writes.
  local function merge_twice(target, data, options)
    local writes = 0
    local before = (contents.reach({ target }, false))
    obs.merge(target, data, options)
    if contents.has_object_members(target) then return false end
    for object in next, (contents.reach({ target }, false)) do
      if kind(object) ~= "set" or before[object] then
        obs.observe(object, "*", function() writes = writes + 1 end, { immediate = true })
      end
    end
    return true, function()
      obs.merge(target, data, options)
      if writes > 0 then fail "X4: merging the same data again writes" end
    end
  end

  -- The roots that can take any keys.
  local KEYED = { plain = true, list = true }

  -- Merges the content of one tree into a copy of another.
  function laws.check_merge(tree, other)
    if not is_common(tree) or not is_common(other) then return nil end
    if contents.has_object_members(tree) or contents.has_object_members(other) then return nil end
    if not KEYED[kind(tree)] or not KEYED[kind(other)] then return nil end
    return problem_of(function()
      local target, data = (copy(tree)), plain(other)
      local is_plain, again = merge_twice(target, data)
      if is_plain then
        normalize(target, data, {})
        local wrong = difference(plain(target), data)
        if wrong then fail("X4: merge: %s", wrong) end
        local shared = (contents.reach({ data }, false))
        for object in next, (contents.reach({ target }, false)) do
          if shared[object] then fail "X4: merge aliases its data" end
        end
        again()
      end
      target, data = (copy(tree)), plain(other)
      local before = contents.entries(target)
      is_plain, again = merge_twice(target, data, { add_only = true })
      if is_plain then
        for key, value in next, before do
          if data[key] == nil and not contents.same(target[key], value) then
            fail("X4: add_only changes the key %s", tostring(key))
          end
        end
        local missing = lack(target, data, {})
        if missing then fail("X4: add_only leaves out %s", missing) end
        again()
      end
    end)
  end

  -- Copies in a row ------------------------------------------------------------------------------

  -- The copies apply each other's changes, and are equal after each turn that writes to one of
  -- them. In other turns an origin writes before or between the other writes, and a watcher that
  -- skips this origin delivers the rest (X2).

  -- Members of sets that are objects exist in one copy only.
  local function without_members(step)
    local number = step[4]
    return { step[1], step[2], step[3], number - number % 4 }
  end
  local function write(root, step)
    Objects.below(root, Objects.COMMON):write(without_members(step))
  end
  local function check_equal(a, b, what)
    local wrong = difference(a, b)
    if wrong then fail("%s: %s", what, wrong) end
  end

  -- Writes, and undoes it if the step says so.
  local function write_or_not(root, step)
    obs.transaction({ root }, function()
      write(root, step)
      if step[3] % 11 == 0 then error "undone" end
    end)
  end

  -- Applies changes with an origin; with `is_tried`, applies and undoes them once before.
  local function apply(to, changes, origin, is_tried)
    if is_tried then
      obs.transaction({ to }, function()
        obs.apply(to, changes, { origin = origin })
        obs.abort()
      end)
    end
    obs.apply(to, changes, { origin = origin })
  end

  -- Connects copies in a row and returns the watchers.
  local function connect(copies)
    local watchers, deliveries = {}, 0
    for from = 1, #copies do
      for to = from - 1, from + 1, 2 do
        watchers[#watchers + 1] = copies[to] and obs.changes(copies[from],
          function(_, changes, _, delivery)
            deliveries = deliveries + 1
            for _, origin in ipairs(delivery.origins) do
              if origin == to then fail "X2: the origin that is skipped is listed" end
            end
            apply(copies[to], changes, from, deliveries % 3 == 0)
          end, { skip = to })
      end
    end
    return watchers
  end

  -- The changes that the steps make, in a form that applies to the tree.
  local function changes_of(root, steps)
    local made, found = copy(root), {}
    local watcher = obs.changes(made, function(_, changes) found = changes end)
    for _, step in ipairs(steps) do write(made, step) end
    watcher:run()
    watcher:stop()
    return found
  end

  -- A turn in which the origin `x` writes first and other code afterwards. The rest are the changes
  -- that `x` does not know.
  local function check_rest(root, steps)
    local receiver, rest = copy(root), {}
    local watcher = obs.changes(root, function(_, changes) rest = changes end, { skip = "x" })
    local half = #steps // 2
    local changes = changes_of(root, { table.unpack(steps, 1, half) })
    obs.apply(receiver, changes)
    apply(root, changes, "x", #steps % 3 == 0)
    check_equal(plain(root), watcher:snapshot(), "X2: snapshot")
    for i = half + 1, #steps do write_or_not(root, steps[i]) end
    watcher:run()
    obs.apply(receiver, rest)
    check_equal(receiver, root, "X2: the rest")
    for i = 1, #steps do
      if i % 2 == 0 then
        write_or_not(root, steps[i])
      else
        apply(root, changes_of(root, { steps[i] }), "x", i % 3 == 0)
      end
    end
    watcher:run()
    check_equal(plain(root), watcher:snapshot(), "X2: snapshot after a turn of both")
    watcher:stop()
  end

  -- A third of the program makes the tree, a third is written by the copies, and a third by both.
  function laws.check_copies(program)
    local first = Objects.new(false, program, Objects.COMMON)
    local third = #program // 3
    for i = 1, third do first:write(without_members(program[i])) end
    local copies = { first.root, (copy(first.root)), (copy(first.root)) }
    local watchers, failure = connect(copies), nil
    obs.on_error(function(message) failure = failure or tostring(message) end)
    local problem = problem_of(function()
      for i = third + 1, 2 * third do
        write_or_not(copies[i // 3 % #copies + 1], program[i])
        if i % 3 == 2 or i == 2 * third then
          repeat obs.flush() until failure or obs.stats().pending == 0
          if failure then fail("%s", failure) end
          for k = 2, #copies do
            check_equal(copies[1], copies[k], "X2: copies 1 and " .. k)
          end
        end
      end
    end)
    for _, watcher in pairs(watchers) do watcher:stop() end
    obs.on_error(nil)
    return problem or problem_of(check_rest, copies[1], { table.unpack(program, 2 * third + 1) })
  end

  return laws
end
