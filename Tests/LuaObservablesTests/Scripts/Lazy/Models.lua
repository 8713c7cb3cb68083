-- Rules Z9 and P9: models and their instances.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

local function keys(t)
  local list = {}
  for key in pairs(t) do list[#list + 1] = tostring(key) end
  table.sort(list)
  return table.concat(list, " ")
end

-- Instances --------------------------------------------------------------------------------------

check("an instance has the defaults, and the constructor's arguments", function()
  local User = obs.model("User", { name = "", age = 0, active = false, email = obs.none })
  local u, v = User { name = "Ada", active = true }, User()
  eq(u.name, "Ada") eq(u.age, 0) eq(u.active, true) eq(u.email, nil)
  eq(v.name, "") eq(v.active, false)
  eq(User(nil).name, "")
  eq(User { email = "a@b" }.email, "a@b")
end)
check("the constructor does not keep the caller's table", function()
  local User = obs.model("User", { name = "" })
  local fields = { name = "Ada" }
  local u, v = User(fields), User(fields)
  u.name = "Eve"
  eq(v.name, "Ada") eq(fields.name, "Ada") eq(getmetatable(fields), nil)
end)
check("an instance is a plain table whose metatable is the model", function()
  local User = obs.model("User", { name = "" })
  local u = User()
  eq(type(u), "table") eq(getmetatable(u), User)
  assert(tostring(u):match "^User: 0x", tostring(u))
  eq(keys(u), "name")
  u.name = nil
  eq(next(u), nil)
end)
check("pairs lists only the stored fields", function()
  local User = obs.model("User", { name = "", email = obs.none, greet = nothing })
  eq(keys(User()), "name")
  eq(keys(User { email = "x" }), "email name")
  local u = User()
  u.extra = 1
  eq(keys(u), "extra name")
end)
check("making an instance makes no objects of the engine", function()
  local User = obs.model("User", { name = "", tags = {}, greet = nothing })
  local before = obs.stats().observed
  local all = {}
  for i = 1, 100 do all[i] = User { name = "n" .. i } end
  all[1]:greet()
  eq(obs.stats().observed, before)
end)
check("an instance may be the argument of a constructor", function()
  local User = obs.model("User", { name = "", age = 1 })
  local u = User { name = "Ada", age = 3 }
  obs.observe(u, "name", nothing)
  local copy = User(u)
  eq(copy.name, "Ada") eq(copy.age, 3)
  copy.name = "Eve"
  eq(u.name, "Ada")
end)
check("methods find the instance, and may be added later", function()
  local User = obs.model("User", {
    name = "", greet = function(self) return "hi " .. self.name end,
  })
  local u = User { name = "Ada" }
  eq(u:greet(), "hi Ada")
  function User:leave() return "bye " .. self.name end
  eq(u:leave(), "bye Ada")
  obs.observe(u, "name", nothing)
  eq(u:leave(), "bye Ada")
  eq(User.greet(u), "hi Ada")
end)
check("values of a model that are set later are shared", function()
  local User = obs.model("User", { name = "" })
  User.VERSION = 3
  eq(User().VERSION, 3)
  obs.observe(User(), "VERSION", nothing)
end)
check("a model may have metamethods, and children have them too", function()
  local Point = obs.model("Point", {
    x = 0, y = 0,
    __eq = function(a, b) return a.x == b.x and a.y == b.y end,
    __add = function(a, b) return getmetatable(a) { x = a.x + b.x, y = a.y + b.y } end,
    __tostring = function(self) return self.x .. "," .. self.y end,
  })
  local Pixel = obs.model("Pixel", Point, { color = "red" })
  assert(Point { x = 1 } == Point { x = 1 })
  local sum = Pixel { x = 1 } + Pixel { y = 2 }
  eq(tostring(sum), "1,2") eq(getmetatable(sum), Pixel)
  obs.observe(sum, "x", nothing)
  eq(tostring(sum), "1,2")
end)

-- Defaults ---------------------------------------------------------------------------------------

check("defaults that are plain tables are copied deeply for each instance", function()
  local User = obs.model("User", {
    tags = {}, address = { city = { name = "Bonn" }, lines = { 1, 2 } },
  })
  local u, v = User(), User()
  u.tags[1] = "a"
  u.address.city.name = "Ulm"
  u.address.lines[1] = 9
  eq(#v.tags, 0) eq(v.address.city.name, "Bonn") eq(v.address.lines[1], 1)
  eq(User().address.city.name, "Bonn")
end)
check("a given value is kept as it is", function()
  local tags = {}
  local User = obs.model("User", { tags = { 1 }, other = {} })
  eq(User { tags = tags }.tags, tags)
end)
check("defaults that contain themselves, each other, or occur twice do so in the copy", function()
  local a, b, leaf = {}, {}, {}
  a.me, a.b, b.a, a.leaf, b.leaf = a, b, a, leaf, leaf
  a[a] = "key"
  local Ring = obs.model("Ring", { a = a, b = b })
  local one, two = Ring(), Ring()
  assert(one.a ~= a and one.a ~= two.a)
  eq(one.a.me, one.a) eq(one.a.b, one.b) eq(one.b.a, one.a) eq(one.a.leaf, one.b.leaf)
  eq(one.a[one.a], "key") eq(one.a[a], nil)
  assert(one.a.leaf ~= two.a.leaf)
end)
check("the same empty table twice stays the same table", function()
  local both = {}
  local Pair = obs.model("Pair", { a = both, b = both })
  local one, two = Pair(), Pair()
  eq(one.a, one.b)
  assert(one.a ~= two.a)
end)
check("defaults may be nested deeper than calls", function()
  local root = {}
  local last = root
  for _ = 1, 300000 do last.next = {}; last = last.next end
  local depth, at = 0, obs.model("Deep", { root = root })().root
  while at.next do depth, at = depth + 1, at.next end
  eq(depth, 300000)
end)
check("later changes of a body's tables do not affect the instances", function()
  local tags = { "a" }
  local User = obs.model("User", { tags = tags })
  tags[2] = "b"
  eq(#User().tags, 1)
end)
check("collections are copied as collections, with the plain tables in them", function()
  local Order = obs.model("Order", {
    items = obs.array { { price = 1 }, { price = 2 } }, by = obs.dictionary { a = { 1 } },
    marks = obs.set_of { "x" }, inner = { list = obs.array { 1 } },
  })
  local one, two = Order(), Order()
  one.items:append { price = 3 }
  one.items[1].price = 9
  one.by.a[1] = 9
  one.by.b = 1
  one.marks:add "y"
  one.inner.list:append(2)
  eq(two.items.count, 2) eq(two.items[1].price, 1) eq(two.by.a[1], 1) eq(two.by.b, nil)
  eq(two.marks.count, 1) eq(two.inner.list.count, 1)
  local n = counter(one, { "items.@sum.price", "by.count", "marks.count" })
  one.items:append { price = 4 }
  eq(n(), 1)
  one.by.c = 2
  eq(n(), 1)
end)
check("tables with a metatable are shared, and functions are methods", function()
  local red = setmetatable({ name = "red" }, { __index = {} })
  local User = obs.model("User", { color = red, list = { red } })
  eq(User().color, red) eq(User().list[1], red)
end)
check("an observed table is a default like any other", function()
  local tags = { "a" }
  obs.observe(tags, "*", nothing)
  local User = obs.model("User", { tags = tags })
  local u, v = User(), User()
  u.tags[1] = "b"
  eq(v.tags[1], "a") eq(tags[1], "a") eq(#u.tags, 1)
end)

-- Inheritance ------------------------------------------------------------------------------------

check("a child has the properties and methods of its parents", function()
  local User = obs.model("User", {
    name = "", tags = {}, greet = function(self) return "hi " .. self.name end,
  })
  local Admin = obs.model("Admin", User, { level = 1 })
  local Root = obs.model("Root", Admin, { level = 9 })
  local a, r = Admin { name = "Ada" }, Root { name = "Eve", level = 3 }
  eq(a:greet(), "hi Ada") eq(a.level, 1) eq(r:greet(), "hi Eve") eq(r.level, 3) eq(Root().level, 9)
  assert(r.tags ~= a.tags)
  assert(tostring(r):match "^Root: ")
  function User:late() return "late" end
  eq(r:late(), "late")
  eq(User().level, nil)
end)
check("a child can call the method that it replaces", function()
  local User = obs.model("User", {
    name = "x", greet = function(self) return "hi " .. self.name end,
  })
  local Admin = obs.model("Admin", User, {
    greet = function(self) return User.greet(self) .. "!" end,
  })
  eq(Admin():greet(), "hi x!")
end)
check("a child may replace any declaration by any other", function()
  local A = obs.model("A", { v = 1, w = {}, f = function() return "A" end, g = nothing })
  local B = obs.model("B", A, {
    v = { 2 }, w = function() return "w" end, f = "text", g = obs.none,
  })
  local b = B()
  eq(b.v[1], 2) eq(b:w(), "w") eq(b.f, "text") eq(b.g, nil)
  eq(keys(b), "f v")
  fails("'w' is a method of B, not a property", B, { w = 1 })
  eq(B { g = 1 }.g, 1)
  obs.observe(b, "g", nothing)
  eq(b.g, nil)
  local C = obs.model("C", B, { g = function() return "C" end, v = obs.none })
  eq(C():g(), "C") eq(C().v, nil)
  -- Parents do not change.
  eq(A().v, 1) eq(A():f(), "A")
end)
check("a body may be left out", function()
  local A = obs.model("A", { v = 1 })
  local B = obs.model("B", A)
  eq(B().v, 1)
end)

-- P9 ---------------------------------------------------------------------------------------------

check("a misspelt name is rejected at registration", function()
  local Address = obs.model("Address", { zip = "", city = obs.none })
  local User = obs.model("User", { name = "", address = obs.none })
  local u = User { address = Address() }
  fails("component 1 of key path 'nmae': User has no property 'nmae' %(did you mean 'name'%?%)",
    obs.observe, u, "nmae", nothing)
  fails("component 2 of key path 'address%.zpi': "
    .. "Address has no property 'zpi' %(did you mean 'zip'%?%)",
    obs.observe, u, "address.zpi", nothing)
  fails("component 3 of key path 'user%.address%.zipp': Address has no property",
    obs.observe, { user = u }, "user.address.zipp", nothing)
  fails("User has no property 'name%.zip'", obs.observe, u, obs.path "name.zip", nothing)
  fails("User has no property 'qqqqqqqq'%)", obs.observe, u, "qqqqqqqq", nothing)
  eq(table.concat(obs.observed_keys(u), " "), "")
end)
check("names of parents count, also names of the nearest one", function()
  local User = obs.model("User", { name = "" })
  local Admin = obs.model("Admin", User, { level = 1 })
  local a = Admin()
  obs.observe(a, { "name", "level" }, nothing)
  fails("Admin has no property 'naem' %(did you mean 'name'", obs.observe, a, "naem", nothing)
  fails("User has no property 'level'", obs.observe, User(), "level", nothing)
end)
check("declared names need no value, and '*' and numbers no name", function()
  local User = obs.model("User", { email = obs.none })
  local u = User()
  local n = counter(u, "email")
  u.email = "x"
  eq(n(), 1)
  u[1] = "one"
  obs.observe(u, { "*", "#1", "1", "@count" }, nothing)
  obs.observe(u, obs.path(7), nothing)
end)
check("an undeclared name that the instance has is accepted", function()
  local User = obs.model("User", { name = "" })
  local u = User()
  fails("no property 'extra'", obs.observe, u, "extra", nothing)
  u.extra = 1
  local n = counter(u, "extra")
  u.extra = 2
  eq(n(), 1)
end)
check("a path does not lead to a method", function()
  local User = obs.model("User", { greet = nothing })
  local Admin = obs.model("Admin", User, {})
  fails("component 1 of key path 'greet': 'greet' is a method of User, not a property",
    obs.observe, User(), "greet", nothing)
  fails("'greet' is a method of Admin", obs.observe, Admin(), "greet", nothing)
end)
check("an object that turns up later and lacks the name is silent", function()
  local User = obs.model("User", { name = "" })
  local t = {}
  local n = counter(t, "user.nick")
  t.user = User()
  eq(n(), 1)
  t.user.name = "x"
  eq(n(), 0)
end)
check("the constructor rejects undeclared names", function()
  local User = obs.model("User", { name = "", greet = nothing })
  fails("User has no property 'nmae' %(did you mean 'name'%?%)", User, { nmae = "" })
  fails("'greet' is a method of User, not a property", User, { greet = 1 })
  fails("name of a property of User expected, got the number 1", User, { "Ada" })
  fails("name of a property of User expected, got a boolean", User, { [true] = 1 })
  fails("bad argument #1 to 'User' %(table of properties expected, got string%)", User, "Ada")
  fails("bad argument #1 to 'User' %(table of properties expected, got boolean%)", User, false)
  local message = fails("no property", function()
    local u = User { x = 1 }
    return u
  end)
  assert(message:match "^[^\n]*Models%.lua:%d+: User has no", message)
end)

-- Not models --------------------------------------------------------------------------------------

check("a model has a name", function()
  fails("bad argument #1 to 'model' %(name expected, got no value%)", obs.model)
  fails("bad argument #1 to 'model' %(name expected, got table%)", obs.model, { name = "" })
  fails("bad argument #1 to 'model' %(name expected, got an empty one%)", obs.model, "", {})
end)
check("a model has a body, and its parent is a model", function()
  local User = obs.model("User", {})
  fails("bad argument #2 to 'model' %(table of properties and methods expected, got no value%)",
    obs.model, "X")
  fails("bad argument #2 to 'model' %(table of properties and methods expected, got number%)",
    obs.model, "X", 5)
  fails("bad argument #3 to 'model' %(table of properties and methods expected, got number%)",
    obs.model, "X", User, 5)
  fails("got the model User", obs.model, "X", User, User)
  fails("bad argument #2 to 'model' %(model expected, got nil%)", obs.model, "X", nil, {})
  fails("bad argument #2 to 'model' %(model expected, got table%)", obs.model, "X", {}, {})
  fails("bad argument #2 to 'model' %(model expected, got an instance of User%)",
    obs.model, "X", User(), {})
end)
check("a body has names", function()
  fails("name of a property or method expected, got the number 1", obs.model, "X", { "name" })
  fails("name of a property or method expected, got a table", obs.model, "X", { [{}] = 1 })
end)
check("a body cannot define how instances are accessed", function()
  for _, name in ipairs { "__index", "__newindex", "__name" } do
    fails("'" .. name .. "' belongs to the model", obs.model, "X", { [name] = nothing })
  end
end)
check("a property cannot become a method later", function()
  local User = obs.model("User", { name = "", email = obs.none })
  fails("'name' is a property of the instances of User", function() User.name = nothing end)
  fails("'email' is a property", function() function User:email() end end)
end)
check("obs.none is a unique constant", function()
  eq(tostring(obs.none), "obs.none")
  fails("cannot be changed", function() obs.none.x = 1 end)
end)
check("functions of a model may be called with anything", function()
  local User = obs.model("User", { name = "" })
  for _, name in ipairs { "__index", "__call", "__newindex" } do
    local f = getmetatable(User)[name] or rawget(User, name)
    if type(f) == "function" then
      for _, value in ipairs { 1, "x", true, {}, print } do pcall(f, value, value, value) end
      pcall(f)
    end
  end
end)

-- Names of objects that come later --------------------------------------------------------------

-- The reports while `body` runs and in the turn after it.
local function reports(body)
  local log = {}
  obs.on_error(function(message, where)
    log[#log + 1] = ("%s %s: %s"):format(where.kind, where.name, message)
    assert(where.cause or where.kind == "immediate", "caused by no write")
  end)
  body()
  obs.flush()
  obs.on_error(nil)
  return table.concat(log, "\n")
end

check("P9: a misspelt name of a later object is reported once, when the object arrives", function()
  local Node = obs.model("Node", { name = "", next = obs.none })
  local node, calls = Node {}, 0
  obs.observe(node, "next.naem", function() calls = calls + 1 end, { name = "w" })
  local message = "component 2 of key path 'next.naem': "
    .. "Node has no property 'naem' (did you mean 'name'?)"
  eq(reports(function() node.next = Node {} end), "watcher w: " .. message)
  eq(reports(function() node.next = Node {} end), "")
  eq(calls, 2)
  obs.observe(node, "next.next.naem", function() end, { name = "i", immediate = true })
  eq(reports(function() node.next.next = Node {} end),
    "immediate i: "
      .. message:gsub("component 2", "component 3"):gsub("path 'next", "path 'next.next"))
end)
check("P9: … but not a name of other objects that may be there in turn, or among others", function()
  local User = obs.model("User", { name = "", friends = obs.array() })
  local Admin = obs.model("Admin", User, { level = 1 })
  local state, calls = { user = nil }, 0
  obs.observe(state, "user.level", function() calls = calls + 1 end)
  local ann = User {}
  eq(reports(function() state.user = ann end), "")
  eq(reports(function() state.user = Admin {} end), "")
  eq(reports(function() state.user.level = 2 end), "")
  eq(calls, 3)
end)
check("P9: … and for many objects when the first lacks the name, unless others have it", function()
  local Item = obs.model("Item", { price = 1 })
  local Prize = obs.model("Prize", { prize = 1 })
  local cart = { items = obs.array() }
  obs.observe(cart, "items.*.prcie", function() end, { name = "misspelt" })
  obs.observe(cart, "items.prize", function() end)
  cart.items = obs.array { Prize {} }
  obs.flush()
  eq(reports(function() cart.items:append(Item {}) end),
    "watcher misspelt: component 3 of key path 'items.*.prcie': "
      .. "Item has no property 'prcie' (did you mean 'price'?)")
  eq(reports(function() cart.items = obs.array { Item {} } end), "")
  local other = { items = obs.array() }
  obs.observe(other, "items.prcie", function() end, { name = "replaced" })
  eq(reports(function() other.items = obs.array { Item {}, Item {} } end),
    "watcher replaced: component 2 of key path 'items.prcie': "
      .. "Item has no property 'prcie' (did you mean 'price'?)")
end)

-- Lifetime ---------------------------------------------------------------------------------------

check("models and instances are collected", function()
  local gone = setmetatable({}, { __mode = "k" })
  for _ = 1, 10 do
    local User = obs.model("User", { name = "", tags = { {} } })
    local Admin = obs.model("Admin", User, { user = obs.none })
    local u = Admin { user = User() }
    u.user.tags.owner = u
    obs.observe(u, "user.name", function() u.seen = true end)
    gone[User], gone[Admin], gone[u] = true, true, true
  end
  collectgarbage() collectgarbage() collectgarbage()
  eq(next(gone), nil)
end)

finish()
