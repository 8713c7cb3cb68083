-- Lazy properties of the reference (Z1 …).
--
-- A property knows the value that it computed last, the paths that it depends on, and the values
-- computed on these paths. Each read checks all of this again to see whether the value is still
-- right.
return function(M)
  local data, same = M.data, M.same

  -- Tracking: notes a read of a tracked getter.
  function M.track(object, key)
    local tracer = M.tracer
    if not tracer then return end
    if key ~= M.SIZE then
      -- A noted read does not keep the object alive.
      table.insert(tracer.stored, setmetatable({object, key}, {__mode = "v"}))
    else
      local function size() return (select(2, M.elements(object))) end
      table.insert(tracer.values, {source = size, value = size()})
    end
  end
  -- A path that a tracked getter reads counts as a declared path.
  function M.track_path(object, path)
    if M.tracer then table.insert(M.tracer.routes, {object, path}) end
  end

  -- Returns true and the value of a property or operator, or false and the error. A stack overflow
  -- can leave getters anywhere.
  function M.attempt(source)
    local tracer, running = M.tracer, M.running
    local ok, value = pcall(type(source) == "function" and source or M.value_of, source)
    M.tracer, M.running = tracer, running
    return ok, value
  end

  -- Evaluates without side effects: nothing is kept, counted or reported.
  function M.supposing(source)
    local is_supposing, tracer = M.is_supposing, M.tracer
    M.is_supposing, M.tracer = true, nil
    local ok, value = M.attempt(source)
    M.is_supposing, M.tracer = is_supposing, tracer
    return ok, value
  end

  local function evaluated(source)
    local ok, value = M.attempt(source)
    if ok then return {source = source, value = value} end
    return {source = source, failure = {value}}
  end

  -- The current computed values on the paths that a property depends on.
  local function values_of(p, tracer)
    local values = {}
    for _, route in ipairs(tracer and tracer.routes or p.routes) do
      M.walk(route[1], route[2], function(source, object, step, path)
        local entry = evaluated(source)
        entry.object, entry.step, entry.path = object, step, path
        values[#values + 1] = entry
        return entry.value
      end)
    end
    for _, entry in ipairs(tracer and tracer.values or {}) do
      values[#values + 1] = evaluated(entry.source)
    end
    return values
  end

  -- The values on the paths of a property at the time of its computation.
  local function as_made(p)
    return function(source, object, step, path)
      for _, entry in ipairs(p.made_of) do
        if entry.object == object and entry.step == step and entry.path == path then
          return entry.value
        end
      end
      return M.supposed(source)
    end
  end

  -- Whether the kept value is still right. Computes its dependencies, like a read.
  local function is_fresh(p)
    if not p.valid or p.stale then return false end
    local now = values_of(p, p.tracer)
    if p.stale or #now ~= #p.made_of then return false end
    for i, entry in ipairs(now) do
      local before = p.made_of[i]
      if entry.failure or before.failure then
        if not (entry.failure and before.failure) then return false end
      elseif not M.same_result(entry.value, before.value) then
        return false
      end
    end
    return true
  end

  local function each_property(f)
    for _, d in next, data do for _, p in next, d.lazy do f(p) end end
  end

  -- A failed transaction may have made any property invalid; the property keeps its value (S8).
  function M.doubt() each_property(function(p) p.is_doubtful = true end) end

  local function depends_on(q, p)
    for _, entry in ipairs(q.made_of) do
      if entry.source == p then return true end
      if type(entry.source) ~= "function" and depends_on(entry.source, p) then return true end
    end
  end

  -- Z5: an assigned value ends with the next change of something that it depends on, whatever the
  -- values in between.
  local function end_assignments(p)
    each_property(function(q)
      if q.is_assigned and q.valid and not q.stale and depends_on(q, p) then
        q.stale = true
        M.spoiled(q)
      end
    end)
  end

  -- A property has another value: values computed from the old one are stale (Z2).
  local function spread(p)
    each_property(function(q)
      for _, entry in ipairs(q.valid and q.made_of or {}) do
        if entry.source == p and (entry.failure or not same(entry.value, p.value)) then
          q.stale = true
          end_assignments(q)
        end
      end
    end)
  end
  local function keep(p, value, made_of)
    local before, was_known = p.value, p.known
    if was_known then p.renewed = M.flushes end
    p.value, p.valid, p.stale, p.known, p.made_of = value, true, false, true, made_of
    p.is_assigned = false
    if was_known and not same(before, value) then spread(p) end
  end

  local function compute(p)
    local tracer, own = M.tracer, p.track and {stored = {}, values = {}, routes = {}} or nil
    M.tracer, p.is_running, p.loaded = nil, true, nil
    M.running = M.running + 1
    -- Declared dependencies are updated before the getter runs, which gets their errors.
    local made_of = p.track and {} or values_of(p)
    M.tracer = own
    local ok, value = pcall(p.get, p.object, p.name)
    M.running = M.running - 1
    M.tracer, p.is_running = tracer, false
    if ok and p.is_loading then value = p.loaded and p.loaded[1] end
    if not M.is_supposing then
      if own then
        p.tracer = own
        made_of = values_of(p, own)
      end
      p.failed = not ok
      if ok then keep(p, value, made_of) else p.valid = false end
    end
    if not ok then error(value, 0) end
    return value
  end

  local function kept_or_computed(p)
    if p.is_running and p.loaded then return p.loaded[1] end
    if p.is_running then error("a cycle of computed properties", 0) end
    -- A value that a loader or a maker would store cannot be supposed.
    if p.is_checked or M.is_supposing and p.is_loading then return p.value end
    p.is_checked = true
    local fresh = is_fresh(p)
    p.is_checked = false
    if fresh then return p.value end
    return compute(p)
  end

  -- The value that a read of a lazy property returns. A caller that catches an error restores the
  -- tracer.
  function M.value_of(p)
    if not M.is_supposing then
      M.needed(p)
      p.is_doubtful = false
    end
    if not p.cached then
      if p.is_running then error("a cycle of computed properties", 0) end
      p.is_running = true
      local ok, result = pcall(p.get, p.object, p.name)
      p.is_running = false
      if not ok then error(result, 0) end
      return result
    end
    local tracer = M.tracer
    if tracer then table.insert(tracer.values, {source = p}) end
    M.tracer = nil
    local value = kept_or_computed(p)
    M.tracer = tracer
    return value
  end

  -- Valid: reading computes nothing.
  function M.is_valid(p)
    if not p.cached or not p.valid or p.stale then return false end
    for _, entry in ipairs(p.made_of) do
      if type(entry.source) == "function" then
        local ok, value = M.supposing(entry.source)
        if not ok or not M.same_result(value, entry.value) then return false end
      elseif entry.failure or not M.is_valid(entry.source)
        or data[entry.source.object].lazy[entry.source.name] ~= entry.source
        or not same(entry.source.value, entry.value) then
        return false
      end
    end
    return true
  end

  -- Whether a property that is or may be watched is invalid, or was declared, assigned or computed
  -- in this turn: its watchers follow it later (W1).
  function M.is_any_invalid()
    local found = M.has_assigned
    each_property(function(p)
      if p.cached and p.was_watched and (p.renewed == M.flushes or not M.is_valid(p)) then
        found = true
      end
    end)
    return found
  end

  local function depends_on_operator(p)
    for _, entry in ipairs(p.made_of) do
      if type(entry.source) == "function" or depends_on_operator(entry.source) then return true end
    end
    return false
  end

  M.depends_on_operator = depends_on_operator

  -- Whether the rules leave open when a property is valid: a watcher of it, or of a property that
  -- depends on it, may compute it at any time; or it depends on an operator.
  function M.is_open(p)
    local found = p.was_watched
    found = found or depends_on_operator(p)
    -- Its getter has caught a failure, which may be over when the property is read.
    for _, entry in ipairs(p.made_of) do found = found or entry.failure ~= nil end
    each_property(function(q)
      for _, entry in ipairs(q.made_of) do found = found or entry.source == p and M.is_open(q) end
    end)
    return found
  end

  -- Releases a value that no later value will be compared with.
  local function let_go(p)
    local is_compared = p.was_watched or p.was_passed
    each_property(function(q)
      for _, entry in ipairs(q.made_of) do is_compared = is_compared or entry.source == p end
    end)
    if not is_compared then p.value = nil end
  end

  -- Called before changes of an object. Returns a function to call after them, which marks their
  -- dependents as stale (Z2).
  function M.dependents(object, changes)
    local hits = {}
    local function note(p, place)
      for _, change in ipairs(place[1] == object and changes or {}) do
        -- C13: for a copy, lazy keys do not exist.
        local is_heard = not (change.is_without_value and place.path and place.path.is_of_copy)
        if is_heard and (place[2] == M.EVERY or rawequal(place[2], change.key)) then
          hits[#hits + 1] = {p, change}
        end
      end
    end
    if #changes > 0 then
      each_property(function(p)
        if not p.cached or not p.known and not p.valid then return end
        for _, route in ipairs(p.tracer and p.tracer.routes or p.routes) do
          for _, place in ipairs(M.walk(route[1], route[2], as_made(p)).stored) do
            note(p, place)
          end
        end
        for _, place in ipairs(p.tracer and p.tracer.stored or {}) do note(p, place) end
      end)
    end
    return function()
      for _, hit in ipairs(hits) do
        if not hit[2].same then
          hit[1].stale = true
          end_assignments(hit[1])
          let_go(hit[1])
          M.spoiled(hit[1])
        end
      end
    end
  end

  -- Declarations ----------------------------------------------------------------------------------

  -- A key becomes lazy or plain again: watchers are called if its value changes.
  local function convert(object, name, store)
    local is_without_value = data[object].store[name] == nil
    local spoil = M.dependents(object, {{key = name, is_without_value = is_without_value}})
    M.convert(object, name, function()
      store()
      spoil()
    end)
  end

  local function declare(object, name, p)
    local d = data[object]
    M.check_right(d.lazy[name])
    p.object, p.name, p.made_of, p.renewed, p.owner = object, name, {}, M.flushes, M.owner
    for i, dependency in ipairs(p.deps or {}) do
      local is_foreign = type(dependency) == "table" and not dependency.text
      p.routes[i] = is_foreign and {dependency[1], M.parse(dependency[2])}
        or {object, M.parse(dependency)}
    end
    convert(object, name, function()
      if not d.lazy[name] then d.names[#d.names + 1] = name end
      local before = d.lazy[name]
      d.store[name], d.lazy[name] = nil, p
      p.known = before and before.known
      p.value = before and before.value
      M.spoiled(p)
    end)
  end

  local function inherited(self, name)
    local index = M.field(data[self].meta, "__index")
    if type(index) == "function" then return index(self, name) end
    return index and M.read(index, name)
  end

  -- Returns a function that makes properties with the same options.
  function M.compile(options)
    if type(options) == "function" then options = {get = options} end
    options = options or {}
    local get = options.get or options.loader or inherited
    if options.create then
      function get(self, name)
        local value = options.create(options.with)
        self[name] = value
        if options.configure then options.configure(self, value, options.with) end
      end
    end
    return function()
      return {
        get = get, deps = options.deps, track = options.track, readonly = options.readonly,
        cached = options.cached ~= false, is_loading = options.loader or options.create,
        is_created = options.create, routes = {},
      }
    end
  end
  function M.lazy(object, names, options)
    if type(names) ~= "table" then names = {names} end
    local make = M.compile(options)
    for _, name in ipairs(names) do declare(object, name, make()) end
  end
  local function options_of(deps, get)
    return get and {deps = deps, get = get} or {track = true, get = deps}
  end
  function M.computed_property(object, name, deps, get)
    M.lazy(object, name, options_of(deps, get))
  end

  -- Z5: assigning.
  function M.override(p, value)
    if p.is_running then
      p.loaded = {value}
      return
    end
    if p.readonly then error("read-only", 0) end
    if not p.cached then error("keeps no value", 0) end
    if not M.is_valid(p) and not (p.is_created and value == nil) then M.expose(p) end
    M.has_assigned = true
    -- The dependencies are brought up to date; only a run of a tracked getter shows them.
    if not (p.is_created and value == nil) then
      if p.track then M.attempt(p) else values_of(p) end
    end
    M.hear(p.object, {}, function()
      if p.is_created and value == nil then
        p.valid = false
        let_go(p)
        M.spoiled(p)
      else
        keep(p, value, values_of(p, p.tracer))
        p.is_assigned = true
        M.overridden(p)
      end
    end)
  end

  -- The properties with these names, or all without names; `false` for a name that is not lazy.
  local function properties(object, names)
    local d, list = data[object], {}
    if names == nil then names = table.move(d.names, 1, #d.names, 1, {}) end
    if type(names) ~= "table" then names = {names} end
    for i, name in ipairs(names) do list[i] = d.lazy[name] or false end
    return list
  end

  function M.invalidate(object, names)
    for _, p in ipairs(properties(object, names)) do
      if not p then error("no lazy property", 0) end
      M.hear(object, {}, function()
        p.valid = false
        end_assignments(p)
        let_go(p)
        M.spoiled(p)
      end)
    end
  end
  function M.forget(object, names)
    local d = data[object]
    for _, p in ipairs(properties(object, names)) do
      if p then
        M.check_right(p)
        convert(object, p.name, function()
          d.lazy[p.name] = nil
          for i = #d.names, 1, -1 do if d.names[i] == p.name then table.remove(d.names, i) end end
        end)
      end
    end
  end
  function M.force(object)
    local failure
    for _, p in ipairs(properties(object)) do
      local ok, message = true, nil
      if p.cached then ok, message = pcall(M.value_of, p) end
      if not ok and not failure then failure = {message} end
    end
    if failure then error(failure[1], 0) end
  end
  function M.peek(object, name)
    local p = data[object].lazy[name]
    if not p then return M.value_at(object, name) end
    if M.is_valid(p) then return p.value end
  end
  function M.names_of(object, is_valid)
    local names = {}
    for _, p in ipairs(properties(object)) do
      if p.cached and M.is_valid(p) == is_valid then names[#names + 1] = p.name end
    end
    return names
  end

  -- C11: a copy that is made at most once per change.
  function M.copy_of(object, name, source)
    local path = M.parse(source .. ".*")
    path.is_of_copy = true
    M.lazy(object, name, {
      deps = {path}, readonly = true, get = function(self) return M.copy(M.read(self, source)) end,
    })
  end

  -- Models (Z9) -----------------------------------------------------------------------------------

  local Descriptor = {}
  function M.descriptor(options) return setmetatable({make = M.compile(options)}, Descriptor) end
  function M.computed_descriptor(deps, get) return M.descriptor(options_of(deps, get)) end
  M.UNSET = {}

  -- A model is a plain table: methods are inherited, everything else is made for each instance.
  function M.model(_, parent, body)
    if not body then parent, body = nil, parent end
    local class, own = {parts = {}, names = {}}, {}
    for _, name in ipairs(parent and parent.names or {}) do
      class.names[#class.names + 1], class.parts[name] = name, parent.parts[name]
    end
    for name in next, body do own[#own + 1] = name end
    table.sort(own)
    for _, name in ipairs(own) do
      if class.parts[name] == nil then class.names[#class.names + 1] = name end
      class.parts[name] = body[name]
    end
    local function method(_, name)
      return type(class.parts[name]) == "function" and class.parts[name] or nil
    end
    return setmetatable(class, {__call = function(_, fields)
      local object = M.new {}
      local d = data[object]
      d.meta = {__index = method}
      for _, name in ipairs(class.names) do
        local part, value = class.parts[name], fields and fields[name]
        if getmetatable(part) == Descriptor then
          local p = part.make()
          p.object, p.name, p.made_of = object, name, {}
          for i, dependency in ipairs(p.deps or {}) do
            p.routes[i] = {object, M.parse(dependency)}
          end
          d.lazy[name], d.names[#d.names + 1] = p, name
          if value ~= nil then M.override(p, value) else M.spoiled(p) end
        elseif value ~= nil or type(part) ~= "function" and part ~= M.UNSET then
          if value == nil then value = M.copy(part) end
          d.store[name], d.order[#d.order + 1] = value, name
        end
      end
      return object
    end})
  end
end
