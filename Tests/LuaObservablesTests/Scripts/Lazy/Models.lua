-- Rules Z9 and P9: models and their instances.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/examples.lua")

-- Instances --------------------------------------------------------------------------------------

example("Z9: an instance has the defaults, and the constructor's arguments", "u.name", [[
  local User = obs.model("User", { name = "", age = 0, active = false, email = obs.none })
  local fields = { name = "Ada", active = true }
  local u, v = User(fields), User(fields)
  = u.name, u.age, u.active, u.email, User(nil).name == ""  --> Ada 0 true nil true
  = User { email = "a@b" }.email                    --> a@b
  u.name = "Eve"                                    --> Eve
  = v.name, fields.name, getmetatable(fields)       --> Ada Ada nil
  obs.observe(u, "name", nothing)
  local copy = User(u)
  copy.name = "Bob"                                 --> Eve
  = copy.name, copy.active                          --> Bob true
]])
example("Z9: an instance is a plain table with the model as metatable, which makes no objects of "
  .. "the engine", "keys(u)", [[
  local User = obs.model("User", { name = "", email = obs.none, greet = nothing })
  local u = User()                                  --> name
  = type(u), getmetatable(u) == User, tostring(u):match "^User: 0x"  --> table true User: 0x
  u.email, u.extra = "x", 1                         --> email extra name
  u.name, u.email, u.extra = nil, nil, nil
  = next(u)                                         --> nil
  local before, all = obs.stats().observed, {}
  for i = 1, 100 do all[i] = User { name = "n" .. i } end
  all[1]:greet()
  = obs.stats().observed == before                  --> true
]])
example("Z9: methods and values of a model are shared, and may be added later",
  "u:greet(), User.greet(u), u:leave(), u.VERSION", [[
  local User = obs.model("User", {
    name = "", greet = function(self) return "hi " .. self.name end,
  })
  local u = User { name = "Ada" }
  User.VERSION = 3
  function User:leave() return "bye " .. self.name end  --> hi Ada hi Ada bye Ada 3
  obs.observe(u, { "name", "VERSION" }, nothing)        --> hi Ada hi Ada bye Ada 3
]])
example("Z9: a model may have metamethods, and children have them too", "tostring(sum)", [[
  local Point = obs.model("Point", {
    x = 0, y = 0,
    __eq = function(a, b) return a.x == b.x and a.y == b.y end,
    __add = function(a, b) return getmetatable(a) { x = a.x + b.x, y = a.y + b.y } end,
    __tostring = function(self) return self.x .. "," .. self.y end,
  })
  local Pixel = obs.model("Pixel", Point, { color = "red" })
  = Point { x = 1 } == Point { x = 1 }              --> true
  local sum = Pixel { x = 1 } + Pixel { y = 2 }     --> 1,2
  = getmetatable(sum) == Pixel                      --> true
  obs.observe(sum, "x", nothing)                    --> 1,2
]])

-- Defaults ---------------------------------------------------------------------------------------

example("Z9: defaults that are plain tables are copied deeply for each instance",
  "#v.tags, v.address.city.name, v.address.lines[1]", [[
  local tags, given = { "a" }, {}
  local User = obs.model("User", {
    tags = tags, address = { city = { name = "Bonn" }, lines = { 1, 2 } }, other = {},
  })
  -- Later changes of the body's tables do not affect the instances.
  tags[2] = "b"
  local u, v = User(), User()                       --> 1 Bonn 1
  u.tags[2], u.address.city.name, u.address.lines[1] = "b", "Ulm", 9  --> 1 Bonn 1
  = User { tags = given }.tags == given, User().address.city.name     --> true Bonn
]])
example("Z9: defaults that contain themselves, each other, or occur twice do so in the copy",
  "one.a ~= two.a, one.a ~= a, one.a.leaf ~= two.a.leaf", [[
  local a, b, leaf, both = {}, {}, {}, {}
  a.me, a.b, b.a, a.leaf, b.leaf = a, b, a, leaf, leaf
  a[a] = "key"
  local Ring, Pair = obs.model("Ring", { a = a, b = b }), obs.model("Pair", { a = both, b = both })
  local one, two = Ring(), Ring()                         --> true true true
  = one.a.me == one.a, one.a.b == one.b, one.b.a == one.a --> true true true
  = one.a.leaf == one.b.leaf, one.a[one.a], one.a[a]      --> true key nil
  one, two = Pair(), Pair()
  = one.a == one.b, one.a ~= two.a                        --> true true
]])
check("Z9: defaults may be nested deeper than calls", function()
  local root = {}
  local last = root
  for _ = 1, 300000 do last.next = {}; last = last.next end
  local depth, at = 0, obs.model("Deep", { root = root })().root
  while at.next do depth, at = depth + 1, at.next end
  eq(depth, 300000)
end)
example("Z9: collections are copied as collections, with the plain tables in them", "n()", [[
  local Order = obs.model("Order", {
    items = obs.array { { price = 1 }, { price = 2 } }, by = obs.dictionary { a = { 1 } },
    marks = obs.set_of { "x" }, inner = { list = obs.array { 1 } },
  })
  local one, two = Order(), Order()
  one.items:append { price = 3 }
  one.items[1].price, one.by.a[1], one.by.b = 9, 9, 1
  one.marks:add "y"
  one.inner.list:append(2)
  = two.items.count, two.items[1].price, two.by.a[1]      --> 2 1 1
  = two.by.b, two.marks.count, two.inner.list.count       --> nil 1 1
  local n = counter(one, { "items.@sum.price", "by.count", "marks.count" })
  one.items:append { price = 4 }                          --> 1
  one.by.c = 2                                            --> 1
]])
example("Z9: tables with a metatable are shared, and observed tables are copied", nil, [[
  local red, tags = setmetatable({ name = "red" }, { __index = {} }), { "a" }
  obs.observe(tags, "*", nothing)
  local User = obs.model("User", { color = red, list = { red }, tags = tags })
  local u = User()
  = u.color == red, u.list[1] == red                      --> true true
  u.tags[1] = "b"
  = User().tags[1], tags[1], #u.tags                      --> a a 1
]])

-- Inheritance ------------------------------------------------------------------------------------

example("Z9: a child has the properties and methods of its parents", "a:greet(), a.level", [[
  local User = obs.model("User", {
    name = "x", tags = {}, greet = function(self) return "hi " .. self.name end,
  })
  local Admin = obs.model("Admin", User, { level = 1 })
  local Root = obs.model("Root", Admin, {
    level = 9, greet = function(self) return User.greet(self) .. "!" end,
  })
  local a, r = Admin { name = "Ada" }, Root { level = 3 }  --> hi Ada 1
  = r:greet(), r.level, Root().level, r.tags ~= a.tags     --> hi x! 3 9 true
  = tostring(r):match "^Root: ", obs.model("Same", Root)().level  --> Root:  9
  function User:late() return "late" end
  = r:late(), User().level                                 --> late nil
]])
example("Z9: a child may replace any declaration by any other",
  "b.v[1], b:w(), b.f, b.g, keys(b)", [[
  local A = obs.model("A", { v = 1, w = {}, f = function() return "A" end, g = nothing })
  local B = obs.model("B", A, {
    v = { 2 }, w = function() return "w" end, f = "text", g = obs.none,
  })
  local b = B()                                            --> 2 w text nil f v
  B { w = 1 }                                              --! 'w' is a method of B, not a property
  = B { g = 1 }.g                                          --> 1
  obs.observe(b, "g", nothing)                             --> 2 w text nil f v
  local C = obs.model("C", B, { g = function() return "C" end, v = obs.none })
  = C():g(), C().v                                         --> C nil
  -- Parents do not change.
  = A().v, A():f()                                         --> 1 A
]])

-- P9 ---------------------------------------------------------------------------------------------

function watch(object, path) return obs.observe(object, path, nothing) end

example("P9: a misspelt name is rejected at registration", "#obs.observed_keys(u)", [[
  local Address = obs.model("Address", { zip = "", city = obs.none })
  local User = obs.model("User", { name = "", address = obs.none, greet = nothing })
  local Admin = obs.model("Admin", User, { level = 1 })
  local u, a = User { address = Address() }, Admin()
  watch(u, "nmae")
    --! component 1 of key path 'nmae': User has no property 'nmae' %(did you mean 'name'%?%)
  watch(u, "address.zpi")
    --! component 2 of key path 'address%.zpi': Address has no property 'zpi' %(did you mean
  watch({ user = u }, "user.address.zipp")
    --! component 3 of key path 'user%.address%.zipp': Address has no
  watch(u, obs.path "name.zip")  --! User has no property 'name%.zip'
  watch(u, "qqqqqqqq")       --! User has no property 'qqqqqqqq'%)
  watch(a, { "name", "level" })
  watch(a, "naem")           --! Admin has no property 'naem' %(did you mean 'name'
  watch(u, "level")          --! User has no property 'level'
  -- A path does not lead to a method.
  watch(u, "greet")
    --! component 1 of key path 'greet': 'greet' is a method of User, not a property
  watch(a, "greet")          --! 'greet' is a method of Admin
  obs.flush()                --> 0
]])
example("P9: declared names need no value, names with values no declaration, and '*' and numbers "
  .. "no name", "n()", [[
  local User = obs.model("User", { email = obs.none })
  local u = User()
  watch(u, "extra")          --! no property 'extra'
  u.extra = 1
  local n = counter(u, { "email", "extra" })
  u.email = "x"              --> 1
  u.extra = 2                --> 1
  u[1] = "one"
  watch(u, { "*", "#1", "1", "@count" })
  watch(u, obs.path(7))      --> 0
]])
example("P9: the constructor rejects undeclared names", nil, [[
  local User = obs.model("User", { name = "", greet = nothing })
  User { nmae = "" }         --! User has no property 'nmae' %(did you mean 'name'%?%)
  User { greet = 1 }         --! 'greet' is a method of User, not a property
  User { "Ada" }             --! name of a property of User expected, got the number 1
  User { [true] = 1 }        --! name of a property of User expected, got a boolean
  User "Ada"
    --! bad argument #1 to 'User' %(table of properties expected, got string%)
  User(false)
    --! bad argument #1 to 'User' %(table of properties expected, got boolean%)
  local u = User { x = 1 }   --! ^[^\n]*Models%.lua:%d+: User has no
]])
example("P9: a model has a name and a body of names, and its parent is a model", nil, [[
  local User = obs.model("User", { name = "", email = obs.none })
  local model = obs.model
  model()                    --! #1 to 'model' %(name expected, got no value%)
  model({ name = "" })       --! #1 to 'model' %(name expected, got table%)
  model("", {})              --! #1 to 'model' %(name expected, got an empty one%)
  model("X")
    --! #2 to 'model' %(table of properties and methods expected, got no value%)
  model("X", 5)
    --! #2 to 'model' %(table of properties and methods expected, got number%)
  model("X", User, 5)
    --! #3 to 'model' %(table of properties and methods expected, got number%)
  model("X", User, User)     --! got the model User
  model("X", nil, {})        --! #2 to 'model' %(model expected, got nil%)
  model("X", {}, {})         --! #2 to 'model' %(model expected, got table%)
  model("X", User(), {})     --! #2 to 'model' %(model expected, got an instance of User%)
  model("X", { "name" })     --! name of a property or method expected, got the number 1
  model("X", { [{}] = 1 })   --! name of a property or method expected, got a table
  model("X", { __index = nothing })     --! '__index' belongs to the model
  model("X", { __newindex = nothing })  --! '__newindex' belongs to the model
  model("X", { __name = nothing })      --! '__name' belongs to the model
  -- A property cannot become a method later.
  User.name = nothing        --! 'name' is a property of the instances of User
  function User:email() end  --! 'email' is a property
  obs.none.x = 1             --! cannot be changed
  = obs.none                 --> obs.none
]])

-- The reports while `body` runs and in the turn after it.
function reported(body)
  local note, told = recorder()
  obs.on_error(function(message, where)
    note(("%s %s: %s"):format(where.kind, where.name, message))
    assert(where.cause or where.kind == "immediate", "caused by no write")
  end)
  body()
  local text = told()
  obs.on_error(nil)
  return text
end

example("P9: a misspelt name of a later object is reported once, when the object arrives", "n()", [[
  local Node = obs.model("Node", { name = "", next = obs.none })
  local node = Node {}
  local function append() node.next = Node {} end
  local n = counter(node, "next.naem", { name = "w" })
  local text = "component %d of key path '%snext.naem': "
    .. "Node has no property 'naem' (did you mean 'name'?)"
  = reported(append) == "watcher w: " .. text:format(2, "")    --> true
  = reported(append), n()                                      --> - 0
  append()                                                     --> 1
  obs.observe(node, "next.next.naem", nothing, { name = "i", immediate = true })
  local function append_two() node.next.next = Node {} end
  = reported(append_two) == "immediate i: " .. text:format(3, "next.")  --> true
]])
example("P9: … but not a name of other objects that may be there in turn, or among others",
  "n()", [[
  local User = obs.model("User", { name = "", friends = obs.array() })
  local Admin = obs.model("Admin", User, { level = 1 })
  local state = {}
  local n = counter(state, { "user.level", "user.nick" })
  = reported(function() state.user = User {} end)              --> -
  = reported(function() state.user = Admin {} end)             --> -
  = reported(function() state.user.level = 2 end)              --> -
  state.user.level = 3                                         --> 1
  state.user.name = "x"                                        --> 0
]])
example("P9: … and for many objects when the first lacks the name, unless others have it", nil, [[
  local Item = obs.model("Item", { price = 1 })
  local Prize = obs.model("Prize", { prize = 1 })
  local cart, other = { items = obs.array() }, { items = obs.array() }
  obs.observe(cart, "items.*.prcie", nothing, { name = "misspelt" })
  obs.observe(cart, "items.prize", nothing)
  cart.items = obs.array { Prize {} }
  obs.flush()
  local text = "watcher %s: component %d of key path '%s': "
    .. "Item has no property 'prcie' (did you mean 'price'?)"
  local function append() cart.items:append(Item {}) end
  = reported(append) == text:format("misspelt", 3, "items.*.prcie")  --> true
  = reported(function() cart.items = obs.array { Item {} } end)  --> -
  obs.observe(other, "items.prcie", nothing, { name = "replaced" })
  local function replace() other.items = obs.array { Item {}, Item {} } end
  = reported(replace) == text:format("replaced", 2, "items.prcie")  --> true
]])

finish()
