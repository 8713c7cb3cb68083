-- Rules Z6 and Z7: loaders, values that are created once, and properties that are the entries of a
-- store.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "Support/kinds.lua")

each("Z6: one loader for many names stores the requested one, and is told its name",
  "t.w, t.h, told()", [[
  local note, told = recorder()
  local stored = { w = 3, h = 4 }
  local property = lazy { loader = function(self, name)
    note(name)
    self[name] = stored[name]
  end }
  local t = object { w = property, h = property }
  = t.h, t.w, told()                              --> 4 3 h w
  stored.w = 5                                    --> 3 4 -
  obs.invalidate(t, "w")                          --> 5 4 w
]])
each("Z6: what a loader stores is valid: other properties, and nil if it stores nothing",
  "t.w, t.n, runs", [[
  runs = 0
  local both = lazy { loader = function(self)
    runs = runs + 1
    self.w = 0
    self.w, self.h = 3, 4
  end }
  local none = lazy { loader = function() runs = runs + 1 return 5 end }
  local t = object { w = both, h = both, n = none }
  = t.w, obs.is_valid(t, "h"), t.h, runs          --> 3 true 4 1
  = t.n, obs.is_valid(t, "n")                     --> nil true
  obs.flush()                                     --> 3 nil 2
]])
each("Z6: after an invalidation a loader that stores nothing leaves nil", "t.x", [[
  local value = 1
  local t = object { x = lazy { loader = function(self)
    if value then self.x = value end
  end } }                                         --> 1
  value = nil
  obs.invalidate(t, "x")                          --> nil
]])
each("Z6: a loader that reads what it loads is a cycle, unless it has stored the value",
  "node(node(node())).depth", [[
  local t = object {
    size = lazy { loader = function(self) self.size = (self.size or 0) + 1 end }, copy = 0,
    early = lazy { loader = function(self)
      self.early = 1
      self.copy = self.early
    end },
  }
  = t.size                                        --! size → size
  = obs.is_valid(t, "size"), t.early, t.copy      --> false 1 1
  local function node(parent)
    return object { parent = parent or obs.none, depth = lazy { loader = function(self)
      self.depth = self.parent and self.parent.depth + 1 or 1
    end } }
  end                                             --> 3
]])
each("Z6: a loader with dependencies and a watcher", "n(), t.x, runs", [[
  runs = 0
  local t = object { source = { a = 1 }, x = lazy { deps = { "source.a" }, loader = function(self)
    runs = runs + 1
    self.x = self.source.a * 2
  end } }
  local n = counter(t, "x")                       --> 0 2 1
  t.source.a = 2                                  --> 1 4 2
  = n()                                           --> 0
]])
each("Z6, Z8: a value that a loader stored, or create made, does not count if they then fail",
  "rawget(t, 'x'), rawget(t, 'view'), made", [[
  made = 0
  local t = object { x = lazy { loader = function(self)
    self.x = 1
    if made < 2 then error("late", 0) end
  end }, view = lazy {
    create = function() made = made + 1 return made end,
    configure = function() if made < 2 then error {} end end,
  } }
  = t.x                                           --! ^late$
  = t.view                                        --! ^table: 
  = obs.is_valid(t, "x"), obs.is_valid(t, "view") --> false false
  = rawget(t, "x"), rawget(t, "view"), made       --> nil nil 1
  = t.view, t.x                                   --> 2 1
  = obs.is_valid(t, "x"), obs.is_valid(t, "view") --> true true
]])

-- Created values ----------------------------------------------------------------------------------

each("Z7: created at the first read, once, and configured once, with the argument", "told()", [[
  local note, told = recorder()
  local argument, t = {}, nil
  t = object { view = lazy {
    create = function(given)
      note("create", given == argument)
      return {}
    end,
    configure = function(self, view, given)
      -- The configured value is already stored.
      note("configure", self == t, given == argument, self.view == view)
    end,
    with = argument,
  } }
  = obs.peek(t, "view")                           --> nil
  = told()                                        --> -
  = t.view == t.view, obs.peek(t, "view") == t.view  --> true true
  = told()                                        --> create true configure true true true
  local mine = {}
  t.view = mine
  = t.view == mine, told()                        --> true -
  t.view = nil
  = obs.is_valid(t, "view"), obs.peek(t, "view"), told()  --> false nil -
  local _ = t.view                                --> create true configure true true true
]])
each("Z7: watchers of a created value, and dependencies at which it is created again",
  "n(), made, t.view.kind", [[
  made = 0
  local t = object { kind = "a", view = lazy {
    deps = { "kind" }, create = function() made = made + 1 return { title = made } end,
    configure = function(self, view) view.kind = self.kind end,
  } }
  local n = counter(t, "view.title")              --> 0 1 a
  t.view.title = "x"                              --> 1 1 a
  t.kind = "b"                                    --> 1 2 b
  t.view = nil                                    --> 1 3 b
]])

-- Stores ------------------------------------------------------------------------------------------

-- A store that counts its calls and keeps its entries elsewhere.
function disk(entries)
  local note, told = recorder()
  return setmetatable({}, {
    __index = function(_, name)
      note("load", name)
      return entries[name]
    end,
    __newindex = function(_, name, value)
      note("store", name)
      entries[name] = value
    end,
  }), told
end

example("Z6: an entry of a store is loaded at the first read, and written through",
  "t.zoom, told()", [[
  local entries, t = { zoom = 2 }, {}
  local store, told = disk(entries)
  obs.backed(t, { "zoom", "theme" }, store)
  = told(), next(t)                               --> - nil
  = t.zoom, t.zoom, t.theme, t.theme, told()      --> 2 2 nil nil load zoom load theme
  = obs.is_valid(t, "theme")                      --> true
  t.zoom = 3                                      --> 3 store zoom load zoom
  = entries.zoom                                  --> 3
  t.zoom = nil                                    --> nil store zoom load zoom
  rawset(t, "zoom", 4)                            --> 4 store zoom load zoom
  entries.zoom = 5                                --> 4 -
  obs.invalidate(t, "zoom")                       --> 5 load zoom
]])
example("Z6: the value that the store keeps counts; if it rejects one, nothing changes",
  "t.zoom, t.size", [[
  local entries, t = {}, {}
  obs.backed(t, { "zoom", "size" }, setmetatable({}, {
    __index = entries,
    __newindex = function(_, name, value)
      if name == "size" then error "full" end
      entries[name] = math.min(value, 100)
    end,
  }))
  for _ = 1, 2 do t.zoom = 500 end                --> 100 nil
  t.size = 3                                      --! full
  obs.flush()                                     --> 100 nil
]])
example("Z6: watchers are called when a property's value changes", "n(), t.zoom", [[
  local entries, t = { zoom = 2 }, {}
  obs.backed(t, { "zoom", "size" }, (disk(entries)))
  local n = counter(t, "zoom")
  t.zoom = 3                                      --> 1 3
  t.zoom = 3                                      --> 0 3
  t.size = 3                                      --> 0 3
  obs.invalidate(t, "zoom")                       --> 0 3
  entries.zoom = 4
  obs.invalidate(t, "zoom")                       --> 1 4
]])
example("Z6: changes of tables, dictionaries, models and other stores are heard by all targets",
  "n(), t.zoom, u.zoom, t.declared, t.tracked", [[
  local again = {}
  obs.backed(again, "zoom", { zoom = 2 })
  for _, store in ipairs {
    { zoom = 2 }, obs.dictionary { zoom = 2 }, obs.model("Settings", { zoom = 2 })(),
    setmetatable({ zoom = 2 }, {}), again,
  } do
    local t, u = {}, {}
    obs.backed(t, "zoom", store)
    obs.backed(u, "zoom", store)
    obs.computed(t, "declared", { "zoom" }, function(self) return (self.zoom or 0) * 10 end)
    obs.computed(t, "tracked", function(self) return (self.zoom or 0) * 10 end)
    = t.zoom, t.tracked                           --> 2 20
    store.zoom = 3
    = obs.is_valid(t, "zoom")                     --> false
    local n = counter(t, "zoom")                  --> 0 3 3 30 30
    store.zoom = 4                                --> 1 4 4 40 40
    t.zoom = 5                                    --> 1 5 5 50 50
    = store.zoom                                  --> 5
    store.zoom = nil                              --> 1 nil nil 0 0
  end
]])
example("Z6: an instance may have a store, keys need not be names, and declarations can be removed",
  "t[1], t[true], n()", [[
  local row = { name = "Ada", age = 36 }
  local u = obs.model("User", { row = obs.none, name = obs.none, age = obs.none }) { row = row }
  obs.backed(u, { "name", "age" }, row)
  u.age = 37
  = u.name, row.age                               --> Ada 37
  obs.forget(u, "age")
  u.age = 40
  = u.age, row.age                                --> 40 37
  local t, store = {}, { "one", [true] = "yes" }
  obs.backed(t, 1, store)
  obs.backed(t, { true, 2.0 }, store)
  local n = counter(t, obs.path(1))               --> one yes 0
  t[2], store[1] = "two", "uno"                   --> uno yes 1
  = store[2]                                      --> two
]])
example("Z6: bad arguments are rejected", nil, [[
  local backed, t = obs.backed, {}
  backed()                         --! #1 to 'backed' %(table expected, got no value%)
  backed(t)                        --! #2 to 'backed' %(name of a property expected, got nil%)
  backed(t, {}, {})                --! #2 to 'backed' %(the list of names is empty%)
  backed(t, { 0 / 0 }, {})         --! #2 to 'backed' %(name of a property expected, got NaN%)
  backed(t, "zoom")                --! bad argument #3 to 'backed'
  backed(t, "zoom", "store")       --! bad argument #3 to 'backed'
  backed(t, "zoom", t)             --! #3 to 'backed' %(a table cannot be its own store%)
]])
check("L6: targets and stores are collected", function()
  local gone = setmetatable({}, { __mode = "k" })
  do
    local store = { zoom = 1 }
    for _ = 1, 5 do
      local t = {}
      obs.backed(t, "zoom", store)
      local _ = t.zoom
      obs.observe(t, "zoom", function() return t end)
      store[#store + 1] = t
      gone[t] = true
    end
    gone[store] = true
  end
  collectgarbage() collectgarbage() collectgarbage()
  eq(next(gone), nil)
end)

finish()
