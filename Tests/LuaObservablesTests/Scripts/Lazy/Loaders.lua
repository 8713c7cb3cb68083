-- Rules Z6 and Z7: loaders, and values that are created once.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

check("Z6: one loader for many names stores the requested one", function()
  local t, log, stored = {}, {}, {width = 3, height = 4}
  obs.lazy(t, {"width", "height"}, {loader = function(self, name)
    eq(self, t)
    log[#log + 1] = name
    self[name] = stored[name]
  end})
  eq(t.height, 4)
  eq(t.width * t.height, 12)
  eq(table.concat(log, " "), "height width")
  stored.width = 5
  eq(t.width, 3)
  obs.invalidate(t, "width")
  eq(t.width, 5)
  eq(#log, 3)
end)
check("Z6: other properties that a loader stores are valid, too", function()
  local t, runs = {}, 0
  obs.lazy(t, {"width", "height"}, {loader = function(self)
    runs = runs + 1
    self.width, self.height = 3, 4
  end})
  eq(t.width, 3)
  eq(obs.is_valid(t, "height"), true)
  eq(t.height, 4)
  eq(runs, 1)
end)
check("Z6: one that stores nothing leaves nil, valid", function()
  local t, runs = {}, 0
  obs.lazy(t, "x", {loader = function() runs = runs + 1 end})
  eq(t.x, nil)
  eq(obs.is_valid(t, "x"), true)
  eq(t.x, nil)
  eq(runs, 1)
end)
check("Z6: the result of a loader is not the value", function()
  local t = {}
  obs.lazy(t, "x", {loader = function() return 5 end})
  eq(t.x, nil)
end)
check("Z6: one that stores nothing after an invalidation leaves nil, not the old value", function()
  local t, value = {}, 1
  obs.lazy(t, "x", {loader = function(self) if value then self.x = value end end})
  eq(t.x, 1)
  value = nil
  obs.invalidate(t, "x")
  eq(t.x, nil)
end)
check("Z6: one that reads the property that it loads is a cycle", function()
  local t = {}
  obs.lazy(t, "size", {loader = function(self) self.size = (self.size or 0) + 1 end})
  fails("size → size", function() return t.size end)
  eq(obs.is_valid(t, "size"), false)
end)
check("Z6: loading the same property of another object inside it is fine", function()
  local function node(parent)
    local t = {parent = parent}
    obs.lazy(t, "depth", {loader = function(self)
      self.depth = self.parent and self.parent.depth + 1 or 1
    end})
    return t
  end
  eq(node(node(node())).depth, 3)
end)
check("Z6: it may read after it stored", function()
  local t = {}
  obs.lazy(t, "x", {loader = function(self)
    self.x = 1
    self.copy = self.x
  end})
  eq(t.x, 1)
  eq(t.copy, 1)
end)
check("Z6: the last stored value counts", function()
  local t = {}
  obs.lazy(t, "x", {loader = function(self)
    self.x = 1
    self.x = 2
  end})
  eq(t.x, 2)
end)
check("Z6: with dependencies and a watcher", function()
  local t, runs = {source = {a = 1}}, 0
  obs.lazy(t, "x", {deps = {"source.a"}, loader = function(self)
    runs = runs + 1
    self.x = self.source.a * 2
  end})
  local n = counter(t, "x")
  eq(t.x, 2)
  t.source.a = 2
  eq(n(), 1)
  eq(t.x, 4)
  eq(runs, 2)
  eq(n(), 0)
end)
check("Z6: a loader that raises after it stored", function()
  local t, fails_now = {}, true
  obs.lazy(t, "x", {loader = function(self)
    self.x = 1
    if fails_now then error("late", 0) end
  end})
  local ok, message = pcall(function() return t.x end)
  if not ok then eq(message, "late") end
  fails_now = false
  eq(t.x, 1)
end)
check("Z7: created at the first read, once, and configured once", function()
  local t, log = {}, {}
  local argument = {}
  obs.lazy(t, "view", {
    create = function(given)
      eq(given, argument)
      log[#log + 1] = "create"
      return {}
    end,
    configure = function(self, view, given)
      eq(self, t)
      eq(given, argument)
      eq(type(view), "table")
      -- The configured value is already stored.
      eq(self.view, view)
      log[#log + 1] = "configure"
    end,
    with = argument,
  })
  eq(#log, 0)
  eq(obs.peek(t, "view"), nil)
  eq(#log, 0)
  local view = t.view
  eq(t.view, view)
  eq(obs.peek(t, "view"), view)
  eq(table.concat(log, " "), "create configure")
end)
check("Z7: after nil it is created again", function()
  local t, made = {}, 0
  obs.lazy(t, "view", {create = function()
    made = made + 1
    return {made}
  end})
  eq(t.view[1], 1)
  t.view = nil
  eq(obs.is_valid(t, "view"), false)
  eq(obs.peek(t, "view"), nil)
  eq(made, 1)
  eq(t.view[1], 2)
end)
check("Z7: an assigned value is kept, without creating or configuring", function()
  local t, runs = {}, 0
  obs.lazy(t, "view", {
    create = function()
      runs = runs + 1
      return {}
    end,
    configure = function() runs = runs + 1 end,
  })
  local mine = {}
  t.view = mine
  eq(t.view, mine)
  eq(runs, 0)
  obs.invalidate(t, "view")
  assert(t.view ~= mine)
  eq(runs, 2)
end)
check("Z7: a class can be created, with a table of arguments", function()
  local t = {}
  obs.lazy(t, "user", {
    create = function(fields) return {name = fields.name} end, with = {name = "Ada"},
  })
  eq(t.user.name, "Ada")
end)
check("Z7: an error of create reaches the reader, and the next read tries again", function()
  local t, is_broken = {}, true
  obs.lazy(t, "view", {create = function()
    if is_broken then error({}, 0) end
    return 5
  end})
  local ok, message = pcall(function() return t.view end)
  eq(ok, false)
  eq(type(message), "table")
  is_broken = false
  eq(t.view, 5)
end)
check("Z7: watchers of a created value", function()
  local t, made = {}, 0
  obs.lazy(t, "view", {create = function()
    made = made + 1
    return {title = made}
  end})
  local n = counter(t, "view.title")
  eq(made, 1)
  t.view.title = "x"
  eq(n(), 1)
  t.view = nil
  eq(n(), 1)
  eq(made, 2)
end)
check("Z7: configure with dependencies runs at each creation", function()
  local t, log = {kind = "a"}, {}
  obs.lazy(t, "view", {
    create = function() return {} end, deps = {"kind"},
    configure = function(self, view) view.kind = self.kind end,
  })
  eq(t.view.kind, "a")
  local view = t.view
  t.kind = "b"
  eq(t.view.kind, "b")
  assert(t.view ~= view)
end)
check("Z7, Z8: a created value is dropped if its configuration fails", function()
  local t, made = {}, 0
  obs.lazy(t, "view", {
    create = function() made = made + 1 return {} end,
    configure = function() if made < 2 then error "not yet" end end,
  })
  eq(pcall(function() return t.view end), false)
  eq(obs.is_valid(t, "view"), false)
  eq(rawget(t, "view"), nil)
  assert(t.view)
  eq(made, 2)
  eq(obs.is_valid(t, "view"), true)
end)
finish()
