-- Rules Z9 and P9: lazy and computed properties that a model declares for each instance. Examples
-- of `Support/kinds.lua` run with such instances, too.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/examples.lua")

-- A model, and a function that returns the number of runs of the getter since its last call.
function users()
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

example("Z9: each instance has its own properties, which the constructor may override",
  "u.full, v.full, calls()", [[
  local User, calls = users()
  local u, v = User { first = "U" }, User { full = "X", first = "V" }  --> U B X 1
  u.first = "W"                                                        --> W B X 1
  v.last = "L"                                                         --> W B V L 1
]])
check("Z9: the engine does not know an instance before one of its properties is read", function()
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
example("Z9: methods and shared values are found behind the properties",
  "u.VERSION, u:late(), u:greet(), u.nothing, u[1]", [[
  local User = users()
  local u = User()
  User.VERSION = 3
  function User:late() return self.full .. "!" end  --> 3 A B! hi A B nil nil
  obs.observe(u, "*", nothing)                      --> 3 A B! hi A B nil nil
  local proxy = setmetatable({ first = "P" }, { __index = u })
  = proxy.full, proxy:greet()                       --> A B hi A B
]])
example("Z9: an instance knows its lazy properties before they are read", "calls()", [[
  local User, calls = users()
  = obs.is_valid(User(), "full"), obs.peek(User(), "full")  --> false nil
  = obs.invalid_names(User())[1], #obs.valid_names(User())  --> full 0
  obs.invalidate(User(), "full")
  obs.invalidate(User())                            --> 0
  local u = User()
  obs.force(u)                                      --> 1
  = obs.valid_names(u)[1], obs.peek(u, "full")      --> full A B
]])
example("Z14: a declaration can be removed and replaced on one instance", "u.full, v.full", [[
  for _, prepare in ipairs { nothing, function(u) return u.full end } do
    local User = users()
    local u, v = User(), User()
    prepare(u)
    obs.forget(u, "full")                           --> nil A B
    u.full, u.first = "plain", "C"                  --> plain A B
    u.full = nil                                    --> nil A B
    = #obs.invalid_names(u)                         --> 0
    obs.computed(u, "full", { "first" }, function(self) return self.first .. "!" end)  --> C! A B
    obs.computed(v, "full", { "nick" }, function(self) return self.nick or "none" end)  --> C! none
    v.nick = "N"                                    --> C! N
  end
]])
example("Z9: the constructor and assignments respect read-only properties", "Box().double", [[
  local Box = obs.model("Box", { size = 1, double = obs.lazy {
    deps = { "size" }, readonly = true, get = function(self) return 2 * self.size end,
  } })
  Box().double = 3                                  --! 'double' is read%-only
  Box { double = 3 }                                --! 'double' is read%-only
  obs.flush()                                       --> 2
]])
example("Z10: a tracked getter reads properties that the models declare",
  "item.total, box.total", [[
  local Item = obs.model("Item", {
    n = 1, net = obs.computed({ "n" }, function(self) return self.n end),
    total = obs.computed(function(self) return self.net * 10 end),
  })
  local item = Item {}
  local box = { item = item }
  obs.computed(box, "total", function(self) return self.item.total + self.item.net end)  --> 10 11
  item.n = 2                                        --> 20 22
]])

example("Z9: children inherit lazy properties, and may replace any of them", "l.title", [[
  local User = users()
  local Admin = obs.model("Admin", User, {
    level = 1, other = obs.lazy(function() return "other" end),
    title = obs.computed({ "full", "level" }, function(self) return self.full .. self.level end),
  })
  local Loud = obs.model("Loud", Admin, {
    full = obs.computed({ "first" }, function(self) return self.first .. "!" end),
  })
  local Stored = obs.model("Stored", Admin, { full = "stored" })
  local Method = obs.model("Method", User, { full = function() return "method" end })
  local Back = obs.model("Back", Stored, { level = obs.lazy(function() return 7 end) })
  = Admin().title, Loud().title, Stored().title     --> A B1 A!1 stored1
  = Method():full(), Back().title                   --> method stored7
  = keys(Stored())                                  --> first full last level
  local l = Loud()                                  --> A!1
  l.last = "X"
  = obs.is_valid(l, "title")                        --> true
  l.first = "C"                                     --> C!1
  function User:late() return self.full end
  -- A method of a parent that is added later hides no property of a child.
  function User:other() end
  = l:late(), l.other                               --> C! other
]])

example("P9: a model declares the dependencies of its properties, or a parent does", nil, [[
  local User = users()
  local function model(path)
    return obs.model("X", User, { loud = obs.computed({ path }, nothing) })
  end
  model "fulll"  --! #3 to 'model' %('loud' depends on 'fulll': X has no property 'fulll' %(did you
  model "greet"  --! 'loud' depends on 'greet': 'greet' is a method of X, not a property
  obs.model("X", User, { first = nothing })  --! 'full' depends on 'first': 'first' is a method of X
  local frist = { first = 1, loud = obs.computed({ "frist.name" }, nothing) }
  obs.model("X", frist)  --! #2 to 'model' %('loud' depends on 'frist': X has no property 'frist'
  for _, path in ipairs {
    "full", "first", "nick.x.y", "*", "#1", "@count", "nick.@sum.price", { { a = 1 }, "a" },
  } do model(path) end
]])
example("P9: a declaration on one instance depends on names that the instance has", "u.most", [[
  local User = users()
  local u = User()
  obs.computed(u, "more", { "frist" }, nothing)
    --! #3 to 'computed' %(User has no property 'frist' %(
  obs.lazy(u, "more", { deps = { "greet" }, get = nothing })
    --! #3 to 'lazy' %('greet' is a method of
  u.extra = 1
  User.SHARED = 2
  obs.computed(u, "more", { "extra", "SHARED", "full", "*" }, function(self) return self.extra end)
  obs.computed(u, "most", { "more", { { x = 1 }, "x" } }, function(s) return s.more end)  --> 1
  u.extra = 2                                       --> 2
  obs.observe(u, "fulll", nothing)
    --! User has no property 'fulll' %(did you mean 'full'
  function User:full() end
    --! 'full' is a property of the instances of User
]])

check("T12: functions that make and read instances may be called with anything", function()
  local User = users()
  local u = User()
  for _, f in ipairs {
    rawget(User, "__index"), rawget(User, "__newindex"), getmetatable(User).__call,
    getmetatable(User).__newindex,
  } do
    pcall(f)
    for _, first in ipairs { 1, "x", true, {}, print, u, User } do
      pcall(f, first)
      for _, key in ipairs { 1, "full", "first", true, 0 / 0, u, first } do
        pcall(f, first, key, 1)
        pcall(f, first, key)
        pcall(f, first, key, first)
      end
    end
  end
  eq(User().full, "A B")
end)
check("L6: models and instances with lazy properties and watchers are collected", function()
  local gone = setmetatable({}, { __mode = "k" })
  for _ = 1, 10 do
    local User = users()
    local Admin = obs.model("Admin", User, { tags = { {} } })
    local u, v = User(), Admin()
    v.friend, u.friend, v.tags.owner = u, v, v
    obs.observe(u, "full", function() u.seen = true end)
    obs.observe(v, "friend.full", function() v.seen = true end)
    obs.forget(v, "full")
    gone[u], gone[v], gone[User], gone[Admin] = true, true, true, true
  end
  obs.flush()
  collectgarbage() collectgarbage() collectgarbage()
  eq(next(gone), nil)
end)

finish()
