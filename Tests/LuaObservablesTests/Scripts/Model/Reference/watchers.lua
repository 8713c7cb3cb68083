-- Watchers of the reference: the effects of a change, a batch and a turn on them.
--
-- There is no wiring: before each change, all paths of all watchers are walked to find who hears
-- it. At the end of a turn, they are walked again for computed values.
return function(M)
  local data, same, supposed = M.data, M.same, M.supposed
  local EVERY, NONE, FAILED = M.EVERY, M.NONE, M.FAILED

  -- id → watcher; ids increase. A watcher belongs to its observed object (L1).
  local watchers = setmetatable({}, {__mode = "v"})
  local count, batch_depth, is_flushing = 0, 0, false
  -- The number of flushes.
  M.flushes = 1
  -- `anchored` keeps objects of pending watchers alive (L2). `ends` has the callbacks for ended
  -- objects, by id.
  local anchored, ends = {}, {}
  -- The number of running callbacks and getters.
  M.running = 0

  local function in_order()
    local list = {}
    for id = 1, count do list[#list + 1] = watchers[id] end
    return list
  end

  -- Calls a function of the script and reports its error.
  local function protected(kind, name, f, ...)
    local tracer = M.tracer
    M.running, M.tracer = M.running + 1, nil
    local ok, result = pcall(f, ...)
    M.running, M.tracer = M.running - 1, tracer
    if not ok then M.report(result, kind, name) end
    return ok, result
  end
  M.protected = protected

  -- Routes: everything that the paths of a watcher pass through -----------------------------------

  -- The value of a lazy property or an operator, or FAILED for an error. The error is reported if
  -- it is new (Z8).
  local function computed(source)
    -- A property under computation is checked later.
    if type(source) == "table" and source.is_running then return FAILED end
    local is_known = type(source) == "table" and source.failed
    local ok, value = M.attempt(source)
    if ok then return value end
    if type(source) == "table" then
      if not is_known then M.report(value, "getter", source.name) end
    else
      M.report(value, "loop")
    end
    return FAILED
  end

  local function derived_of(w, compute)
    local all = {}
    for _, path in ipairs(w.paths) do
      for _, entry in ipairs(M.walk(w.root, path, compute).derived) do
        all[#all + 1] = entry
        if type(entry.source) == "table" then entry.source.was_watched = true end
      end
    end
    return all
  end

  -- The last delivered entry of a value; nil if it was not on the watcher's paths.
  local function delivered(w, object, step, path)
    for _, entry in ipairs(w.base) do
      if entry.object == object and entry.step == step and entry.path == path then return entry end
    end
  end

  -- The last delivered values of a watcher. It hears changes behind them: if one of them has
  -- changed at the end of the turn, the watcher is called anyway.
  local function as_delivered(w)
    return function(source, object, step, path)
      local entry, part = delivered(w, object, step, path), path[step]
      -- Immediate watchers follow the first and last element at once, even if they are not called
      -- at once.
      local is_followed = w.immediate and part and (part.key == "first" or part.key == "last")
      if entry and not is_followed then return entry.value end
      return supposed(source)
    end
  end

  -- The first value of a watcher that differs from the last delivered one (Z4, Z8), as a change,
  -- and all values. A failed value counts as unchanged. `only` restricts the comparison to one
  -- path. `others` lists further differences on the same path: the rules leave open which one is
  -- reported.
  local function difference(w, compute, only)
    local now, change = derived_of(w, compute), nil
    for _, entry in ipairs(now) do
      local before = delivered(w, entry.object, entry.step, entry.path)
      if entry.value == FAILED then
        if before then entry.value = before.value end
      elseif only and entry.path ~= only then
        -- The other paths are compared when the watcher's turn comes.
      elseif before and not M.same_result(before.value, entry.value) then
        local part, path = entry.path[entry.step], entry.told or entry.path
        local old, new = before.value, entry.value
        if old == FAILED or old == NONE then old = nil end
        if entry.announced then old, new = nil, nil end
        local key = entry.announced or part and part.key or entry.step
        change = change or {path = path, key = key, old = old, new = new, paths = {}, others = {}}
        table.insert(change.paths, path.text)
        if path == change.path then
          table.insert(change.others, {key = key, old = old, new = new})
        end
      end
    end
    return change, now
  end

  -- Whether the first or last element of a list in the middle of a path differs from the delivered
  -- one: its watcher follows it in the flush.
  function M.is_any_end_moved()
    for _, w in next, watchers do
      for _, entry in ipairs(derived_of(w, supposed)) do
        local part = entry.path[entry.step]
        local before = delivered(w, entry.object, entry.step, entry.path)
        if part and (part.key == "first" or part.key == "last") and before
            and not M.same_result(before.value, entry.value) then
          return true
        end
      end
    end
    return false
  end

  function M.is_any_failed()
    for _, w in ipairs(in_order()) do
      for _, entry in ipairs(derived_of(w, supposed)) do
        if entry.value == FAILED then return true end
      end
    end
    return false
  end

  -- Values that came onto a watcher's paths without a change count as delivered from now on.
  local function remember(w, entries)
    for _, entry in ipairs(entries) do
      if not delivered(w, entry.object, entry.step, entry.path) then w.base[#w.base + 1] = entry end
    end
  end

  -- Values that came onto a watcher's paths are computed, and count as delivered from now on.
  local function compute_new(w)
    remember(w, derived_of(w, function(source, object, step, path)
      return (delivered(w, object, step, path) and supposed or computed)(source)
    end))
  end

  -- Anchors (C4) ----------------------------------------------------------------------------------

  -- Forgets the lists that a step of a path no longer reaches. Another step may still reach them.
  local function keep_anchors(path, reached)
    local kept = {}
    for step in next, path.anchors do kept[step] = {} end
    for _, place in ipairs(reached) do kept[place[2]][place[1]] = true end
    for step, anchors in next, path.anchors do
      for list in next, anchors do if not kept[step][list] then anchors[list] = nil end end
    end
  end

  -- Whether only names and digits come before a step.
  local function is_single(path, step)
    for i = 1, step - 1 do
      if path[i].kind ~= "name" and path[i].kind ~= "digits" then return false end
    end
    return true
  end

  -- Notes the objects through which a path reaches its lists; calls `change` for a list that it
  -- reached through other objects before.
  local function note_routes(w, path, change)
    if not path.anchors then return end
    local route = M.walk(w.root, path, supposed)
    for _, place in ipairs(route.digits) do
      if is_single(path, place[2]) then
        local chain = {}
        for _, label in ipairs(route.labels) do
          if label[3] < place[2] then chain[#chain + 1] = label[1] end
        end
        local known = path.chains and path.chains[place[2]]
        local is_same = known and #known == #chain
        for i = 1, is_same and #chain or 0 do is_same = is_same and known[i] == chain[i] end
        if known and not is_same and change then change(place) end
        path.chains = path.chains or {}
        path.chains[place[2]] = setmetatable(chain, {__mode = "v"})
      end
    end
  end

  -- A list that a path reaches through other objects now, not through `*`, is anchored again (P6).
  local function follow_routes(w, path)
    note_routes(w, path, function(place) path.anchors[place[2]][place[1]] = nil end)
  end

  -- Anchors a path on the current elements of its lists, and forgets the lists that it left. Each
  -- anchor can make another list reachable.
  local function anchor(w, path)
    local known
    repeat
      known = true
      local reached = M.walk(w.root, path, supposed).digits
      for _, place in ipairs(reached) do
        local list, anchors, n = place[1], path.anchors[place[2]], path[place[2]].key
        if anchors[list] == nil then
          local element = n <= M.length(list) and data[list].store[n] or nil
          anchors[list], known = element == nil and NONE or element, false
        end
      end
      keep_anchors(path, reached)
    until known
    note_routes(w, path)
  end

  -- An immediate watcher follows each replacement at once, and any watcher follows when a script
  -- queries the observed keys. A list that leaves its path and returns before the flush then counts
  -- as new.
  local function follow_at_once(w)
    for _, path in ipairs(w.paths) do
      if path.anchors then keep_anchors(path, M.walk(w.root, path, supposed).digits) end
      follow_routes(w, path)
    end
  end

  local function holds(list, element)
    for _, other in ipairs((M.elements(list))) do if same(other, element) then return true end end
    return false
  end

  -- Whether an anchor of a path has left its list.
  local function has_left(w, path)
    for _, place in ipairs(M.walk(w.root, path, supposed).digits) do
      local element = path.anchors[place[2]][place[1]]
      if element ~= nil and element ~= NONE and not holds(place[1], element) then return true end
    end
    return false
  end

  -- Digits that are not a position of a plain table are a key, or an error (P2).
  local function set_anchors(w, path)
    for i, part in ipairs(path) do
      if part.kind == "digits" then
        path.anchors = path.anchors or {}
        path.anchors[i] = setmetatable({}, {__mode = "k"})
      end
    end
    -- Each anchor can make another list reachable, which is then handled in the same way.
    local is_known
    repeat
      is_known = true
      for _, place in ipairs(path.anchors and M.walk(w.root, path, supposed).digits or {}) do
        local list, anchors, key = place[1], path.anchors[place[2]], path[place[2]].key
        if anchors and anchors[list] == nil then
          local element = key <= M.length(list) and data[list].store[key] or nil
          if element ~= nil or place[3] then
            anchors[list] = element == nil and NONE or element
          elseif data[list].kind or data[list].store[key] == nil then
            error("nothing at " .. key, 0)
          else
            path.anchors[place[2]] = nil
          end
          is_known = false
        end
      end
    until is_known
    if path.anchors and not next(path.anchors) then path.anchors = nil end
    follow_routes(w, path)
  end

  -- Registration and end --------------------------------------------------------------------------

  local function finish(w)
    watchers[w.id], anchored[w], ends[w.id] = nil, nil, nil
    local owned = data[w.root].watchers
    for i = #owned, 1, -1 do if owned[i] == w then table.remove(owned, i) end end
  end

  -- Whether a watcher is still active; it ends with its observer (L3).
  local function is_active(w)
    if watchers[w.id] ~= w then return false end
    if not w.has_observer or w.observer[1] ~= nil then return true end
    finish(w)
    return false
  end

  local function add_path(w, path)
    path = M.parse(path)
    set_anchors(w, path)
    path.held = {}
    for i, part in ipairs(path) do
      path.held[i] = part.kind == "member" and M.object_of_key(part.key)
    end
    -- A write during the computation of its values is not a change for the new path.
    local values = M.walk(w.root, path, computed).derived
    for property in next, path.heard or {} do path.heard[property] = 0 end
    w.paths[#w.paths + 1], path.begun = path, true
    remember(w, values)
  end

  function M.observe(root, paths, callback, options)
    if not data[root] then error("an object is expected", 0) end
    options = options or {}
    if type(paths) == "string" or paths.text then paths = {paths} end
    local w = {
      id = count + 1, root = root, paths = {}, base = {}, again = {}, callback = callback,
      immediate = options.immediate, once = options.once, equals = options.equals,
      name = options.name, due = options.initial, has_observer = options.observer ~= nil,
      owner = M.owner, observer = setmetatable({options.observer}, {__mode = "v"}),
    }
    for _, path in ipairs(paths) do add_path(w, path) end
    count, watchers[w.id] = w.id, w
    table.insert(data[root].watchers, w)
    if w.due then anchored[w] = true end
    if options.on_end then ends[w.id] = {options.on_end, w.paths[1].text} end
    local handle = setmetatable({id = w.id}, M.Handle)
    M.add_to_scope(handle)
    return handle, w
  end

  -- A value that a loader or a maker would store cannot be supposed.
  local function open_loaders(source)
    if type(source) == "table" and source.is_loading and not M.is_valid(source) then M.opened() end
    return supposed(source)
  end

  -- Removes a path from a watcher. A call that this path made pending stays pending while the
  -- watcher has other paths (L5).
  local function remove_path(w, path)
    local change = difference(w, #w.paths > 1 and open_loaders or supposed, path)
    if change and w.immediate then w.saved = w.saved or change elseif change then w.due = true end
    for i = #w.paths, 1, -1 do if w.paths[i] == path then table.remove(w.paths, i) end end
    if #w.paths == 0 then finish(w) end
  end

  -- L5: returns the number of ended pairs of watcher and path.
  function M.stop(root, filter)
    if type(filter) ~= "table" or filter.text or #filter > 0 then filter = {path = filter} end
    local texts = filter.path
    if type(texts) == "string" or texts and texts.text then texts = {texts} end
    local function identity(path)
      return type(path) == "table" and (path.identity or path.text) or path
    end
    local function is_meant(path)
      if not texts then return true end
      for _, other in ipairs(texts) do if identity(path) == identity(other) then return true end end
    end
    local stopped = 0
    for _, w in ipairs(in_order()) do
      if w.root == root and M.may_manage(w)
          and (not filter.callback or w.callback == filter.callback)
          and (not filter.observer or w.has_observer and w.observer[1] == filter.observer) then
        for i = #w.paths, 1, -1 do
          if is_meant(w.paths[i]) then
            stopped = stopped + 1
            remove_path(w, w.paths[i])
          end
        end
      end
    end
    return stopped
  end

  -- Calls -----------------------------------------------------------------------------------------

  local function deliver(w, change)
    anchored[w], w.is_running = nil, true
    local told = change and {
      path = change.path.text, key = change.key, old = change.old, new = change.new,
      paths = change.paths, others = change.others, is_open = change.is_open,
    }
    local kind = w.immediate and change and "immediate" or "watcher"
    M.as(w.owner, protected, kind, w.name, w.callback, w.root, w.observer[1], told)
    w.is_running = false
    if w.once and not w.is_idle and watchers[w.id] == w then finish(w) end
  end

  -- T9: calls now, and again after the return for changes that it made itself.
  local function call(w, change)
    repeat
      if not is_active(w) then return end
      if w.paused then
        w.saved = w.saved or change
        return
      end
      if w.is_running then
        table.insert(w.again, change)
        return
      end
      deliver(w, change)
      change = table.remove(w.again, 1)
    until not change
  end

  local function call_immediate(w, change)
    if not w.paused and batch_depth == 0 then return call(w, change) end
    -- The rules leave open which of several keys is changed first.
    if M.is_in_bulk then change.is_open = true end
    w.saved = w.saved or change
    if not w.paused then anchored[w] = true end
  end

  -- Makes the calls of a list of {watcher, make}, in order. Before a watcher receives a newer
  -- change, it receives its changes from unfinished lists, or from the end of a batch.
  local lists = {}
  local function make_calls_of(w)
    for i = batch_depth > 0 and #lists or 1, #lists do
      for _, due in ipairs(lists[i]) do
        if due[1] == w and due[2] then
          local tell = due[2]
          due[2] = nil
          if watchers[w.id] == w then tell() end
        end
      end
    end
  end
  local function make(list)
    table.insert(lists, list)
    for _, entry in ipairs(list) do make_calls_of(entry[1]) end
    table.remove(lists)
  end

  -- The changes of an object on a watcher's paths: changes of a key before changes of all keys.
  local function heard_by(w, object, changes)
    local exact, every, derived = {}, {}, {}
    for _, path in ipairs(w.paths) do
      local route = M.walk(w.root, path, as_delivered(w))
      for _, place in ipairs(route.stored) do
        for _, change in ipairs(place[1] == object and changes or {}) do
          local is_route = place[3] == false or math.type(place[3]) and place[3] < #path
        local hit = {path = path, change = change, announced = place.announced, is_route = is_route}
          if place[2] == EVERY then every[#every + 1] = hit
          elseif rawequal(place[2], change.key) then exact[#exact + 1] = hit end
        end
      end
      table.move(route.derived, 1, #route.derived, #derived + 1, derived)
    end
    -- A watcher that is called anyway receives the values of that moment.
    if not w.due or w.immediate then remember(w, derived) end
    return table.move(every, 1, #every, #exact + 1, exact), #derived > 0
  end

  -- The first change heard by a watcher that is not equal (T5), as it is delivered.
  local function told(w, heard)
    for _, hit in ipairs(heard) do
      local change = hit.change
      local is_equal = change.same
      -- Writes of a comparison are not compared, which would never end.
      if w.equals and not w.is_comparing and not change.is_forced then
        w.is_comparing = true
        local ok, result = protected("watcher", w.name, w.equals, change.old, change.new)
        w.is_comparing, is_equal = false, ok and result
      end
      if not is_equal then
        local paths = {}
        for i, other in ipairs(heard) do paths[i] = other.path.text end
        if hit.announced then return {path = hit.path, key = hit.announced, paths = paths} end
        return {
          path = hit.path, key = change.member or change.key, old = change.old, new = change.new,
          paths = paths,
        }
      end
    end
  end

  -- If an operator now fails on a different route, the rules leave open whether its value before
  -- the failure counts as delivered.
  local function open_failures(w, heard)
    local failures
    for _, hit in ipairs(heard) do
      -- For `*`, the rules leave open whether a property was invalid before it came there.
      for property in next, hit.is_route and hit.path.heard or {} do
        if property.known and not M.is_valid(property) then M.opened() end
      end
      failures = failures or derived_of(w, supposed)
      for _, entry in ipairs(failures) do
        local is_meant = entry.path == hit.path and type(entry.source) == "function"
        if is_meant and entry.value == FAILED then M.opened() end
      end
    end
  end

  -- Stores changes of an object by `store`, and notifies the watchers that hear them: coalesced
  -- watchers become due, immediate ones are called (T9), in order of registration.
  function M.hear(object, changes, store)
    local tracer = M.tracer
    M.tracer = nil
    local all, heard, derives = in_order(), {}, {}
    for _, w in ipairs(all) do heard[w], derives[w] = heard_by(w, object, changes) end
    local spoil = M.dependents(object, changes)
    store()
    for _, w in ipairs(all) do
      if w.immediate then follow_at_once(w) end
      open_failures(w, heard[w])
    end
    -- A batch delivers the write, not the properties that it invalidated.
    for _, w in ipairs(all) do
      if w.immediate and not w.equals and not w.paused and batch_depth > 0 and not w.saved then
        w.saved = told(w, heard[w])
      end
    end
    spoil()
    local eager, is_to_compare = {}, {}
    for _, w in ipairs(all) do
      local may_differ = derives[w] or heard[w][1] or #changes == 0
      -- Writes of getters in between do not make these watchers compare again.
      if w.immediate and may_differ and not w.paused and batch_depth == 0 and not w.is_compared then
        is_to_compare[w], w.is_compared = true, true
      end
    end
    for _, w in ipairs(all) do
      local change
      local may_differ = derives[w] or heard[w][1] or #changes == 0
      if is_to_compare[w] then
        change, w.base = difference(w, computed)
        w.is_compared = false
      elseif w.immediate and w.paused and heard[w][1] then
        compute_new(w)
      end
      if w.immediate or w.equals then
        if change or heard[w][1] then eager[#eager + 1] = {w, change} end
      elseif told(w, heard[w]) then
        w.due = true
      end
      local differs = may_differ and not w.is_compared and difference(w, supposed)
      if not w.paused and not w.immediate and (w.due or differs) then anchored[w] = true end
      if differs and not w.saved then w.differed_first = true end
    end
    local calls = {}
    for _, entry in ipairs(eager) do
      local w, derived = entry[1], entry[2]
      local change = watchers[w.id] == w and told(w, heard[w])
      if change and derived then
        table.move(derived.paths, 1, #derived.paths, #change.paths + 1, change.paths)
      end
      change = change or derived
      if change and watchers[w.id] == w then
        if w.immediate then calls[#calls + 1] = {w, function() call_immediate(w, change) end}
        else w.due, anchored[w] = true, not w.paused or nil end
      end
    end
    make(calls)
    M.tracer = tracer
  end

  -- Before an invalid property is assigned: watchers of all properties that have not heard it yet
  -- are called for the assignment, whatever the value.
  function M.expose(p)
    for _, w in ipairs(in_order()) do
      for _, path in ipairs(w.paths) do
        for _, place in ipairs(M.walk(w.root, path, as_delivered(w)).stored) do
          if place[1] == p.object and place[2] == EVERY and place[3] then
            remember(w, {{object = p.object, step = p.name, path = place.path, value = NONE}})
          end
        end
      end
    end
  end

  -- A key of an object becomes lazy or plain by `store`. Its value before counts as delivered.
  -- Watchers with the plain key on their paths are notified if the value differs.
  function M.convert(object, name, store)
    local before = data[object].lazy[name]
    local last = before and M.is_valid(before) and before.value or nil
    local changed, is_named, is_open = {}, false, false
    for _, w in ipairs(in_order()) do
      for _, path in ipairs(w.paths) do
        local route = M.walk(w.root, path, as_delivered(w))
        for _, place in ipairs(before and {} or route.stored) do
          local step = place[3]
          if place[2] == EVERY then step = step and name end
          if place[1] == object and (place[2] == name or place[2] == EVERY) and step then
            remember(w, {
              {object = object, step = step, path = place.path, value = M.value_at(object, name)},
            })
          end
        end
        -- A property without a cache becomes a plain key; `*` never heard the property, but hears
        -- the key.
        for _, label in ipairs(before and not before.cached and route.labels or {}) do
          local is_every = label[2] == "*" and (path[label[3]] or {}).kind ~= "edits"
          if label[1] == object and (label[2] == name or is_every) then
            is_named = is_named or label[2] == name
            changed[#changed + 1] = {w, {path = path, key = name, paths = {path.text}}}
          end
        end
        -- If `*` is in the middle of a path, its key counts as written.
        local stored = before and before.known and before.value ~= nil and route.stored
        for _, place in ipairs(stored or {}) do
          if place[1] == object and place[2] == EVERY and not place[3] then
            local told = {path = path, key = name, old = last, paths = {path.text}}
            changed[#changed + 1] = {w, told}
          end
        end
        for _, entry in ipairs(before and route.derived or {}) do
          local part = entry.path[entry.step]
          local is_meant = entry.step == name or part and part.key == name
          -- A value delivered before the last value of a declaration is lost with the declaration.
          if entry.object == object and is_meant and before.known
              and not M.same_result(entry.value, before.value) then
            is_open = true
          end
          if entry.object == object and is_meant and entry.value ~= nil then
            local told = {path = path, key = name, old = entry.value, paths = {path.text}}
            changed[#changed + 1] = {w, told}
          end
        end
      end
    end
    M.hear(object, {}, store)
    if is_open and data[object].lazy[name] then M.opened() end
    if data[object].lazy[name] or before and not before.cached and not is_named then
      changed = {}
    end
    -- A watcher is called once, for any of its paths.
    local first, calls = {}, {}
    for _, entry in ipairs(changed) do
      local w, change = entry[1], entry[2]
      if first[w] then
        table.move(change.paths, 1, #change.paths, #first[w].paths + 1, first[w].paths)
      else
        first[w], calls[#calls + 1] = change, entry
      end
    end
    for _, entry in ipairs(calls) do
      local w, change = entry[1], entry[2]
      if watchers[w.id] == w then
        if change.old == FAILED then change.old = nil end
        if w.immediate then
          call_immediate(w, change)
        else
          w.due, anchored[w] = true, not w.paused or nil
        end
      end
    end
  end

  -- `obs.trigger`: a change in any case, or like an assignment from `previous`.
  function M.trigger(object, key, previous, is_forced)
    local value = M.value_at(object, key)
    local is_same = not is_forced and same(previous, value)
    local change = {key = key, old = previous, new = value, same = is_same, is_forced = is_forced}
    M.hear(object, {change}, function() end)
  end

  -- Batches, flushes, turns -----------------------------------------------------------------------

  -- The pending change of an immediate watcher.
  local function take_saved(w)
    local change
    w.is_compared = true
    change, w.base = difference(w, computed)
    w.is_compared = false
    local first, other = w.saved, change
    if change and w.differed_first then first, other = change, w.saved end
    w.saved, w.differed_first = nil, nil
    if first and other then
      table.move(other.paths, 1, #other.paths, #first.paths + 1, first.paths)
    end
    return first or other
  end

  function M.batch(body, ...)
    batch_depth, M.running = batch_depth + 1, M.running + 1
    local results = table.pack(pcall(body, ...))
    batch_depth, M.running = batch_depth - 1, M.running - 1
    if batch_depth == 0 then
      local calls = {}
      -- Writes of getters in between do not make these watchers compare again.
      for _, w in ipairs(in_order()) do w.is_compared = w.immediate and not w.paused end
      for _, w in ipairs(in_order()) do
        local change = w.immediate and not w.paused and take_saved(w)
        if change then calls[#calls + 1] = {w, function() call_immediate(w, change) end} end
      end
      make(calls)
    end
    if not results[1] then error(results[2], 0) end
    return table.unpack(results, 2, results.n)
  end

  -- Calls a watcher in a flush if there is a reason to.
  local function settle(w)
    if w.paused or not is_active(w) then return false end
    local departed, change = {}, nil
    for _, path in ipairs(w.paths) do
      if path.anchors then
        follow_routes(w, path)
        if has_left(w, path) then departed[#departed + 1] = path end
        anchor(w, path)
        -- Values watched from now on are computed, as at registration (Z4).
        if w.immediate then remember(w, M.walk(w.root, path, computed).derived) end
      end
    end
    if not w.immediate then change, w.base = difference(w, computed) end
    if not is_active(w) then return false end
    if not (w.due or change or departed[1]) then
      anchored[w] = nil
      return false
    end
    w.due = false
    for _, path in ipairs(departed) do
      for i = #w.paths, 1, -1 do if w.paths[i] == path then table.remove(w.paths, i) end end
    end
    if not w.immediate then deliver(w)
    else call(w, departed[1] and {path = departed[1], paths = {departed[1].text}}) end
    if #w.paths == 0 and is_active(w) then finish(w) end
    return true
  end

  -- T3, T4: the earliest registered watcher that is due and did not run in this flush comes next. A
  -- watcher that ran without a callback may run again, once. Returns the numbers of calls and of
  -- runs.
  local function flush()
    local runs, ran, calls, count = {}, {}, 0, 0
    local function next_one()
      for _, w in ipairs(in_order()) do if not ran[w] and settle(w) then return w end end
    end
    is_flushing = true
    for w in next_one do
      count, runs[w] = count + 1, (runs[w] or 0) + 1
      ran[w] = not w.is_idle or runs[w] == 2
      if not w.is_idle then calls = calls + 1 end
    end
    is_flushing, M.has_assigned, M.flushes = false, false, M.flushes + 1
    return calls, count
  end

  function M.flush()
    if M.running > 0 or is_flushing then error("flush inside a callback", 0) end
    return (flush())
  end

  -- T4: a watcher that ran and is due again runs in further turns, up to the limit.
  function M.end_turn()
    local rounds = 0
    while select(2, flush()) > 0 do
      rounds = rounds + 1
      if rounds == M.limit then
        local is_dropped = false
        for _, w in ipairs(in_order()) do
          local change, now = difference(w, computed)
          if not w.paused and (w.due or change) then
            is_dropped, w.due, w.base = true, false, now
          end
        end
        if is_dropped then M.report("dropped", "loop") end
        break
      end
    end
    M.call_hooks()
  end

  -- Handles ---------------------------------------------------------------------------------------

  local Watcher = {}
  function Watcher.stop(w) finish(w) end
  function Watcher.pause(w) w.paused, anchored[w] = true, nil end
  function Watcher.resume(w)
    if not w.paused then return end
    w.paused = false
    if w.due or w.saved or difference(w, supposed) then anchored[w] = true end
    local change = w.immediate and batch_depth == 0 and take_saved(w)
    if change then call(w, change) end
  end
  function Watcher.schedule(w) w.due, anchored[w] = true, not w.paused or nil end
  function Watcher.run(w)
    if w.is_running then error("run inside the watcher's own callback", 0) end
    compute_new(w)
    deliver(w)
    for change in function() return table.remove(w.again, 1) end do call(w, change) end
  end
  Watcher.observe = add_path

  M.Handle = {__index = function(handle, key)
    local function current()
      local w = watchers[handle.id]
      return w and is_active(w) and w
    end
    if key == "active" then return current() and true or false end
    local method = Watcher[key]
    return method and function(_, ...)
      if current() then method(current(), ...) end
      return handle
    end
  end}

  -- Hooks and counts (W1) -------------------------------------------------------------------------

  -- A script that queries the observed keys makes all paths follow their current objects (W1).
  function M.settle_paths()
    for _, w in ipairs(in_order()) do
      if is_active(w) then follow_at_once(w) end
    end
  end

  -- label → the number of paths of watchers that pass through it.
  function M.observed(object)
    local counts = {}
    -- Values that watchers lead to may be computed for it.
    local function compute(source)
      if type(source) == "table" and not source.known then source.may_be_known = true end
      return supposed(source)
    end
    for _, w in ipairs(in_order()) do
      for _, path in ipairs(is_active(w) and w.paths or {}) do
        local seen = {}
        for _, label in ipairs(M.walk(w.root, path, compute).labels) do
          -- P8: one object at one step counts once.
          local place = label[2] .. " " .. label[3]
          if label[1] == object and not seen[place] then
            seen[place] = true
            counts[label[2]] = (counts[label[2]] or 0) + 1
          end
        end
      end
    end
    return counts
  end

  -- Calls hooks for newly observed and for no longer observed keys.
  function M.call_hooks()
    for object, d in next, data do
      if d.hook then
        local before, now = d.observed, M.observed(object)
        d.observed = now
        for label in next, now do
          if not before[label] then
            protected("hook", "on_observed", d.hook, object, label, true)
          end
        end
        for label in next, before do
          if not now[label] then protected("hook", "on_observed", d.hook, object, label, false) end
        end
      end
    end
  end
  function M.on_observed(object, hook)
    local d = data[object]
    d.hook, d.observed = hook, M.observed(object)
  end

  -- Life and death --------------------------------------------------------------------------------

  -- After a finalizer of the script: if it brought the object back, the object is observed as
  -- before (L7).
  function M.revive(object)
    for _, w in ipairs(data[object].watchers) do watchers[w.id] = w end
  end

  -- After a collection: in the next turn, calls `on_end` for watchers whose objects died (L3).
  function M.bury()
    for id = 1, count do
      if ends[id] and not watchers[id] then
        M.later(function() protected("hook", "on_end", ends[id][1], ends[id][2]) ends[id] = nil end)
      end
    end
  end

  -- The names of watchers that have a computed value on their paths.
  function M.names_of_computed()
    local names = {}
    for _, w in ipairs(in_order()) do
      if w.name and derived_of(w, as_delivered(w))[1] then names[w.name] = true end
    end
    return names
  end
  function M.watcher_count() return #in_order() end
end
