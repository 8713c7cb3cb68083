-- Hostile or careless use of collections ends in a Lua error (T12).
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/stories.lua")

check("a class of collections cannot be forged through its metatable", function()
  for _, make in ipairs {obs.array, obs.set_of, obs.dictionary} do
    local class = getmetatable(make {})
    for key, value in pairs(class) do
      if type(key) ~= "string" then
        class[key] = 77
        pcall(make, {1, 2})
        class[key] = value
        error "the class shows what it is"
      end
    end
    local b = make {1, 2}
    eq(obs.get(b, "count"), 2)
    -- A copy of the class is not a class.
    local copy = {}
    for key, value in next, class do copy[key] = value end
    local plain = setmetatable({1, 2, 3}, copy)
    obs.observe(plain, "*", nothing)
    plain.field = 1
    eq(plain.field, 1)
  end
end)

check("a name spreads once over arrays that contain each other (C8, P8)", function()
  local a, b, item = obs.array {}, obs.array {}, {x = 1}
  a:append(a, b, item)
  b:append(a, b)
  for _, path in ipairs {"x", "x.y", "@count", "@any.x", "@unionOfArrays.x"} do
    local calls, w = counter(a, path)
    a:append(b, a)
    assert(calls() <= 1, path)
    w:stop()
  end
  local calls = counter(a, "x")
  item.x = 2
  eq(calls(), 1)
  -- The path through the array itself is gone, the other one stays.
  a:set {b}
  eq(calls(), 1)
  item.x = 3
  eq(calls(), 0)
  b:set {item}
  eq(calls(), 1)
  item.x = 4
  eq(calls(), 1)
end)

story("a name spreads once over a set that contains itself (C8)", [[
  local s, item = obs.set_of {}, {x = 1}
  s:add(s)
  s:add(item)
  watch(s, "x")
  item.x = 2   --> 1
  s:remove(s)  --> 1
  item.x = 3   --> 1
]])

check("immediate watchers that trigger each other end soon, however many (T9)", function()
  reporting(function()
    local list, count = obs.array {0}, 0
    for _ = 1, 12 do
      obs.observe(list, "#1", function()
        count = count + 1
        list[1] = list[1] + 1
      end, {immediate = true})
    end
    list[1] = 1
    assert(count < 12 * 12 * 102, count)
    assert(#reports > 0)
    assert(tostring(reports[1].error):find "triggered itself 100 times", reports[1].error)
    -- The next write starts from zero.
    obs.stop(list)
    local calls = 0
    obs.observe(list, "#1", function() calls = calls + 1 end, {immediate = true})
    list[1] = -1
    eq(calls, 1)
  end)
end)

check("bind compares by identity, whatever `__eq` says (K4, T5)", function()
  local same = {__eq = function() return true end}
  local a, b = setmetatable({}, same), setmetatable({}, same)
  local source, destination = {x = a}, {}
  obs.bind(destination, source, "x")
  source.x = b
  obs.flush()
  assert(rawequal(destination.x, b))
end)

finish()
