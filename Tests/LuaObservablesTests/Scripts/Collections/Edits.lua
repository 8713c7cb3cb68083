-- Rule C10: `obs.observe_edits` reports edits of a collection.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

local function text(edits)
  local words = {}
  for i, e in ipairs(edits) do
    local word = e.kind .. "@" .. tostring(e.at)
    if e.kind == "move" then word = word .. "<" .. e.from end
    if e.old ~= nil and e.kind ~= "move" then word = word .. " -" .. tostring(e.old) end
    if e.new ~= nil then word = word .. " +" .. tostring(e.new) end
    words[i] = word
  end
  return table.concat(words, ", ")
end
local function told(collection, options)
  local log = {}
  local w = obs.observe_edits(collection, function(c, edits)
    assert(c == collection)
    log[#log + 1] = text(edits)
  end, options)
  return function()
    obs.flush()
    local all = table.concat(log, "; ")
    for i in ipairs(log) do log[i] = nil end
    return all
  end, w
end
local function plain(t) return t end

for name, make in pairs { ["a plain list"] = plain, ["an obs.array"] = obs.array } do
  check(name .. ": one edit for each operation", function()
    local a = make { "a", "b", "c" }
    local edits = told(a)
    eq(edits(), "")
    table.insert(a, 2, "x")
    eq(edits(), "insert@2 +x")
    table.remove(a, 1)
    eq(edits(), "remove@1 -a")
    a[1] = "y"
    eq(edits(), "replace@1 -x +y")
    a[#a + 1] = "z"
    eq(edits(), "insert@4 +z")
    a[#a] = nil
    eq(edits(), "remove@4 -z")
  end)
  check(name .. ": those of a turn come together, the oldest first", function()
    local a = make { "a" }
    local edits = told(a)
    table.insert(a, "b")
    table.insert(a, "c")
    eq(edits(), "insert@2 +b, insert@3 +c")
    a[1] = "x"
    a[1] = "a"
    eq(edits(), "")
  end)
  check(name .. ": initially all that is there", function()
    local a = make { "a", "b" }
    local edits = told(a, { initial = true })
    table.insert(a, "c")
    eq(edits(), "insert@1 +a, insert@2 +b, insert@3 +c")
    table.remove(a)
    eq(edits(), "remove@3 -c")
  end)
  check(name .. ": an immediate watcher is told the edits of the operation", function()
    local a, log = make { "a", "b" }, {}
    obs.observe_edits(a, function(c, edits)
      assert(c == a)
      log[#log + 1] = text(edits)
    end, { immediate = true })
    table.insert(a, 1, "x")
    eq(table.concat(log, "; "), "insert@1 +x")
    table.remove(a, 2)
    eq(table.concat(log, "; "), "insert@1 +x; remove@2 -a")
  end)
  check(name .. ": obs.clear and obs.assign", function()
    local a = make { "a", "b", "c" }
    local edits = told(a)
    obs.assign(a, { "a", "c" })
    eq(edits(), "remove@2 -b")
    obs.clear(a)
    eq(edits(), "remove@2 -c, remove@1 -a")
  end)
  check(name .. ": the edits lead from the last state to this one", function()
    local a, mirror = make {}, {}
    obs.observe_edits(a, function(_, edits)
      for _, e in ipairs(edits) do
        if e.kind == "insert" then
          table.insert(mirror, e.at, e.new)
        elseif e.kind == "remove" then
          eq(table.remove(mirror, e.at), e.old)
        elseif e.kind == "replace" then
          eq(mirror[e.at], e.old)
          mirror[e.at] = e.new
        else
          table.insert(mirror, e.at, table.remove(mirror, e.from))
        end
      end
    end)
    math.randomseed(7)
    for _ = 1, 60 do
      for _ = 1, math.random(6) do
        local n, what = #a, math.random(6)
        if what <= 2 then
          table.insert(a, math.random(n + 1), math.random(9))
        elseif what == 3 and n > 0 then
          table.remove(a, math.random(n))
        elseif what == 4 and n > 0 then
          a[math.random(n)] = math.random(9)
        elseif what == 5 then
          table.sort(a)
        elseif what == 6 and n > 0 then
          a[n] = nil
        end
      end
      obs.flush()
      eq(table.concat(mirror, " "), table.concat(a, " "))
    end
  end)
end

check("an obs.array moves, swaps, reverses and is set", function()
  local a = obs.array { "a", "b", "c", "d" }
  local edits = told(a)
  a:move(1, 3)
  eq(edits(), "move@3<1 +a")
  a:swap(1, 2)
  eq(select(2, edits():gsub("@", "@")), 2)
  a:set { "x" }
  edits()
  a:append("y", "z")
  eq(edits(), "insert@2 +y, insert@3 +z")
  a:clear()
  eq(edits(), "remove@3 -z, remove@2 -y, remove@1 -x")
end)
for name, make in pairs { ["a plain map"] = plain, ["an obs.dictionary"] = obs.dictionary } do
  check(name .. ": edits by key", function()
    local d = make { a = 1, b = 2 }
    local edits = told(d)
    d.a = 3
    eq(edits(), "replace@a -1 +3")
    d.c = 4
    eq(edits(), "insert@c +4")
    d.b = nil
    eq(edits(), "remove@b -2")
    d.a = 9
    d.a = 3
    eq(edits(), "")
    edits = told(make { a = 1 }, { initial = true })
    eq(edits(), "insert@a +1")
  end)
end
check("initially elements are inserted in order, wherever Lua keeps them", function()
  local t = { a = 1, b = 1, c = 1 }
  obs.observe(t, "*", function() end)
  t.a, t.b, t.c = nil, nil, nil
  local edits = told(t, { initial = true })
  t[1], t[2], t[3] = "x", "y", "z"
  eq(edits(), "insert@1 +x, insert@2 +y, insert@3 +z")
end)
check("C13: initially lazy keys are left out, read or not", function()
  for _, make in ipairs { function(t) return t end, obs.dictionary } do
    local t = make { a = 1 }
    obs.computed(t, "q", { "a" }, function(self) return self.a end)
    obs.lazy(t, "r", function() return 1 end)
    eq(t.q, 1)
    local edits = told(t, { initial = true })
    eq(edits(), "insert@a +1")
    t.a = 2
    eq(edits(), "replace@a -1 +2")
    eq(t.q, 2)
    eq(edits(), "")
  end
end)

check("a set: edits by member", function()
  local s = obs.set_of { "a" }
  local edits = told(s)
  s:add "b"
  s:add "a"
  eq(edits(), "insert@b +b")
  s:remove "a"
  eq(edits(), "remove@a -a")
  eq(told(obs.set_of { "a" }, { initial = true })(), "insert@a +a")
end)
check("it is an ordinary watcher", function()
  local a = { 1 }
  local function callback() end
  local w = obs.observe_edits(a, callback, { name = "list" })
  assert(obs.describe(a):find "list on")
  eq(obs.stop(a, { callback = callback }), 1)
  eq(w.active, false)
  local edits
  edits, w = told(a)
  w:pause()
  table.insert(a, 2)
  table.insert(a, 3)
  eq(edits(), "")
  w:resume()
  eq(edits(), "insert@2 +2, insert@3 +3")
  edits, w = told(a, { once = true })
  a[1] = 5
  eq(edits(), "replace@1 -1 +5")
  eq(w.active, false)
end)
check("the observer comes last", function()
  local a, o, got = {}, {}, nil
  obs.observe_edits(a, function(...) got = select(3, ...) end, { observer = o })
  a[1] = 1
  obs.flush()
  eq(got, o)
end)
check("errors name the function and the caller", function()
  fails("Edits.lua:%d+: bad argument #2 to 'observe_edits' %(function", function()
    obs.observe_edits({}, 1)
  end)
  fails("Edits.lua:%d+: bad argument #3 to 'observe_edits'.*'once'", function()
    obs.observe_edits({}, print, { onec = true })
  end)
  fails("bad argument #1 to 'observe_edits'", obs.observe_edits, 3, print)
end)

finish()
