-- Rule Z6: properties that are the entries of a store.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

-- A store that counts its calls and keeps its entries elsewhere.
local function disk(entries)
  local log = {}
  local store = setmetatable({}, {
    __index = function(_, name)
      log[#log + 1] = "load " .. name
      return entries[name]
    end,
    __newindex = function(_, name, value)
      log[#log + 1] = "store " .. name
      entries[name] = value
    end,
  })
  return store, function()
    local text = table.concat(log, ", ")
    for i in ipairs(log) do log[i] = nil end
    return text
  end
end

check("a property is loaded when it is read for the first time", function()
  local store, log = disk { zoom = 2 }
  local t = {}
  obs.backed(t, { "zoom", "theme" }, store)
  eq(log(), "") eq(next(t), nil)
  eq(t.zoom, 2) eq(t.zoom, 2) eq(t.theme, nil) eq(t.theme, nil)
  eq(log(), "load zoom, load theme")
  eq(obs.is_valid(t, "theme"), true)
end)
check("assignments are written through", function()
  local entries = { zoom = 2 }
  local store = disk(entries)
  local t = {}
  obs.backed(t, "zoom", store)
  t.zoom = 3
  eq(entries.zoom, 3) eq(t.zoom, 3)
  t.zoom = nil
  eq(entries.zoom, nil) eq(t.zoom, nil)
  rawset(t, "zoom", 4)
  eq(entries.zoom, 4) eq(t.zoom, 4)
end)
check("the value that the store keeps counts", function()
  local entries = {}
  local store = setmetatable({}, {
    __index = entries,
    __newindex = function(_, name, value) entries[name] = math.min(value, 100) end,
  })
  local t = {}
  obs.backed(t, "zoom", store)
  t.zoom = 500
  eq(t.zoom, 100)
  t.zoom = 500
  eq(t.zoom, 100)
end)
check("an assignment that the store rejects changes nothing", function()
  local store = setmetatable({ zoom = 2 }, { __newindex = function() error "full" end })
  local t = {}
  obs.backed(t, { "zoom", "size" }, store)
  fails("full", function() t.size = 3 end)
  eq(t.size, nil)
end)
check("after an invalidation the store is read again", function()
  local entries = { zoom = 2 }
  local store, log = disk(entries)
  local t = {}
  obs.backed(t, "zoom", store)
  eq(t.zoom, 2)
  entries.zoom = 3
  eq(t.zoom, 2)
  obs.invalidate(t, "zoom")
  eq(t.zoom, 3)
  eq(log(), "load zoom, load zoom")
end)
check("watchers are called when a property's value changes", function()
  local entries = { zoom = 2 }
  local t = {}
  obs.backed(t, { "zoom", "size" }, (disk(entries)))
  local n = counter(t, "zoom")
  t.zoom = 3
  eq(n(), 1)
  t.zoom = 3
  eq(n(), 0)
  t.size = 3
  eq(n(), 0)
  obs.invalidate(t, "zoom")
  eq(n(), 0)
  entries.zoom = 4
  obs.invalidate(t, "zoom")
  obs.invalidate(t, "zoom")
  eq(n(), 1)
  eq(t.zoom, 4)
end)
check("changes of tables, dictionaries and models are heard", function()
  local Settings = obs.model("Settings", { zoom = 2 })
  local stores = {
    { zoom = 2 }, obs.dictionary { zoom = 2 }, Settings(), setmetatable({ zoom = 2 }, {}),
  }
  local again = {}
  obs.backed(again, "zoom", { zoom = 2 })
  stores[#stores + 1] = again
  for _, store in ipairs(stores) do
    local t = {}
    obs.backed(t, "zoom", store)
    eq(t.zoom, 2)
    store.zoom = 3
    eq(obs.is_valid(t, "zoom"), false) eq(t.zoom, 3)
    local n = counter(t, "zoom")
    store.zoom = 4
    eq(n(), 1)
    t.zoom = 5
    eq(store.zoom, 5)
    eq(n(), 1)
    eq(t.zoom, 5)
    store.zoom = nil
    eq(n(), 1)
    eq(t.zoom, nil)
  end
end)
check("two targets of one store follow each other", function()
  local store, a, b = obs.dictionary {}, {}, {}
  obs.backed(a, "zoom", store)
  obs.backed(b, "zoom", store)
  local n = counter(b, "zoom")
  a.zoom = 2
  eq(n(), 1)
  eq(b.zoom, 2)
end)
check("computed properties depend on them", function()
  local store, t = { zoom = 2 }, {}
  obs.backed(t, "zoom", store)
  obs.computed(t, "declared", { "zoom" }, function(self) return self.zoom * 10 end)
  obs.computed(t, "tracked", function(self) return self.zoom * 10 end)
  eq(t.declared, 20) eq(t.tracked, 20)
  store.zoom = 3
  eq(t.declared, 30) eq(t.tracked, 30)
  t.zoom = 4
  eq(t.declared, 40) eq(t.tracked, 40)
end)
check("an instance of a model may have a store", function()
  local User = obs.model("User", { row = obs.none, name = obs.none, age = obs.none })
  local row = { name = "Ada", age = 36 }
  local u = User { row = row }
  obs.backed(u, { "name", "age" }, row)
  eq(u.name, "Ada")
  u.age = 37
  eq(row.age, 37)
end)
check("the declaration is removed like any other", function()
  local store, t = { zoom = 2 }, {}
  obs.backed(t, "zoom", store)
  eq(t.zoom, 2)
  obs.forget(t, "zoom")
  eq(t.zoom, nil)
  t.zoom = 7
  eq(store.zoom, 2)
end)
check("keys can be other values than names", function()
  local t, store = {}, { "one", [true] = "yes" }
  obs.backed(t, 1, store)
  obs.backed(t, { true, 2.0 }, store)
  eq(t[1], "one")
  eq(t[true], "yes")
  t[2] = "two"
  eq(store[2], "two")
  local calls = counter(t, obs.path(1))
  store[1] = "uno"
  eq(calls(), 1)
  eq(t[1], "uno")
end)
check("bad arguments are rejected", function()
  fails("bad argument #1 to 'backed' %(table expected, got no value%)", obs.backed)
  fails("bad argument #2 to 'backed' %(name of a property expected, got nil%)", obs.backed, {})
  fails("bad argument #2 to 'backed' %(the list of names is empty%)", obs.backed, {}, {}, {})
  fails("bad argument #2 to 'backed' %(name of a property expected, got NaN%)",
    obs.backed, {}, { 0 / 0 }, {})
  fails("bad argument #3 to 'backed'", obs.backed, {}, "zoom")
  fails("bad argument #3 to 'backed'", obs.backed, {}, "zoom", "store")
  local t = {}
  fails("bad argument #3 to 'backed' %(a table cannot be its own store%)", obs.backed, t, "zoom", t)
end)
check("targets and stores are collected", function()
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
