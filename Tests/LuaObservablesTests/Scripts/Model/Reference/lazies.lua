-- Lazy properties of the reference (Z1 …).
--
-- A property knows the value that it computed last, what that depends on, and what computed values
-- it was made of then. Whether it is still right is asked when somebody reads it: everything is
-- compared again.
return function(M)
  local data, same, FAILED = M.data, M.same, M.FAILED

  -- Tracking: what a tracked getter reads.
  function M.track(object, key)
    local tracer = M.tracer
    if not tracer then return end
    if key == M.SIZE then
      tracer.values[#tracer.values + 1] = {source = function() return M.length(object) end, value = M.length(object)}
    else
      tracer.stored[#tracer.stored + 1] = {object, key}
    end
  end

  -- Evaluates without a trace: nothing is kept, counted or reported.
  function M.supposing(source)
    local supposing, tracer = M.is_supposing, M.tracer
    M.is_supposing, M.tracer = true, nil
    local ok, value = pcall(type(source) == "function" and source or M.value_of, source)
    M.is_supposing, M.tracer = supposing, tracer
    return ok, value
  end

  -- The paths that a property depends on, and where they begin.
  local function paths_of(p)
    local list = {}
    for i, dependency in ipairs(p.deps or {}) do
      if type(dependency) == "table" and not dependency.text then
        list[i] = {dependency[1], M.parse(dependency[2])}
      else
        list[i] = {p.object, M.parse(dependency)}
      end
    end
    for _, entry in ipairs(p.tracer and p.tracer.paths or {}) do list[#list + 1] = entry end
    return list
  end

  -- What a property without a cache announces: its dependencies, as if they were on the path itself.
  function M.announced(p, walk)
    for _, entry in ipairs(paths_of(p)) do walk(entry[1], entry[2]) end
  end

  -- The computed values that a property depends on, as they are now; the first error.
  local function values_of(p)
    local values, failure = {}, nil
    local function compute(source)
      local ok, value = pcall(type(source) == "function" and source or M.value_of, source)
      if not ok and not failure then failure = {value} end
      values[#values + 1] = {source = source, value = ok and value or nil, failed = not ok}
      return ok and value or nil
    end
    for _, entry in ipairs(paths_of(p)) do M.walk(entry[1], entry[2], compute) end
    return values, failure
  end

  local function is_same_entry(a, b)
    if a.failed or b.failed then return a.failed == b.failed end
    return M.same_result(a.value, b.value)
  end

  -- Whether the value that is kept is still right. Computes what it depends on, as a read does.
  local function is_fresh(p)
    if not p.valid or p.stale then return false end
    local now = values_of(p)
    for _, entry in ipairs(p.tracer and p.tracer.values or {}) do
      local source = entry.source
      local ok, value = pcall(type(source) == "function" and source or M.value_of, source)
      now[#now + 1] = {value = ok and value or nil, failed = not ok}
    end
    if #now ~= #p.made_of then return false end
    for i, entry in ipairs(now) do
      if not is_same_entry(entry, p.made_of[i]) then return false end
    end
    return true
  end

  local function keep(p, value, made_of)
    p.value, p.valid, p.stale, p.known, p.made_of = value, true, false, true, made_of
  end

  local function compute(p)
    local made_of, failure
    local tracer = M.tracer
    M.tracer = nil
    if not p.track then made_of, failure = values_of(p) end
    if failure then
      M.tracer = tracer
      error(failure[1], 0)
    end
    local own = p.track and {stored = {}, values = {}, paths = {}} or nil
    M.tracer = own
    p.is_running, p.loaded = true, nil
    M.running = M.running + 1
    local ok, value = pcall(p.get, p.object, p.name)
    M.running = M.running - 1
    p.is_running = false
    M.tracer = tracer
    if ok and p.is_loading then value = p.loaded and p.loaded[1] end
    if not M.is_supposing then
      p.runs = p.runs + 1
      if own then p.tracer = own end
      if ok then
        if own then
          made_of = values_of(p)
          for _, entry in ipairs(own.values) do made_of[#made_of + 1] = entry end
        end
        keep(p, value, made_of)
      else
        p.valid = false
      end
    end
    if not ok then error(value, 0) end
    return value
  end

  -- What reading a lazy property gives.
  function M.value_of(p)
    local function value()
      if p.is_running then error("a cycle of computed properties", 0) end
      if not p.cached then return p.get(p.object, p.name) end
      if M.is_supposing and p.is_loading then return p.value end
      if is_fresh(p) then return p.value end
      return compute(p)
    end
    local tracer = M.tracer
    if not tracer then return value() end
    M.tracer = not p.cached and tracer or nil
    local ok, result = pcall(value)
    M.tracer = tracer
    if p.cached then
      tracer.values[#tracer.values + 1] = {source = p, value = ok and result or nil, failed = not ok}
    end
    if not ok then error(result, 0) end
    return result
  end

  -- Valid: reading computes nothing.
  function M.is_valid(p)
    if not p.cached or not p.valid or p.stale then return false end
    for _, entry in ipairs(p.made_of) do
      if type(entry.source) == "function" then
        local ok, value = M.supposing(entry.source)
        if not ok or not M.same_result(value, entry.value) then return false end
      elseif entry.failed or not M.is_valid(entry.source) or not same(entry.source.value, entry.value) then
        return false
      end
    end
    return true
  end

  -- Before changes of an object: a function for after them, which marks what depends on them (Z2).
  function M.dependents(object, changes)
    local hit = {}
    local function note(p, place)
      for i, change in ipairs(changes) do
        if place[1] == object and (place[2] == M.EVERY or rawequal(place[2], change.key)) then
          hit[#hit + 1] = {p, i}
        end
      end
    end
    for _, d in next, data do
      for _, p in next, d.lazy do
        if p.cached and p.valid and not p.stale then
          for _, entry in ipairs(paths_of(p)) do
            for _, place in ipairs(M.walk(entry[1], entry[2], M.supposed).stored) do note(p, place) end
          end
          for _, place in ipairs(p.tracer and p.tracer.stored or {}) do note(p, place) end
        end
      end
    end
    return function()
      for _, entry in ipairs(hit) do
        if not changes[entry[2]].same then
          entry[1].stale = true
          M.spoiled(entry[1])
        end
      end
    end
  end

  -- Declarations ----------------------------------------------------------------------------------

  local function declare(object, name, p)
    local d = data[object]
    if not d.lazy[name] then
      d.names[#d.names + 1] = name
    end
    local before = not d.lazy[name] and M.value_at(object, name)
    p.object, p.name, p.runs = object, name, 0
    M.become_lazy(object, name, before, function()
      d.store[name], d.lazy[name] = nil, p
    end)
  end

  function M.lazy(object, names, options)
    if type(options) == "function" then options = {get = options} end
    options = options or {get = function(self, name)
      local meta = data[self].meta
      local index = meta and rawget(meta, "__index")
      if type(index) == "function" then return index(self, name) end
      return index and M.read(index, name)
    end}
    if type(names) ~= "table" then names = {names} end
    for _, name in ipairs(names) do
      local get = options.get or options.loader
      if options.create then
        get = function(self, key)
          local value = options.create(options.with)
          self[key] = value
          if options.configure then options.configure(self, value, options.with) end
        end
      end
      declare(object, name, {
        get = get, deps = options.deps, track = options.track, readonly = options.readonly,
        cached = options.cached ~= false, is_loading = options.loader or options.create,
        is_created = options.create,
      })
    end
  end
  function M.computed_property(object, name, deps, get)
    if get then M.lazy(object, name, {deps = deps, get = get})
    else M.lazy(object, name, {track = true, get = deps}) end
  end

  -- Z5: assigning.
  function M.override(p, value)
    if p.is_running then
      p.loaded = {value}
      return
    end
    if p.readonly then error("read-only", 0) end
    if not p.cached then error("keeps no value", 0) end
    M.hear(p.object, {}, function()
      if p.is_created and value == nil then
        p.valid, p.value = false, nil
      else
        local _, made_of = M.supposing(function() return (values_of(p)) end)
        keep(p, value, made_of)
        p.is_overridden = true
      end
    end)
  end

  local function properties(object, names)
    local d, list = data[object], {}
    if names == nil then names = table.move(d.names, 1, #d.names, 1, {}) end
    if type(names) ~= "table" then names = {names} end
    for i, name in ipairs(names) do list[i] = d.lazy[name] or {name = name, is_missing = true} end
    return list
  end

  function M.invalidate(object, names)
    for _, p in ipairs(properties(object, names)) do
      if p.is_missing then error("no lazy property", 0) end
      M.hear(object, {}, function()
        p.valid = false
        M.spoiled(p)
      end)
    end
  end
  function M.forget(object, names)
    local d = data[object]
    for _, p in ipairs(properties(object, names)) do
      if not p.is_missing then
        M.become_plain(object, p.name, function()
          d.lazy[p.name] = nil
          for i = #d.names, 1, -1 do if d.names[i] == p.name then table.remove(d.names, i) end end
        end)
      end
    end
  end
  function M.force(object)
    local failure
    for _, p in ipairs(properties(object)) do
      if p.cached then
        local ok, message = pcall(M.value_of, p)
        if not ok and not failure then failure = {message} end
      end
    end
    if failure then error(failure[1], 0) end
  end
  function M.peek(object, name)
    local p = data[object].lazy[name]
    if not p then return M.supposing(function() return M.read(object, name) end) and object[name] end
    return M.is_valid(p) and p.value or nil
  end
  function M.names_of(object, is_valid)
    local names = {}
    for _, p in ipairs(properties(object)) do
      if p.cached and M.is_valid(p) == is_valid then names[#names + 1] = p.name end
    end
    return names
  end
end
