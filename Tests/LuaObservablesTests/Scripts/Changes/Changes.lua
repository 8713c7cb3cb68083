-- Rule X2, as a script sees it.
local obs = require "obs"
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
dofile(folder .. "../Support/checking.lua")

-- The text of plain data, with the keys in order.
local text = dofile(folder .. "Support/texts.lua")

-- Watches a tree. Returns a function that ends a turn and returns its changes as text.
local function watched(t, options)
  local delivered
  local watcher = obs.changes(t, function(observed, changes)
    assert(rawequal(observed, t))
    delivered = changes
  end, options)
  return function()
    delivered = nil
    obs.flush()
    return delivered and text(delivered) or "none"
  end, watcher
end

check("X2: paths follow objects by identity, whatever __eq says", function()
  local mt = { __eq = function(a, b) return a.name == b.name end }
  local child = setmetatable({ name = "a", v = 1 }, mt)
  local root = setmetatable({ name = "a", child = child }, mt)
  local path = nil
  obs.changes(root, function(_, changes) path = table.concat(changes[1].path, ".") end)
  child.v = 2
  obs.flush()
  eq(path, "child.v")
end)
check("X2: removed objects are found without calling __eq", function()
  local mt, shared = { __eq = function() error("__eq was asked") end }, { n = 1 }
  local t = { a = setmetatable({ s = shared }, mt), b = setmetatable({ s = shared }, mt) }
  local turn = watched(t)
  t.b = nil
  eq(turn(), '{{kind="set" old_ref={after={"a" "s"}} path={"b" "s"}}'
    .. ' {kind="set" old={} path={"b"}}}')
end)
check("T3: changes and histories come last, and add no turns and no calls", function()
  -- Counts the calls, deliveries and steps of ten turns that copy a to b; `record` adds a recorder.
  local function counts(record)
    local t, delivered = { a = 0, b = 0 }, {}
    local history = record(t, delivered)
    obs.observe(t, "a", function() t.b = t.a end)
    local before = obs.stats()
    for i = 1, 10 do
      t.a = i
      obs.flush()
    end
    local after = obs.stats()
    local calls = after.calls - before.calls
    local steps = 0
    while history and history:undo() do steps = steps + 1 end
    return calls, #delivered, steps, delivered[1]
  end
  local function changes(t, delivered)
    obs.changes(t, function(_, list) delivered[#delivered + 1] = text(list) end)
  end
  eq(counts(function() end), 10)
  eq(text { counts(changes) }, text {
    20, 10, 0,
    '{{kind="set" new=1 old=0 path={"a"}} {kind="set" new=1 old=0 path={"b"}}}',
  })
  eq(text { counts(function(t) return obs.history(t) end) }, text { 10, 0, 10 })
end)
check("T3: writes of a callback of changes belong to the same step", function()
  local t = { n = 0, edits = 0 }
  local history = obs.history(t)
  obs.changes(t, function(_, list)
    if list[1].path[1] == "n" then t.edits = t.edits + 1 end
  end)
  t.n = 1
  obs.flush()
  eq(text { t.n, t.edits }, text { 1, 1 })
  history:undo()
  eq(text { t.n, t.edits, history.can_undo }, text { 0, 0, false })
end)
check("X2: changes are net since the last delivery", function()
  local t = { a = 1, b = { c = 2 } }
  local turn = watched(t)
  t.a = 2
  t.a = 3
  t.b.c = 5
  eq(turn(), '{{kind="set" new=5 old=2 path={"b" "c"}} {kind="set" new=3 old=1 path={"a"}}}')
  t.a = 4
  t.a = 3
  t.d = {}
  t.d.e = 1
  t.d = nil
  eq(turn(), "none")
end)
check("X2: new objects are followed, removed objects no longer", function()
  local t = { b = { c = 2 } }
  local turn = watched(t)
  local old = t.b
  t.b = { c = 3 }
  eq(turn(), '{{kind="set" new={c=3} old={c=2} path={"b"}}}')
  old.c = 7
  eq(turn(), "none")
  t.b.c = 4
  eq(turn(), '{{kind="set" new=4 old=3 path={"b" "c"}}}')
end)
check("T5: a replaced table is a change even if it is equal", function()
  local t = { b = { c = 2 } }
  local turn = watched(t)
  t.b = { c = 2 }
  eq(turn(), '{{kind="set" new={c=2} old={c=2} path={"b"}}}')
end)
check("X2: a moved object comes by reference, also when two values are swapped", function()
  local t = { a = { n = 1 }, b = { n = 2 } }
  local turn = watched(t)
  t.a, t.b = t.b, t.a
  eq(turn(), '{{kind="set" old_ref={after={"b"}} path={"a"} ref={"b"}}'
    .. ' {kind="set" old_ref={after={"a"}} path={"b"} ref={"a"}}}')
end)
check("X2: lists come as edits, members of sets at the path of the set", function()
  local t = { list = { { n = 1 }, { n = 2 } }, tags = obs.set_of { "x" }, array = obs.array { 1 } }
  local turn = watched(t)
  table.insert(t.list, 1, { n = 0 })
  t.list[3].n = 5
  t.tags:add("y")
  t.tags:remove("x")
  t.array:append(2)
  eq(turn(), '{{kind="set" new=5 old=2 path={"list" 2 "n"}}'
    .. ' {kind="insert" new={n=0} path={"list" 1}}'
    .. ' {kind="remove" old="x" path={"tags"}} {kind="insert" new="y" path={"tags"}}'
    .. ' {kind="insert" new=2 path={"array" 2}}}')
  t.list[3].n = 6
  eq(turn(), '{{kind="set" new=6 old=5 path={"list" 3 "n"}}}')
end)
check("X2: an object that leaves one of two paths comes by reference", function()
  local shared = { n = 1 }
  local t = { a = shared, b = shared }
  local turn = watched(t)
  t.a = nil
  eq(turn(), '{{kind="set" old_ref={after={"b"}} path={"a"}}}')
  shared.n = 2
  eq(turn(), '{{kind="set" new=2 old=1 path={"b" "n"}}}')
end)
check("X2: cycles are followed once", function()
  local t = { child = {} }
  t.child.parent = t
  local turn = watched(t)
  t.child.parent.n = 1
  eq(turn(), '{{kind="set" new=1 path={"n"}}}')
end)
check("X2: option path restricts the changes", function()
  local t = { items = { { hp = 1, mp = 1 } }, name = "x" }
  local turn = watched(t, { path = "items.**.hp" })
  t.name = "y"
  t.items[1].mp = 2
  eq(turn(), "none")
  t.items[1].hp = 2
  eq(turn(), '{{kind="set" new=2 old=1 path={"items" 1 "hp"}}}')
  t.items = {}
  eq(turn(), '{{kind="set" new={} old={{hp=2 mp=2}} path={"items"}}}')
end)
check("X2: option site adds the place of the last write", function()
  local t = { a = 1 }
  local turn = watched(t, { site = true })
  t.a = 2
  t.a = 3 local line = here()
  has(turn(), 'site="' .. line .. '"')
end)
check("X2: a write in a batch has its own place, not the place of the batch", function()
  local t = { a = 1 }
  local turn = watched(t, { site = true })
  local line
  obs.batch(function()
    t.a = 2 line = here()
  end)
  has(turn(), 'site="' .. line .. '"')
end)
check("X2: stop, pause and once work as for other watchers", function()
  local t = { a = 1 }
  local turn, watcher = watched(t)
  watcher:pause()
  t.a = 2
  eq(turn(), "none")
  t.a = 3
  watcher:resume()
  eq(turn(), '{{kind="set" new=3 old=1 path={"a"}}}')
  watcher:stop()
  t.a = 4
  eq(turn(), "none")
  turn = watched(t, { once = true })
  t.a = 5
  t.a = 4
  eq(turn(), "none")
  t.a = 5
  eq(turn(), '{{kind="set" new=5 old=4 path={"a"}}}')
  t.a = 6
  eq(turn(), "none")
end)
check("X2: after its watcher is stopped, a tree is no longer observed", function()
  local t = { a = 1, b = {} }
  local turn, watcher = watched(t)
  watcher:stop()
  t.a = 2
  eq(turn(), "none")
  eq(obs.observer_count(t, "*"), 0)
  eq(obs.observer_count(t.b, "*"), 0)
end)
check("L6: a tree to which only its watcher of changes refers is collected", function()
  local weak = setmetatable({}, { __mode = "k" })
  do
    local t = { b = {} }
    t.b.parent = t
    weak[t], weak[t.b] = true, true
    obs.changes(t, function(observed) return observed == t end)
    t.b.n = 1
    obs.flush()
    obs.history(t)
  end
  collectgarbage()
  collectgarbage()
  collectgarbage()
  eq(next(weak), nil)
end)
check("X2: the callback receives the observer", function()
  local t, observer, seen = { a = 1 }, {}, nil
  obs.changes(t, function(_, _, given) seen = given end, { observer = observer })
  t.a = 2
  obs.flush()
  eq(seen, observer)
end)
check("X2: options that make no sense are errors", function()
  for _, name in ipairs { "immediate", "initial" } do
    fails("there is no option '" .. name .. "'", obs.changes, {}, nothing, { [name] = true })
  end
  fails("there is no option 'equals'", obs.changes, {}, nothing, { equals = rawequal })
  fails("#3 to 'changes' %(unknown option 'sites' %(did you mean 'site'%?", obs.changes, {},
    nothing, { sites = true })
  fails("option 'site' takes a boolean, not a number", obs.changes, {}, nothing, { site = 1 })
  fails("#3 to 'changes' %(empty component 2", obs.changes, {}, nothing, { path = "a..b" })
  local model = obs.model("Named", { name = "", at = obs.none }) {}
  for _, path in ipairs { "nmae", "nmae.**", "nmae.*.x" } do
    fails("'changes' .*did you mean 'name'", obs.changes, model, nothing, { path = path })
  end
  obs.changes(model, nothing, { path = "at.*.x" }):stop()
  fails("takes names and wildcards, not 'sum'", obs.changes, {}, nothing, { path = "a.@sum.b" })
  fails("#3 to 'changes'", obs.changes, {}, nothing, { name = {} })
  fails("function expected, got no value", obs.changes, {})
  fails("table or object of the host program expected", obs.changes, 1, nothing)
end)

check("S3: a list with holes takes only the memory of its elements", function()
  local t = {}
  for i = 0, 26 do t[1 << i] = i end
  collectgarbage()
  local before = collectgarbage "count"
  local turn = watched(t)
  t[4] = 5
  eq(turn(), '{{kind="set" new=5 old=2 path={4}}}')
  assert(collectgarbage "count" - before < 1000)
end)

finish()
