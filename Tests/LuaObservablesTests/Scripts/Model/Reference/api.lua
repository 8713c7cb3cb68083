-- One world of the reference: a separate set of objects, watchers and turns, with the module `obs`
-- and the functions of Lua as a program sees them.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)"
local parts = {}
for i, name in ipairs {"objects", "paths", "lazies", "watchers", "collections"} do
  parts[i] = dofile(folder .. name .. ".lua")
end

-- The callbacks of `told`: `report(error, kind, name)` for errors of callbacks; `needed(property)`
-- before a lazy value is read; `spoiled(property)` when it may have to be computed again;
-- `overridden(property)` when it was assigned; `opened()` when the rules do not decide from here on
-- which changes `*` receives (Z3).
return function(told)
  -- `owner`: the sandbox whose code runs; 0 for the host.
  local M = {scopes = {}, owner = 0}
  for name, f in next, told do M[name] = f end

  -- Runs code of a sandbox.
  function M.as(owner, f, ...)
    local outer = M.owner
    M.owner = owner
    local results = table.pack(f(...))
    M.owner = outer
    return table.unpack(results, 1, results.n)
  end
  -- S5: scripts of the host may manage everything.
  function M.may_manage(registration) return M.owner == 0 or registration.owner == M.owner end
  function M.check_right(property)
    if property and not M.may_manage(property) then error("declared by another script", 0) end
  end
  -- The open scope of the running code, or nil.
  local function scope_of_owner()
    for i = #M.scopes, 1, -1 do
      if M.scopes[i].owner == M.owner then return M.scopes[i] end
    end
  end
  function M.add_to_scope(member)
    local scope = scope_of_owner()
    if scope then scope:add(member) end
  end
  for _, part in ipairs(parts) do part(M) end

  local obs = {
    observe = M.observe, stop = M.stop, path = M.exact_path, batch = M.batch, flush = M.flush,
    invalidate = M.invalidate, forget = M.forget,
    force = M.force, peek = M.peek, array = M.array, dictionary = M.dictionary, set_of = M.set_of,
    clear = M.clear, assign = M.assign, on_observed = M.on_observed,
    observe_edits = M.observe_edits, observe_keys = M.observe_keys,
  }
  function obs.lazy(object, ...)
    if select("#", ...) == 0 then return M.descriptor(object) end
    M.lazy(object, ...)
  end
  function obs.computed(object, name, ...)
    if select("#", ...) == 0 then return M.computed_descriptor(object, name) end
    M.computed_property(object, name, ...)
  end
  obs.model, obs.none, obs.copy_of = M.model, M.UNSET, M.copy_of
  function obs.get(object, path)
    path = M.parse(path)
    M.track_path(object, path)
    local tracer = M.tracer
    M.tracer = nil
    local ok, value = pcall(M.follow, object, path, 1, false)
    M.tracer = tracer
    if not ok then error(value, 0) end
    return value
  end
  function obs.set(object, path, value)
    path = M.parse(path)
    for i = 1, #path - 1 do
      object = M.read(object, path[i].key)
      if not M.data[object] then error("unreachable", 0) end
    end
    M.write(object, path[#path].key, value)
  end
  -- M2: always a change, or one assignment from `previous`.
  function obs.trigger(object, key, ...)
    local forced = select("#", ...) == 0
    M.trigger(object, key, (...), forced)
  end
  function obs.is_valid(object, name)
    local p = M.data[object].lazy[name]
    return p ~= nil and M.is_valid(p)
  end
  function obs.valid_names(object) return M.names_of(object, true) end
  function obs.invalid_names(object) return M.names_of(object, false) end

  -- Copies the keys that changed in the source, once per turn (K4).
  function obs.bind(destination, source, keys)
    local last, paths = {}, {}
    if #keys == 0 then error("no keys", 0) end
    for i, key in ipairs(keys) do
      paths[i] = M.exact_path(key)
      last[key] = M.read(source, key)
      M.write(destination, key, last[key])
    end
    return M.observe(source, paths, function(from, to)
      for _, key in ipairs(keys) do
        local value = M.read(from, key)
        if not M.same(value, last[key]) then
          last[key] = value
          M.write(to, key, value)
        end
      end
    end, {observer = destination, name = "bind"})
  end

  local Scope = {}
  Scope.__index = Scope
  function Scope:add(member)
    if self.is_stopped then member:stop() else self.members[#self.members + 1] = member end
  end
  function Scope:stop()
    local members = self.members
    self.members, self.is_stopped = {}, true
    for i = #members, 1, -1 do members[i]:stop() end
  end
  function obs.scope(body)
    local scope = setmetatable({members = {}, owner = M.owner}, Scope)
    table.insert(M.scopes, scope)
    local ok, message = pcall(body, scope)
    table.remove(M.scopes)
    if not ok then
      scope:stop()
      error(message, 0)
    end
    M.add_to_scope(scope)
    return scope
  end

  function obs.observed_keys(object)
    M.settle_paths()
    local list = {}
    for label in next, M.observed(object) do list[#list + 1] = label end
    return list
  end
  function obs.observer_count(object, key)
    M.settle_paths()
    return M.observed(object)[key] or 0
  end
  function obs.stats() return {watchers = M.watcher_count()} end

  -- Turns: each callback is one.
  local turns = {}
  function M.later(callback) turns[#turns + 1] = {callback = callback} end
  function obs.next_turn(callback)
    local timer = {callback = callback, owner = M.owner}
    function timer:stop() self.is_stopped = true end
    turns[#turns + 1] = timer
    M.add_to_scope(timer)
    return timer
  end
  function M.run_turns()
    while turns[1] do
      local turn = table.remove(turns, 1)
      if not turn.is_stopped then
        local ok, message = M.as(turn.owner or 0, pcall, turn.callback)
        if not ok then M.report(message, "timer", "next_turn") end
        M.end_turn()
      end
    end
  end

  -- Only objects can be observed.
  for _, name in ipairs {"stop", "get", "set", "trigger", "invalidate", "forget",
    "force", "peek", "is_valid", "valid_names", "invalid_names", "clear", "assign", "bind"} do
    local f = obs[name]
    obs[name] = function(object, ...)
      if not M.data[object] then error("an object is expected", 0) end
      return f(object, ...)
    end
  end

  M.obs = obs
  return M
end
