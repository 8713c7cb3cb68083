-- The rows of `Scripts/checks/growth`: each function of the module, and the sizes that its cost may
-- depend on.
--
--   row("Array:append", "elements", "flat", function(n) … return operate end)
--
-- A row may measure several functions at once: "obs.get obs.set". Rows of one first function are
-- measured in one process.
--
-- The function makes a program of size n and returns an operation, which receives the number of the
-- call. Flushes that deliver its changes belong to the operation. The third argument is the order
-- that the rules promise: `flat`, `log`, `linear` or `n log n` in this size. The first row of a
-- function is also measured beside each of the `surroundings`, with which its cost must not grow,
-- unless a last argument says `linear`.
local obs = require "obs"

local rows, surroundings, known = {}, {}, {}
local function row(names, size, order, make, order_beside)
  local functions = {}
  for name in names:gmatch "%S+" do
    assert(not known[name .. size], size)
    known[name .. size] = true
    functions[#functions + 1] = name
  end
  rows[#rows + 1] = {
    functions = functions, size = size, order = order, make = make,
    order_beside = order_beside or "flat",
  }
end
local function beside(size, make) surroundings[#surroundings + 1] = { size = size, make = make } end

local function nothing() end

local function list(n)
  local made = {}
  for i = 1, n do made[i] = i end
  return made
end
local function records(n)
  local made = {}
  for i = 1, n do made[i] = { v = i } end
  return made
end
local function names(n)
  local made = {}
  for i = 1, n do made[i] = "k" .. i end
  return made
end
local function record(n)
  local made = {}
  for i = 1, n do made["k" .. i] = i end
  return made
end
local function flushed(f)
  return function(i)
    f(i)
    obs.flush()
  end
end

-- Surroundings -----------------------------------------------------------------------------------

local kept = {}
local function keep(value) kept[#kept + 1] = value return value end

beside("watched objects", function(n)
  for i = 1, n do
    local t = keep { v = i }
    obs.observe(t, "v", nothing)
    t.v = 0
  end
  obs.flush()
end)
beside("objects below **", function(n)
  local root = keep { list = records(n), flat = record(n) }
  obs.observe(root, "**", nothing)
  for i = 1, n do
    root.list[i].v = 0
    root.flat["k" .. i] = 0
  end
  obs.flush()
end)
beside("elements with watchers", function(n)
  local array = keep(obs.array(records(n)))
  obs.observe_edits(array, nothing)
  obs.observe(array, "*.v", nothing)
  array[1].v = 0
  obs.flush()
end)
beside("paused watchers of edits", function(n)
  local dictionary = keep(obs.dictionary(record(n)))
  keep(obs.observe_edits(dictionary, nothing)):pause()
  for i = 1, n do dictionary["k" .. i] = 0 end
  obs.flush()
end)
beside("objects that died", function(n)
  for i = 1, n do obs.observe({ v = i }, "v", nothing) end
  collectgarbage()
  obs.flush()
end)
beside("past turns", function(n)
  local t = keep { v = 0, list = {} }
  obs.observe(t, "v", nothing)
  obs.observe(t, "**", nothing)
  for i = 1, n do
    t.v = i
    t.list[1] = { i }
    obs.flush()
  end
end)
beside("timers and tasks", function(n)
  for _ = 1, n do
    keep(obs.after(1000, nothing))
    keep(obs.task(function() obs.sleep(1000) end))
  end
end)
beside("computed properties", function(n)
  local source = keep { v = 1 }
  for i = 1, n do
    local t = keep { source = source }
    obs.computed(t, "w", { "source.v" }, function(self) return self.source.v + i end)
    local _ = t.w
  end
  source.v = 2
  obs.flush()
end)

-- Reading and writing ----------------------------------------------------------------------------

-- A table with n keys, which are all watched.
local function watched(n)
  local t = keep(record(n))
  t.v = 0
  obs.observe(t, "v", nothing)
  for i = 1, n do obs.observe(t, "k" .. i, nothing) end
  return t
end

row("obs.observe obs.flush", "watched keys of the object", "flat", function(n)
  local t = watched(n)
  return flushed(function(i) t.v = i end)
end)
row("obs.observe", "watchers of the key", "linear", function(n)
  local t = { v = 0 }
  for _ = 1, n do obs.observe(t, "v", nothing) end
  return flushed(function(i) t.v = i end)
end)
-- The write marks each of them, because `resume` would call it.
row("obs.observe", "paused watchers of the key", "linear", function(n)
  local t = { v = 0 }
  obs.observe(t, "v", nothing)
  for _ = 1, n do keep(obs.observe(t, "v", nothing)):pause() end
  return flushed(function(i) t.v = i end)
end)

-- A write that a watcher of a path hears, in a table with a list of n objects.
local function list_row(size, order, path, write)
  row("obs.observe", size, order, function(n)
    local t = { list = records(n) }
    obs.observe(t, path, nothing)
    return flushed(function(i) write(t, i, n) end)
  end)
end

row("obs.observe Watcher:stop", "watchers of the key, one more", "flat", function(n)
  local t = { v = 0 }
  for _ = 1, n do obs.observe(t, "v", nothing) end
  return function() obs.observe(t, "v", nothing):stop() end
end)
list_row("elements below *", "flat", "list.*.v", function(t, i) t.list[1].v = -i end)
list_row("elements below *, one replaced", "flat", "list.*.v", function(t, i, n)
  t.list[n] = { v = -i }
end)
list_row("elements below *, one appended", "flat", "list.*.v", function(t, i, n)
  t.list[n + i] = { v = -i }
end)
list_row("objects below **", "flat", "**", function(t, i) t.list[1].v = -i end)
list_row("objects below **, one replaced", "flat", "**", function(t, i) t.list[1] = { v = -i } end)
row("obs.observe", "keys below **", "flat", function(n)
  local t = { flat = record(n) }
  obs.observe(t, "**", nothing)
  for i = 1, n do t.flat["k" .. i] = 0 end
  obs.flush()
  return flushed(function(i) t.flat.k1 = i end)
end)
list_row("elements of @sum", "log", "list.@sum.v", function(t, i) t.list[1].v = -i end)
list_row("elements of @max", "log", "list.@max.v", function(t, i) t.list[1].v = -i end)
list_row("elements beside a digit", "flat", "list.1.v", function(t, i) t.list[1].v = -i end)
row("obs.observe", "components of the path", "flat", function(n)
  local root = keep {}
  local last, path = root, {}
  for i = 1, n // 8 do
    last.k = {}
    last, path[i] = last.k, "k"
  end
  last.v, path[#path + 1] = 0, "v"
  obs.observe(root, table.concat(path, "."), nothing)
  return flushed(function(i) last.v = i end)
end)
-- `next` passes the empty places of the keys that have moved from the table to the store.
row("obs.observe", "keys that next meets", "linear", function(n)
  local t = watched(n)
  return function() return next(t) end
end)
row("obs.observe", "keys that next meets, one of them new", "flat", function(n)
  local t = watched(n)
  obs.observe(t, "*", nothing)
  return function(i)
    t["new" .. i] = i
    return next(t)
  end
end)
row("obs.observe", "keys that pairs meets", "linear", function(n)
  local t = watched(n)
  return function() for _ in pairs(t) do end end
end)
row("obs.observe", "other keys, and a write of an equal value", "flat", function(n)
  local t = watched(n)
  return flushed(function() t.v = 0 end)
end)
row("Watcher:pause Watcher:resume", "other watchers", "flat", function(n)
  local t = watched(n)
  local watcher = obs.observe(t, "v", nothing)
  return flushed(function(i)
    watcher:pause()
    t.v = i
    watcher:resume()
  end)
end)
row("Watcher:observe", "paths of the watcher", "flat", function(n)
  local t = watched(n)
  local watcher = obs.observe(t, "v", nothing)
  for i = 1, n do watcher:observe("k" .. i) end
  return function(i) watcher:observe("new" .. i) end
end)
row("Watcher:run Watcher:schedule", "paths of the watcher", "flat", function(n)
  local t = watched(n)
  local watcher = obs.observe(t, names(n), nothing)
  return flushed(function()
    watcher:run()
    watcher:schedule()
  end)
end)
row("Watcher:break_on_change Watcher:break_on_call", "other watchers", "flat", function(n)
  local t = watched(n)
  local watcher = obs.observe(t, "v", nothing)
  return function()
    pcall(watcher.break_on_change, watcher)
    pcall(watcher.break_on_call, watcher)
  end
end)
-- Each operation registers a watcher and stops it.
local filters = {
  ["the path"] = function() return "x.y" end,
  ["the observer"] = function(observer) return { observer = observer } end,
  ["the callback"] = function(_, callback) return { callback = callback } end,
  ["a path of all and the callback"] = function(_, callback)
    return { path = "v", callback = callback }
  end,
}
for kind, filter in pairs(filters) do
  row("obs.stop", "other watchers, by " .. kind, "flat", function(n)
    local t = watched(n)
    for i = 1, n do
      obs.observe(t, "v", function() return i end, { observer = keep {} })
    end
    return function(i)
      local observer = {}
      local function callback() return i end
      local filter = filter(observer, callback)
      obs.observe(t, filter.path or "x.y", callback, { observer = observer })
      assert(obs.stop(t, filter) == 1)
    end
  end)
end
row("obs.path", "watched objects", "flat", function(n)
  watched(n)
  return function(i) return obs.path("a.b" .. i) end
end)
row("obs.get obs.set", "watched keys of the object", "flat", function(n)
  local t = { a = { b = watched(n) } }
  return flushed(function(i) obs.set(t, "a.b.v", obs.get(t, "a.b.v") + i) end)
end)
row("obs.get", "elements that an operator folds", "linear", function(n)
  local t = { list = records(n) }
  return function() return obs.get(t, "list.@sum.v") end
end)
row("obs.trigger", "watched keys of the object", "flat", function(n)
  local t = watched(n)
  return flushed(function() obs.trigger(t, "v") end)
end)
row("obs.batch", "other watchers", "flat", function(n)
  local t = watched(n)
  obs.observe(t, "v", nothing, { immediate = true })
  return flushed(function(i) obs.batch(function() t.v = i end) end)
end)
row("obs.bind", "keys that are bound", "linear", function(n)
  local from, to = record(n), keep {}
  obs.bind(to, from, names(n))
  return flushed(function(i) from.k1 = i end)
end)
row("obs.on_observed", "watched keys of the object", "flat", function(n)
  local t = watched(n)
  obs.on_observed(t, nothing)
  return function() obs.observe(t, "v", nothing):stop() end
end)
row("obs.scope Scope:stop Scope:add", "earlier scopes", "flat", function(n)
  local t = { v = 0 }
  for _ = 1, n do keep(obs.scope(function() obs.observe(t, "v", nothing) end)) end
  return function()
    local scope = obs.scope(function() obs.observe(t, "v", nothing) end)
    scope:add(nothing)
    scope:stop()
  end
end)

-- Collections ------------------------------------------------------------------------------------

local function edited(n)
  local array = obs.array(list(n))
  obs.observe_edits(array, nothing)
  return array
end
local function edited_records(n)
  local array = obs.array(records(n))
  obs.observe_edits(array, nothing)
  return array
end
local function edited_set(n)
  local set = obs.set_of(list(n))
  obs.observe_edits(set, nothing)
  return set
end

-- Rows of an operation on a collection that `make` returns. `operate` receives the collection, the
-- number of the call, and n.
local function edit_row(names, size, order, make, operate)
  row(names, size, order, function(n)
    local collection = make(n)
    return flushed(function(i) operate(collection, i, n) end)
  end)
end

edit_row("Array:append obs.observe_edits obs.array", "elements", "flat", edited, function(array, i)
  array:append(i)
end)
row("Array:append", "elements, watched by *", "flat", function(n)
  local array = obs.array(list(n))
  obs.observe(array, "*", nothing)
  return flushed(function(i) array:append(i) end)
end)
row("Array:append", "elements, unobserved", "flat", function(n)
  local array = obs.array(list(n))
  return function(i) array:append(i) end
end)
edit_row("Array:insert Array:remove", "elements behind", "linear", edited, function(array, i)
  array:insert(1, i)
  array:remove(1)
end)
edit_row("Array:replace", "elements", "flat", edited, function(array, i) array:replace(1, -i) end)
edit_row("Array:swap", "elements", "flat", edited, function(array, _, n) array:swap(1, n) end)
edit_row("Array:move", "elements between", "linear", edited, function(array, _, n)
  array:move(1, n)
end)
edit_row("Array:move", "elements behind", "flat", edited, function(array) array:move(1, 3) end)
edit_row("Array:remove_value Array:index_of", "elements", "linear", edited, function(array, i)
  array:append(-i)
  assert(array:index_of(-i))
  array:remove_value(-i)
end)
edit_row("Array:sort", "elements", "n log n", edited, function(array, i)
  array:sort(i % 2 == 0 and function(a, b) return a < b end or function(a, b) return a > b end)
end)
row("Array:sort", "objects", "n log n", function(n)
  local array = edited_records(n)
  local function up(a, b) return a.v < b.v end
  local function down(a, b) return a.v > b.v end
  return flushed(function(i) array:sort(i % 2 == 0 and up or down) end)
end)
edit_row("Array:reverse", "elements", "linear", edited, function(array) array:reverse() end)
edit_row("Array:set", "elements", "linear", edited, function(array, i, n)
  local new = list(n)
  new[1] = -i
  array:set(new)
end)
edit_row("Array:clear obs.clear", "elements", "linear", edited, function(array, i, n)
  if i % 2 == 0 then array:clear() else obs.clear(array) end
  array:set(list(n))
end)
row("obs.assign", "elements", "linear", function(n)
  local array = edited(n)
  local lists = { list(n), list(n) }
  lists[1][1] = 0
  return flushed(function(i) obs.assign(array, lists[i % 2 + 1]) end)
end)
local members = "Set:add Set:remove Set:contains obs.set_of"
edit_row(members, "elements", "flat", edited_set, function(set, i)
  set:add(-i)
  assert(set:contains(-i))
  set:remove(-i)
end)
row("Set:key_of", "elements", "flat", function(n)
  local set = edited_set(n)
  return function() set:key_of(1) end
end)
row("Set:object_for", "elements", "flat", function(n)
  local elements = records(n)
  local set = obs.set_of(elements)
  local key = set:key_of(elements[1])
  return function() set:object_for(key) end
end)
edit_row("Set:union Set:subtract", "elements", "flat", edited_set, function(set, i)
  set:union { -i }
  set:subtract { -i }
end)
edit_row("Set:intersect Set:values", "elements", "linear", edited_set, function(set, _, n)
  set:intersect(list(n))
  assert(set:values())
end)
row("Set:clear", "elements", "linear", function(n)
  local set = edited_set(n)
  local elements = list(n)
  return flushed(function()
    set:clear()
    set:union(elements)
  end)
end)
row("obs.dictionary", "entries", "flat", function(n)
  local dictionary = obs.dictionary(record(n))
  obs.observe_edits(dictionary, nothing)
  return flushed(function(i)
    dictionary.k1 = -i
    dictionary["new" .. i] = i
  end)
end)
-- Compares each of its keys with the value that was delivered last.
row("obs.observe_keys", "keys", "linear", function(n)
  local dictionary = obs.dictionary(record(n))
  obs.observe_keys(dictionary, names(n), nothing)
  return flushed(function(i) dictionary.k1 = -i end)
end)
row("obs.copy_of", "elements", "linear", function(n)
  local t = { list = obs.array(list(n)) }
  obs.copy_of(t, "copy", "list")
  local _ = t.copy
  return flushed(function(i)
    t.list:append(i)
    return #t.copy
  end)
end)

-- Lazy properties --------------------------------------------------------------------------------

-- An object with n computed properties that have values.
local function computing(n)
  local t = record(n)
  t.v = 0
  for i = 1, n do
    local name = "k" .. i
    obs.computed(t, "c" .. i, { name }, function(self) return self[name] end)
    local _ = t["c" .. i]
  end
  obs.computed(t, "w", { "v" }, function(self) return self.v end)
  return t
end
row("obs.computed", "other properties", "flat", function(n)
  local t = computing(n)
  return function(i)
    t.v = i
    return t.w
  end
end)
for _, kind in ipairs { "declared", "tracked", "wildcard" } do
  row("obs.computed", kind .. " dependencies that stay the same", "linear", function(n)
    local source, elements, paths = { v = 1 }, {}, {}
    for i = 1, n do
      local element = { source = source }
      obs.computed(element, "w", { "source.v" }, function(s) return s.source.v > 0 and 1 or 0 end)
      elements[i], paths[i] = element, { element, "w" }
    end
    local top = { elements = elements }
    local function get(self)
      local sum = 0
      for i = 1, n do sum = sum + self.elements[i].w end
      return sum
    end
    if kind == "tracked" then obs.computed(top, "sum", get)
    else obs.computed(top, "sum", kind == "declared" and paths or { "elements.*.w" }, get) end
    assert(top.sum == n)
    return function(i)
      source.v = i
      return top.sum
    end
  end)
end
row("obs.computed", "dependents that nobody reads", "linear", function(n)
  local t = { v = 0 }
  for i = 1, n do
    obs.computed(t, "w" .. i, { "v" }, function(self) return self.v end)
    local _ = t["w" .. i]
  end
  return function(i) t.v = i end
end)
row("obs.lazy obs.invalidate obs.is_valid obs.peek", "other properties", "flat", function(n)
  local t = computing(n)
  obs.lazy(t, "x", function() return 1 end)
  return function()
    local _ = t.x
    obs.invalidate(t, "x")
    return obs.is_valid(t, "x"), obs.peek(t, "x")
  end
end)
row("obs.force obs.forget", "properties of other objects", "flat", function(n)
  keep(computing(n))
  return function()
    local other = { v = 1 }
    obs.computed(other, "x", { "v" }, function() return 1 end)
    obs.force(other)
    obs.forget(other, "x")
  end
end)
row("obs.valid_names obs.invalid_names", "properties", "linear", function(n)
  local t = computing(n)
  return function() return #obs.valid_names(t), #obs.invalid_names(t) end
end)
row("obs.backed", "entries of the store", "flat", function(n)
  local store, t = record(n), {}
  obs.backed(t, names(n), store)
  for i = 1, n do local _ = t["k" .. i] end
  return function(i)
    store.k1 = i
    return t.k1
  end
end)
row("obs.model", "instances", "flat", function(n)
  local Item = obs.model("Item", {
    v = 0, w = obs.computed({ "v" }, function(self) return self.v + 1 end),
  })
  for i = 1, n do keep(Item { v = i }) end
  return function(i) return keep(Item { v = i }).w end
end)

-- Inspection -------------------------------------------------------------------------------------

row("obs.observed_keys", "watched elements of other objects", "flat", function(n)
  for _, element in ipairs(keep(records(n))) do obs.observe(element, "v", nothing) end
  local t = watched(3)
  return function() return obs.observed_keys(t) end
end)
row("obs.observed_keys", "watched elements of the object", "linear", function(n)
  local t = watched(n)
  return function() return obs.observed_keys(t) end
end)
-- Searches the watched keys for all spellings of a key.
row("obs.observer_count", "watchers of the object", "linear", function(n)
  local t = watched(n)
  return function() return obs.observer_count(t, "v") end
end)
row("obs.describe", "watchers of other objects", "flat", function(n)
  watched(n)
  local t = watched(3)
  return function() return obs.describe(t) end
end)
row("obs.graph", "watchers of other objects", "flat", function(n)
  watched(n)
  local t = watched(3)
  return function() return obs.graph(t) end
end)
local function recorded(n)
  local t = { v = 0 }
  local watcher = obs.observe(t, "v", nothing)
  obs.record(true)
  for i = 1, n do
    t.v = i
    obs.flush()
  end
  return t, watcher
end
row("obs.record obs.why obs.whynot", "past turns", "flat", function(n)
  local t, watcher = recorded(n)
  return flushed(function(i)
    t.v = -i
    obs.why(watcher)
    obs.whynot(watcher)
  end)
end)
row("obs.log", "watched keys of the object", "flat", function(n)
  local t = watched(n)
  obs.log(nothing)
  return flushed(function(i) t.v = i end)
end)
row("obs.break_on_change", "watched keys of the object", "flat", function(n)
  local t = watched(n)
  return function()
    local ok, breakpoint = pcall(obs.break_on_change, t, "v")
    if ok and breakpoint then breakpoint:stop() end
  end
end)
local recordings = "obs.start_recording Recording:stop Recording:is_active"
row(recordings, "watched objects", "linear", function(n)
  watched(n)
  return function()
    local path = os.tmpname()
    os.remove(path)
    local recording = obs.start_recording(path)
    assert(recording:is_active())
    recording:stop()
    os.remove(path)
  end
end, "linear")
-- Asks for a report of each write to each observed key.
row("obs.inspect Inspector:stop", "watched objects", "linear", function(n)
  watched(n)
  return function()
    local ok, inspector = pcall(obs.inspect)
    if ok and inspector then inspector:stop() end
  end
end, "linear")
row("obs.limits obs.stats obs.now", "watched objects", "flat", function(n)
  for _, element in ipairs(keep(records(n))) do obs.observe(element, "v", nothing) end
  return function()
    obs.limits()
    obs.stats()
    obs.now()
  end
end)
row("obs.raw", "watched keys", "linear", function(n)
  local t = watched(n)
  return function() return obs.raw(t) end
end)
row("obs.native", "watched objects", "flat", function(n)
  watched(n)
  return function() obs.native { unused = false } end
end)
row("obs.opaque", "keys", "flat", function(n)
  local tables = {}
  for i = 1, 64 do tables[i] = record(n) end
  return function(i) obs.opaque(tables[i]) end
end)

-- Trees ------------------------------------------------------------------------------------------

local function tree(n) return { list = records(n), flat = record(n), v = 0 } end

row("obs.changes", "objects of the tree", "flat", function(n)
  local t = tree(n)
  obs.changes(t, nothing)
  return flushed(function(i) t.list[1].v = -i end)
end)
row("obs.changes", "watchers of changes of the tree, one more", "flat", function(n)
  local t = tree(10)
  for _ = 1, n do keep(obs.changes(t, nothing)) end
  return function() obs.changes(t, nothing):stop() end
end)
-- Compares each changed object with its former state, in the next three rows.
row("obs.changes", "elements of a list, one appended", "linear", function(n)
  local t = tree(n)
  obs.changes(t, nothing)
  return flushed(function(i) t.list[n + i] = { v = i } end)
end)
row("obs.changes", "elements of a list, one inserted", "linear", function(n)
  local t = tree(n)
  obs.changes(t, nothing)
  return flushed(function(i) table.insert(t.list, 1, { v = i }) end)
end)
row("obs.changes", "keys of the object", "linear", function(n)
  local t = tree(n)
  obs.changes(t, nothing)
  return flushed(function(i) t.flat.k1 = -i end)
end)
row("Watcher:snapshot", "objects of the tree", "linear", function(n)
  local watcher = obs.changes(tree(n), nothing)
  return function() return watcher:snapshot() end
end)
row("obs.diff obs.invert obs.apply", "objects of the tree", "linear", function(n)
  local a, b = tree(n), tree(n)
  return function(i)
    b.list[1].v = -i
    local change = obs.diff(a, b)
    obs.apply(a, change)
    obs.invert(change)
  end
end)
row("obs.apply obs.invert", "objects of the tree, one of them changed", "flat", function(n)
  local t = tree(n)
  local changes
  obs.changes(t, function(_, made) changes = made end)
  t.list[1].v = -1
  obs.flush()
  local forth, back = changes, obs.invert(changes)
  return flushed(function(i)
    obs.apply(t, i % 2 == 1 and back or forth)
  end)
end)
row("obs.merge", "objects of the tree", "linear", function(n)
  local a = tree(n)
  return function(i)
    local b = tree(n)
    b.list[1].v = -i
    obs.merge(a, b)
  end
end)
local steps = [[obs.history History:undo History:redo History:mark History:begin History:commit]]
row(steps, "objects of the tree", "flat", function(n)
  local t = tree(n)
  local history = obs.history(t)
  return flushed(function(i)
    history:begin "step"
    t.list[1].v = -i
    history:commit()
    obs.flush()
    history:mark "here"
    history:undo()
    history:redo()
  end)
end)
-- Makes n steps, with the numbers as values of `v`.
local function past(n)
  local t = tree(3)
  local history = obs.history(t, { limit = 100000 })
  local function step(i)
    history:begin()
    t.v = i
    history:commit()
  end
  for i = 1, n do step(i) end
  return history, step
end
row("obs.history", "steps of the past", "flat", function(n)
  local history, step = past(n)
  return flushed(function(i)
    step(-i)
    history:undo()
  end)
end)
row("obs.history", "objects that have left the tree", "flat", function(n)
  local t = tree(n)
  local history = obs.history(t)
  t.list = nil
  obs.flush()
  return flushed(function(i)
    history:begin()
    t.v = -i
    history:commit()
    history:undo()
  end)
end)
row("History:clear", "steps of the past", "linear", function(n)
  local history, step = past(n)
  return function()
    for i = 1, n do step(-i) end
    history:clear()
  end
end)
row("History:stop", "other watchers", "flat", function(n)
  watched(n)
  local t = tree(3)
  return function() obs.history(t):stop() end
end)
row("obs.transaction obs.abort", "objects of the tree, watched by **", "flat", function(n)
  local t = tree(n)
  obs.observe(t, "**", nothing)
  return flushed(function(i)
    pcall(obs.transaction, { t }, function()
      t.list[1].v = -i
      if i % 2 == 0 then obs.abort() end
    end)
  end)
end)
row("obs.transaction", "objects of the tree", "linear", function(n)
  local t = tree(n)
  return function(i) obs.transaction({ t }, function() t.list[1].v = -i end) end
end)
-- S8: undoing takes time in proportion to the writes, whatever they are.
local function empty() return {} end
local function full_array(n) return obs.array(list(n)) end
local writes = {
  { "scalars in a list", empty, function(o, n) for i = 1, n do o[i] = i end end },
  { "tables in a list", empty, function(o, n) for i = 1, n do o[i] = {} end end },
  { "table.insert", empty, function(o, n) for i = 1, n do table.insert(o, i) end end },
  { "edits within a list", list, function(o, n)
    for _ = 1, n // 3 do
      table.remove(o, math.max(#o - 3, 1))
      table.insert(o, math.max(#o - 5, 1), 0)
    end
  end },
  { "nil at the end", list, function(o, n) for i = n, 1, -1 do o[i] = nil end end },
  { "table.move", list, function(o, n) table.move(o, 1, n // 2, n // 4) end },
  { "keys", empty, function(o, n) for i = 1, n do o["k" .. i] = i end end },
  { "a chain of tables", empty, function(o, n)
    for _ = 1, n do
      o.next = {}
      o = o.next
    end
  end },
  { "Array:append", function() return obs.array {} end, function(o, n)
    for i = 1, n do o:append(i) end
  end },
  { "Array:clear", full_array, function(o) o:clear() end },
  { "Set:add", function() return obs.set_of {} end, function(o, n)
    for i = 1, n do o:add(i) end
  end },
  { "Set:clear", function(n) return obs.set_of(list(n)) end, function(o) o:clear() end },
  { "keys of a dictionary", function() return obs.dictionary {} end, function(o, n)
    for i = 1, n do o["k" .. i] = i end
  end },
}
for _, writing in ipairs(writes) do
  local title, make, write = table.unpack(writing)
  row("History:undo obs.abort", title, "linear", function(n)
    -- A tenth, to save time: an operation makes and undoes all writes twice.
    n = math.max(n // 10, 3)
    local o = make(n)
    obs.observe(o, { "*", "**" }, nothing)
    obs.observe_edits(o, nothing)
    local history = obs.history(o)
    return flushed(function()
      obs.transaction({ o }, function()
        write(o, n)
        obs.abort()
      end)
      write(o, n)
      obs.flush()
      assert(history:undo())
    end)
  end)
end

-- The loop ---------------------------------------------------------------------------------------

row("obs.after Timer:stop Timer:ref Timer:unref", "other timers", "log", function(n)
  for i = 1, n do keep(obs.after(1000 + i, nothing)) end
  return function()
    local timer = obs.after(500, nothing)
    timer:unref()
    timer:ref()
    timer:stop()
  end
end)
row("obs.every", "other timers", "log", function(n)
  for i = 1, n do keep(obs.every(1000 + i, nothing)) end
  return function() obs.every(500, nothing):stop() end
end)
row("obs.next_turn", "other timers", "flat", function(n)
  for i = 1, n do keep(obs.after(1000 + i, nothing)) end
  -- Repeated, because a table of the state grows once in a while.
  return function()
    for _ = 1, 40 do obs.next_turn(nothing) end
  end
end)
local waits = "obs.task Task:await Task:cancel Task:stop obs.sleep obs.await obs.next_change"
row(waits, "other tasks", "log", function(n)
  local t = { v = 0 }
  for _ = 1, n do keep(obs.task(function() obs.sleep(1000) end)) end
  return function()
    local sleeping = obs.task(function() obs.sleep(500) end)
    local waiting = obs.task(function() obs.next_change(t, "v") end)
    local asking = obs.task(function() obs.await(nothing) end)
    obs.task(function() sleeping:await() end):cancel()
    sleeping:cancel()
    waiting:stop()
    asking:cancel()
  end
end)
local handlers = "obs.on_readable obs.on_writable Handler:stop Handler:ref Handler:unref"
row(handlers, "other watchers", "flat", function(n)
  watched(n)
  local file = assert(io.popen "true")
  return function()
    for _, on in ipairs { obs.on_readable, obs.on_writable } do
      local handler = on(file, nothing)
      handler:unref()
      handler:ref()
      handler:stop()
    end
  end
end)
row("obs.on_error", "other watchers", "flat", function(n)
  watched(n)
  return function() obs.on_error(nothing) end
end)
row("obs.on_exit", "earlier hooks", "flat", function(n)
  for _ = 1, n do obs.on_exit(nothing) end
  return function() obs.on_exit(nothing) end
end)

-- Modules and mirrors ----------------------------------------------------------------------------

-- Looks at each watcher, timer and property, to end those that the old module has made.
row("obs.reload obs.state obs.on_reload", "watched objects", "linear", function(n)
  watched(n)
  package.preload.growth = function()
    local state = obs.state("growth", { v = 0 })
    obs.on_reload(nothing)
    return state
  end
  require "growth"
  return function() pcall(obs.reload, "growth") end
end, "linear")
row("obs.mirror Mirror:add Mirror:stop Mirror:synced", "objects outside", "flat", function(n)
  watched(n)
  return function()
    local ok, mirror = pcall(obs.mirror, tree(3), "growth", { url = "redis://127.0.0.1:1" })
    if ok then mirror:stop() end
  end
end)

-- Releases the objects of the last row.
local function forget() kept = {} end

return { rows = rows, surroundings = surroundings, forget = forget }
