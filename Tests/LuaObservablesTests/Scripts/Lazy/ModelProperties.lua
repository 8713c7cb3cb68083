-- Rules Z9 and P9: lazy and computed properties that a model declares for each instance.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

local function keys(t)
  local list = {}
  for key in pairs(t) do list[#list + 1] = tostring(key) end
  table.sort(list)
  return table.concat(list, " ")
end
local function list(names)
  local copy = { table.unpack(names) }
  table.sort(copy)
  return table.concat(copy, " ")
end

-- A model, and a function that returns the number of runs of the getter since its last call.
local function users()
  local calls = 0
  local User = obs.model("User", {
    first = "A", last = "B", nick = obs.none,
    full = obs.computed({ "first", "last" }, function(self)
      calls = calls + 1
      return self.first .. " " .. self.last
    end),
    greet = function(self) return "hi " .. self.full end,
  })
  return User, function()
    local before = calls
    calls = 0
    return before
  end
end

-- Reading and invalidating -----------------------------------------------------------------------

check("a computed property is computed when it is read, once", function()
  local User, calls = users()
  local u = User()
  eq(calls(), 0)
  eq(u.full, "A B") eq(u.full, "A B")
  eq(calls(), 1)
  u.first = "C"
  eq(calls(), 0)
  eq(u.full, "C B")
  eq(calls(), 1)
end)
check("each instance has its own", function()
  local User, calls = users()
  local u, v = User { first = "U" }, User { first = "V" }
  eq(u.full .. v.full, "U BV B")
  u.first = "W"
  calls()
  eq(v.full, "V B") eq(calls(), 0)
  eq(u.full, "W B") eq(calls(), 1)
end)
check("the engine does not know an instance until one of its lazy properties is read", function()
  local User = users()
  collectgarbage()
  collectgarbage()
  -- Garbage of others must not be collected between two counts.
  collectgarbage "stop"
  local before = obs.stats().observed
  local u = User()
  eq(u:greet() and obs.stats().observed > before, true)
  local v = User { last = "X" }
  v.first, v.nick, v.other = "Y", "Z", 1
  local _ = v.first, v.nick, v.nothing
  local now = obs.stats().observed
  local w = User()
  w.first, w.nick = "x", "y"
  _ = w.nick
  eq(obs.stats().observed, now)
  collectgarbage "restart"
end)
check("pairs lists stored and valid lazy properties, and computes none", function()
  local User, calls = users()
  local u = User { nick = "N" }
  eq(keys(u), "first last nick")
  obs.observe(u, "first", nothing)
  eq(keys(u), "first last nick")
  eq(calls(), 0)
  eq(u.full, "A B")
  eq(keys(u), "first full last nick")
  u.first = "C"
  eq(keys(u), "first last nick")
end)
check("methods and shared values are found behind the properties", function()
  local User = users()
  local u = User()
  eq(u:greet(), "hi A B")
  User.VERSION = 3
  function User:late() return self.full .. "!" end
  eq(u.VERSION, 3) eq(u:late(), "A B!") eq(u.nothing, nil) eq(u[1], nil)
  obs.observe(u, "*", nothing)
  eq(u.VERSION, 3) eq(u:late(), "A B!") eq(u.nothing, nil) eq(u[1], nil)
end)
check("a lazy property is kept until it is invalidated", function()
  local calls = 0
  local Photo = obs.model("Photo", { thumbnail = obs.lazy(function(self, name)
    calls = calls + 1
    return name .. calls
  end) })
  local p = Photo()
  eq(p.thumbnail, "thumbnail1") eq(p.thumbnail, "thumbnail1")
  obs.invalidate(p, "thumbnail")
  eq(p.thumbnail, "thumbnail2")
  obs.invalidate(p)
  eq(p.thumbnail, "thumbnail3")
end)
check("dependencies are found by tracking", function()
  local User = obs.model("User", {
    first = "A", last = "B", short = true,
    full = obs.computed(function(self) return self.short and self.first or self.last end),
    loud = obs.computed(function(self) return self.full:upper() .. "!" end),
  })
  local u = User { first = "a", last = "b" }
  eq(u.loud, "A!")
  u.last = "c"
  eq(obs.is_valid(u, "loud"), true)
  u.first = "d"
  eq(obs.is_valid(u, "loud"), false)
  eq(u.loud, "D!")
  u.short = false
  eq(u.loud, "C!")
end)
check("one loader serves many names", function()
  local function load(self, name) self[name] = #name end
  local Size = obs.model("Size", {
    width = obs.lazy { loader = load }, height = obs.lazy { loader = load },
  })
  local s = Size()
  eq(s.width + s.height, 11)
end)

-- Assigning --------------------------------------------------------------------------------------

check("assigning overrides until the next invalidation, also before the first read", function()
  for _, prepare in ipairs {
    nothing, function(u) obs.observe(u, "first", nothing) end, function(u) return u.full end,
    function(u) obs.observe(u, "full", nothing) end, function(u) obs.observe(u, "*", nothing) end,
  } do
    local User, calls = users()
    local u = User()
    prepare(u)
    calls()
    u.full = "X"
    eq(u.full, "X") eq(calls(), 0)
    eq(obs.is_valid(u, "full"), true)
    u.first = "C"
    eq(u.full, "C B")
  end
end)
check("the constructor may override", function()
  local User, calls = users()
  local u = User { full = "X", first = "F" }
  eq(u.full, "X") eq(calls(), 0)
  u.last = "L"
  eq(u.full, "F L")
end)
check("an override ends also if its dependency was never computed", function()
  local User = users()
  local Letter = obs.model("Letter", {
    user = obs.none,
    greeting = obs.computed({ "user.full" }, function(self) return "Dear " .. self.user.full end),
    text = obs.computed({ "greeting" }, function(self) return self.greeting .. "!" end),
  })
  for _, name in ipairs { "greeting", "text" } do
    local letter = Letter { user = User() }
    letter[name] = "X"
    letter.user.first = "C"
    assert(letter[name]:match "^Dear C B")
  end
end)
check("an assignment to a read-only property is always a clear error", function()
  local Box = obs.model("Box", {
    size = 1,
    double = obs.lazy {
      deps = { "size" }, readonly = true, get = function(self) return 2 * self.size end,
    },
  })
  local b = Box()
  fails("double", function() b.double = 3 end)
  obs.observe(b, "size", nothing)
  fails("double", function() b.double = 3 end)
  eq(b.double, 2)
  fails("double", function() b.double = 3 end)
  fails("double", Box, { double = 3 })
end)

-- Observing --------------------------------------------------------------------------------------

check("a lazy property can be observed before its first read", function()
  local User, calls = users()
  local u = User()
  local n = counter(u, "full")
  eq(calls(), 1)
  u.first = "C"
  eq(n(), 1)
  u.first, u.last = "C B", ""
  eq(n(), 1)
  u.nick = "x"
  eq(n(), 0)
end)
check("as a component of a path it is computed as soon as the path needs it", function()
  local Address = obs.model("Address", { zip = "1" })
  local User = obs.model("User", {
    home = obs.none, work = obs.none, at_work = false,
    address = obs.computed({ "home", "work", "at_work" }, function(self)
      return self.at_work and self.work or self.home
    end),
  })
  local u = User { home = Address(), work = Address { zip = "2" } }
  local n = counter({ user = u }, "user.address.zip")
  u.home.zip = "3"
  eq(n(), 1)
  u.at_work = true
  eq(n(), 1)
  u.work.zip = "4"
  eq(n(), 1)
  u.home.zip = "5"
  eq(n(), 0)
end)
check("'*' hears lazy properties whose dependencies are elsewhere", function()
  local settings = { zoom = 1 }
  local View = obs.model("View", {
    size = 2, zoomed = obs.computed({ { settings, "zoom" }, "size" }, function(self)
      return self.size * settings.zoom
    end),
  })
  local v = View()
  local n = counter(v, "*")
  eq(v.zoomed, 2)
  n()
  settings.zoom = 3
  eq(n(), 1)
  eq(v.zoomed, 6)
end)
check("lazy properties of the elements of a collection are observed", function()
  local Item = obs.model("Item", {
    price = 1, count = 1,
    total = obs.computed({ "price", "count" }, function(self) return self.price * self.count end),
  })
  local order = { items = obs.array { Item { price = 2 }, Item { price = 3, count = 2 } } }
  local n = counter(order, "items.@sum.total")
  eq(obs.get(order, "items.@sum.total"), 8)
  order.items[1].count = 4
  eq(n(), 1)
  eq(obs.get(order, "items.@sum.total"), 14)
  order.items:append(Item())
  eq(n(), 1)
  eq(obs.get(order, "items.@sum.total"), 15)
end)
check("one computed property depends on another", function()
  local User = obs.model("User", {
    first = "a", full = obs.computed({ "first" }, function(self) return self.first .. "!" end),
    loud = obs.computed({ "full" }, function(self) return self.full:upper() end),
  })
  local u = User()
  local n = counter(u, "loud")
  u.first = "b"
  eq(n(), 1)
  eq(u.loud, "B!")
end)

-- Asking -----------------------------------------------------------------------------------------

check("an instance knows its lazy properties before they are read", function()
  local User, calls = users()
  eq(obs.is_valid(User(), "full"), false)
  eq(list(obs.invalid_names(User())), "full")
  eq(#obs.valid_names(User()), 0)
  eq(obs.peek(User(), "full"), nil)
  obs.invalidate(User(), "full")
  obs.invalidate(User())
  eq(calls(), 0)
  local u = User()
  obs.force(u)
  eq(calls(), 1)
  eq(list(obs.valid_names(u)), "full") eq(obs.peek(u, "full"), "A B")
end)
check("a declaration can be removed on one instance, also before the first read", function()
  for _, prepare in ipairs { nothing, function(u) return u.full end } do
    local User = users()
    local u, v = User(), User()
    prepare(u)
    obs.forget(u, "full")
    eq(u.full, nil)
    u.full = "plain"
    u.first = "C"
    eq(u.full, "plain") eq(v.full, "A B")
    u.full = nil
    eq(u.full, nil)
    eq(#obs.invalid_names(u), 0)
    obs.computed(u, "full", { "first" }, function(self) return self.first .. "!" end)
    eq(u.full, "C!")
  end
end)
check("an instance may declare more properties, and redeclare others", function()
  local User = users()
  local u = User()
  obs.computed(u, "full", { "nick" }, function(self) return self.nick or "none" end)
  obs.computed(u, "more", { "full" }, function(self) return self.full .. "+" end)
  eq(u.more, "none+")
  u.nick = "N"
  eq(u.more, "N+")
  local n = counter(u, "more")
  u.nick = "M"
  eq(n(), 1)
end)

-- Inheritance ------------------------------------------------------------------------------------

check("children inherit lazy properties, and may replace any of them", function()
  local User = users()
  local Admin = obs.model("Admin", User, {
    level = 1,
    title = obs.computed({ "full", "level" }, function(self) return self.full .. self.level end),
  })
  local Loud = obs.model("Loud", Admin, {
    full = obs.computed({ "first" }, function(self) return self.first .. "!" end),
  })
  local Stored = obs.model("Stored", Admin, { full = "stored" })
  local Method = obs.model("Method", User, { full = function() return "method" end })
  local Back = obs.model("Back", Stored, { level = obs.lazy(function() return 7 end) })
  eq(Admin().title, "A B1") eq(Loud().title, "A!1") eq(Stored().title, "stored1")
  eq(Method():full(), "method") eq(Back().title, "stored7")
  eq(keys(Stored()), "first full last level")
  local l = Loud()
  eq(l.title, "A!1")
  l.last = "X"
  eq(obs.is_valid(l, "title"), true)
  l.first = "C"
  eq(l.title, "C!1")
  function User:late() return self.full end
  eq(l:late(), "C!")
end)
check("a method of a parent that is added later hides no property of a child", function()
  local User = obs.model("User", { first = "A" })
  local Admin = obs.model("Admin", User, { full = obs.lazy(function() return "full" end) })
  function User.full() end
  eq(Admin().full, "full")
end)

-- P9 ---------------------------------------------------------------------------------------------

check("dependencies of a computed property are declared there or in a parent", function()
  local User = users()
  local function depend(path) return { loud = obs.computed({ path }, nothing) } end
  fails("bad argument #3 to 'model' %('loud' depends on 'fulll': "
      .. "X has no property 'fulll' %(did you mean 'full'%?%)%)",
    obs.model, "X", User, depend "fulll")
  fails("bad argument #2 to 'model' %('loud' depends on 'frist': X has no property 'frist'",
    obs.model, "X", { first = 1, loud = obs.computed({ "frist.name" }, nothing) })
  fails("'loud' depends on 'greet': 'greet' is a method of X, not a property",
    obs.model, "X", User, depend "greet")
  fails("'full' depends on 'first': 'first' is a method of X",
    obs.model, "X", User, { first = nothing })
  for _, path in ipairs { "full", "first", "nick.x.y", "*", "#1", "@count", "nick.@sum.price" } do
    obs.model("X", User, depend(path))
  end
  obs.model("X", User, { loud = obs.computed({ { { a = 1 }, "a" } }, nothing) })
end)
check("a declaration on one instance depends on names that the instance has", function()
  local User = users()
  local u = User()
  fails("bad argument #3 to 'computed' %(User has no property 'frist' %(did you mean 'first'%?%)%)",
    obs.computed, u, "more", { "frist" }, nothing)
  fails("bad argument #3 to 'lazy' %('greet' is a method of User, not a property%)",
    obs.lazy, u, "more", { deps = { "greet" }, get = nothing })
  u.extra = 1
  User.SHARED = 2
  obs.computed(u, "more", { "extra", "SHARED", "full", "*" }, function(self) return self.extra end)
  obs.computed(u, "most", { "more", { { x = 1 }, "x" } }, function(self) return self.more end)
  eq(u.most, 1)
  u.extra = 2
  eq(u.most, 2)
end)
check("names of lazy properties are names like others", function()
  local User = users()
  fails("User has no property 'fulll' %(did you mean 'full'%?%)",
    obs.observe, User(), "fulll", nothing)
  fails("'full' is a property of the instances of User", function() function User:full() end end)
end)

-- Callers ----------------------------------------------------------------------------------------

check("an error of a getter reaches the reader, and the next read computes again", function()
  local broken = true
  local Page = obs.model("Page", {
    text = obs.lazy(function() return not broken and "text" or error "broken" end),
  })
  local p = Page()
  fails("broken", function() return p.text end)
  fails("broken", function() return p.text end)
  broken = false
  eq(p.text, "text")
end)
check("functions that make and read instances may be called with anything", function()
  local User = users()
  local u = User()
  for _, f in ipairs {
    rawget(User, "__index"), rawget(User, "__newindex"), getmetatable(User).__call,
  } do
    for _, first in ipairs { 1, "x", true, {}, print, u, User } do
      for _, key in ipairs { 1, "full", "first", true, 0 / 0, u } do
        pcall(f, first, key, 1)
        pcall(f, first, key)
      end
      pcall(f, first)
    end
    pcall(f)
  end
  eq(User().full, "A B")
end)
check("an instance behind another table's __index is read as itself", function()
  local User = users()
  local u = User { first = "U" }
  local proxy = setmetatable({ first = "P" }, { __index = u })
  eq(proxy.full, "U B") eq(proxy:greet(), "hi U B")
end)

-- Lifetime ---------------------------------------------------------------------------------------

check("instances with lazy properties and watchers are collected", function()
  local gone = setmetatable({}, { __mode = "k" })
  do
    local User = users()
    for _ = 1, 10 do
      local u = User()
      obs.observe(u, "full", function() u.seen = true end)
      local v = User()
      obs.forget(v, "full")
      v.friend, u.friend = u, v
      gone[u], gone[v] = true, true
    end
    gone[User] = true
  end
  obs.flush()
  collectgarbage() collectgarbage() collectgarbage()
  eq(next(gone), nil)
end)

finish()
