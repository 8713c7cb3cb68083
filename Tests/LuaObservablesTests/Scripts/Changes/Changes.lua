-- Rule X2, as a script sees it.
local obs = require "obs"
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
dofile(folder .. "Support/watching.lua")

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
story("X2: removed objects are found without calling __eq", [[
  local mt, shared = { __eq = function() error("__eq was asked") end }, { n = 1 }
  local t = watched { a = setmetatable({ s = shared }, mt), b = setmetatable({ s = shared }, mt) }
  t.b = nil  --> set b.s @@a.s>nil, set b {}>nil
]])
check("T3: changes and histories come last, and add no turns and no calls", function()
  -- Counts calls, deliveries and steps of ten flushes that copy a to b. `record` adds a recorder.
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
  eq(text { counts(function(t) return obs.history(t) end) }, text { 10, 0, 1 })
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
story("X2: changes are net since the last delivery", [[
  local t = watched { a = 1, b = { c = 2 } }
  t.a = 2
  t.a = 3
  t.b.c = 5  --> set b.c 2>5, set a 1>3
  t.a = 4
  t.a = 3
  t.d = {}
  t.d.e = 1
  t.d = nil  --> 0
]])
story("X2: new objects are followed, removed objects no longer", [[
  local t = watched { b = { c = 2 } }
  local old = t.b
  t.b = { c = 3 }  --> set b {c=2}>{c=3}
  old.c = 7        --> 0
  t.b.c = 4        --> set b.c 3>4
]])
story("T5: a replaced table is a change even if it is equal", [[
  local t = watched { b = { c = 2 } }
  t.b = { c = 2 }  --> set b {c=2}>{c=2}
]])
story("X2: a moved object comes by reference, also when two values are swapped", [[
  local t = watched { a = { n = 1 }, b = { n = 2 } }
  t.a, t.b = t.b, t.a  --> set a @@b>@b, set b @@a>@a
]])
story("X2: lists come as edits, members of sets at the path of the set", [[
  local t = watched {
    list = { { n = 1 }, { n = 2 } }, tags = obs.set_of { "x" }, array = obs.array { 1 },
  }
  table.insert(t.list, 1, { n = 0 })
  t.list[3].n = 5
  t.tags:add("y")
  t.tags:remove("x")
  t.array:append(2)
  --> set list.2.n 2>5, insert list.1 {n=0}, remove tags "x", insert tags "y", insert array.2 2
  t.list[3].n = 6  --> set list.3.n 5>6
]])
story("X2: an object that leaves one of two paths comes by reference", [[
  local shared = { n = 1 }
  local t = watched { a = shared, b = shared }
  t.a = nil     --> set a @@b>nil
  shared.n = 2  --> set b.n 1>2
]])
story("X2: cycles are followed once", [[
  local t = { child = {} }
  t.child.parent = t
  changes_of(t)
  t.child.parent.n = 1  --> set n nil>1
]])
story("X2: option path restricts the changes", [[
  local t = { items = { { hp = 1, mp = 1 } }, name = "x" }
  changes_of(t, { path = "items.**.hp" })
  t.name = "y"
  t.items[1].mp = 2  --> 0
  t.items[1].hp = 2  --> set items.1.hp 1>2
  t.items = {}       --> set items {{hp=2 mp=2}}>{}
]])
check("X2: option site adds the place of the last write, not the place of the batch", function()
  local t, site, line = { a = 1 }, nil, nil
  obs.changes(t, function(_, changes) site = changes[1].site end, { site = true })
  t.a = 2
  t.a = 3 line = here()
  obs.flush()
  eq(site, line)
  obs.batch(function()
    t.a = 2 line = here()
  end)
  obs.flush()
  eq(site, line)
end)
story("X2: stop, pause and once work as for other watchers", [[
  local t, watcher = watched { a = 1 }
  watcher:pause()
  t.a = 2           --> 0
  t.a = 3
  watcher:resume()  --> set a 1>3
  watcher:stop()
  t.a = 4           --> 0
  changes_of(t, { once = true })
  t.a = 5
  t.a = 4           --> 0
  t.a = 5           --> set a 4>5
  t.a = 6           --> 0
]])
story("X2: after its watcher is stopped, a tree is no longer observed", [[
  local t, watcher = watched { a = 1, b = {} }
  watcher:stop()
  t.a = 2  --> 0
  eq(obs.observer_count(t, "*"), 0)
  eq(obs.observer_count(t.b, "*"), 0)
]])
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

story("S3: a list with holes takes only the memory of its elements", [[
  local t = {}
  for i = 0, 26 do t[1 << i] = i end
  collectgarbage()
  local before = collectgarbage "count"
  changes_of(t)
  t[4] = 5  --> set 4 2>5
  assert(collectgarbage "count" - before < 1000)
]])

finish()
