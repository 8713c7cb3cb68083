-- Compares arrays and sets with plain tables, observed or not; an edit log keeps a copy up to date.
--
--     driver collections.lua [first seed [last seed]]
local obs = require "obs"
local core = obs.core
local first, last = tonumber(arg[1] or 1), tonumber(arg[2] or 200)

local function fails(text, f, ...)
  local ok, message = pcall(f, ...)
  assert(not ok, "no error: " .. text)
  assert(tostring(message):find(text, 1, true), tostring(message) .. " lacks " .. text)
end

-- Arrays as scripts see them.
local a = obs.array{ "x", "y", "z" }
assert(#a == 3 and a.count == 3 and a[2] == "y")
assert(a[4] == nil and a[0] == nil and a.nothing == nil)
fails("an array has integer indices, got string 'x'", function() a.x = 1 end)
fails("an array has integer indices, got number 1.5", function() a[1.5] = 1 end)
fails("an array has integer indices, got table", function() a[{}] = 1 end)
fails("index 7 is out of range (the array has 3 elements; 4 would append)", function() a[7] = 1 end)
fails("index 0 is out of range (the array has 3 elements; 4 would append)", rawset, a, 0, 1)
fails("would leave a hole at 2 of 3; use remove", function() a[2] = nil end)
fails("index 9 is out of range (the array has 3 elements)", a.remove, a, 9)
fails("index 5 is out of range (the array has 3 elements; 4 would append)", a.insert, a, 5, 1)
fails("no place for nil", a.insert, a, 1, nil)
fails("no place for nil", a.append, a, 1, nil)
fails("no place for nil", table.insert, a, nil)
fails("no place for nil", table.move, { 1 }, 1, 2, 1, a)
fails("out of range", table.move, { 1 }, 1, 1, 9, a)
fails("rray expected", a.append, {}, 1)
fails("rray expected", a.append)
fails("cannot change the metatable of an array", setmetatable, a, {})
fails("cannot change the metatable of an array", debug.setmetatable, a, nil)
fails("the list has a hole at 2 of 3", a.set, a, { 1, nil, 3 })
fails("the list has a hole", obs.array, { 1, nil, 3 })
fails("list expected, got a table with the key 'x'", obs.array, { x = 1 })
fails("list expected, got a table with the key '2'", a.set, a, { [2] = 1 })
assert(table.concat(a) == "xyz" and table.unpack(a, 3) == "z" and next(a) == 1 and rawlen(a) == 3)
a[4.0] = "w"
a[4] = nil
a[4] = nil
local keys = {}
for k, v in pairs(a) do keys[#keys + 1] = k .. v end
assert(table.concat(keys) == "1x2y3z")
fails("the array is being sorted", a.sort, a, function() a[1] = 0 end)
fails("the array is being sorted", table.sort, a, function() a:append(1) end)
fails("the array is being sorted", a.sort, a, function() table.insert(a, 1) end)
fails("the array is being sorted", a.sort, a, function() a:sort() end)
fails("stop", a.sort, a, function() error("stop") end)
assert(table.concat(a) == "xyz")
a:sort(function(p, q) return p > q end)
assert(table.concat(a) == "zyx")
a:reverse()
a:move(1, 3)
assert(table.concat(a) == "yzx" and a:index_of("x") == 3 and a:index_of("q") == nil)
assert(a:remove_value("y") and not a:remove_value("y") and a:remove() == "x" and #a == 1)
a:clear()
assert(a:remove() == nil and #a == 0)

-- A plain table with the metatable of arrays is not an array.
local borrowed = setmetatable({ 1, 2 }, getmetatable(a))
assert(borrowed.count == 2)
fails("rray expected", borrowed.append, borrowed, 1)
core.watch(borrowed, true)
borrowed[5] = 1
assert(borrowed.count >= 2)

-- Sets.
local s = obs.set_of{ "a", 1, true }
local object = {}
assert(#s == 3 and s.count == 3 and s.a == nil and s[1] == nil and s:contains("a"))
assert(s:add(object) and not s:add(object) and s:add("add") and s:add("__index") and s:add(2.0))
assert(type(s.add) == "function" and s.count == 7 and not s:add(2))
fails("a set has no fields, but 'x' was assigned; use add and remove", function() s.x = 1 end)
fails("a set has no fields", rawset, s, 1, 1)
fails("a set has no fields", table.insert, s, 1)
fails("no place for nil", s.add, s, nil)
fails("no place for NaN", s.add, s, 0 / 0)
fails("et expected", s.add, {}, 1)
fails("cannot change the metatable of a set", setmetatable, s, nil)
assert(not s:remove(nil) and not s:remove(0 / 0) and not s:contains(nil) and not s:contains("b"))
local count = 0
for k, v in pairs(s) do
  assert(k == v)
  count = count + 1
  s:remove(k)
end
assert(count == 7 and #s == 0)
local names = {}
local members = {
  "a.b\\c", "1", 1, 1.5, true, "true", object, {}, print, "", 1e300, 1 / 0, -1 / 0, "table:1",
}
for _, member in ipairs(members) do
  local key = s:key_of(member)
  assert(not names[key], key)
  names[key] = true
  assert(s:object_for(key) == nil)
  s:add(member)
  assert(s:key_of(member) == key and s:object_for(key) == member, key)
end
assert(s:key_of("a.b\\c") == "&'a\\.b\\\\c")
s:clear()
s:union{ 1, 2, 3 }
s:intersect(obs.set_of{ 2, 3, 4 })
s:subtract{ 3 }
assert(#s == 1 and s:contains(2))
for value in s:values() do assert(value == 2) end

-- Dictionaries are as cheap as tables.
local d = obs.dictionary{ a = 1 }
d.count = 5
assert(d.count == 5 and d.a == 1)

local function run(seed)
  math.randomseed(seed)
  local random = math.random
  local function values(n)
    local list = {}
    for i = 1, n do list[i] = random(6) end
    return list
  end
  local plain = values(random(0, 8))
  local array = obs.array(plain)
  local observed = random(4) > 1
  local mirror = { table.unpack(plain) }
  local wants = random(3) - 1
  if observed then
    core.watch(array, true, nil, wants)
    for i = 1, random(0, 5) do core.watch(array, false, random(9), 5) end
    core.journal(array, true)
  end
  core.on_written(function() end)
  core.on_edit(function(t, edit)
    if t ~= array then return end
    local kind = edit.kind
    if kind == "none" then
      if edit.key == #mirror + 1 then
        mirror[edit.key] = edit.new
      elseif edit.new == nil then
        assert(edit.key == #mirror)
        mirror[edit.key] = nil
      else
        mirror[edit.key] = edit.new
      end
    elseif kind == "insert" then
      table.insert(mirror, edit.at, edit.element)
    elseif kind == "remove" then
      assert(table.remove(mirror, edit.at) == edit.element)
    elseif kind == "move" then
      table.insert(mirror, edit.at, table.remove(mirror, edit.from))
    elseif kind == "swap" then
      mirror[edit.at], mirror[edit.from] = mirror[edit.from], mirror[edit.at]
    elseif kind == "append" then
      for i = 0, edit.count - 1 do mirror[edit.at + i] = array[edit.at + i] end
    elseif kind == "clear" then
      for i = 1, edit.count do assert(mirror[i] == edit.list[i]) end
      mirror = {}
    elseif kind == "range" then
      for i = 1, edit.count do
        assert(mirror[edit.at + i - 1] == edit.list[i])
        mirror[edit.at + i - 1] = array[edit.at + i - 1]
      end
    else
      assert(edit.count == #mirror)
      for i = 1, edit.count do assert(mirror[i] == edit.list[i]) end
      mirror = { table.unpack(array) }
    end
    assert(edit.length == #array)
  end)
  local n
  local operations = {
    function() local v = random(6) array:append(v, v) plain[n + 1] = v plain[n + 2] = v end,
    function()
      local p, v = random(n + 1), random(6)
      array:insert(p, v)
      table.insert(plain, p, v)
    end,
    function() assert(array:remove() == table.remove(plain)) end,
    function()
      if n == 0 then return end
      local p = random(n)
      assert(array:remove(p) == table.remove(plain, p))
    end,
    function()
      if n == 0 then return end
      local p, v = random(n), random(6)
      array:replace(p, v)
      plain[p] = v
    end,
    function() local p, v = random(n + 1), random(6) array[p] = v plain[p] = v end,
    function() if n > 0 then array[n] = nil plain[n] = nil end end,
    function()
      if n == 0 then return end
      local from, to = random(n), random(n)
      array:move(from, to)
      table.insert(plain, to, table.remove(plain, from))
    end,
    function()
      if n == 0 then return end
      local p, q = random(n), random(n)
      array:swap(p, q)
      plain[p], plain[q] = plain[q], plain[p]
    end,
    function() array:sort() table.sort(plain) end,
    function()
      local function less(p, q) if p == 3 then error("") end return p < q end
      if pcall(array.sort, array, less) then table.sort(plain) end
    end,
    function()
      array:reverse()
      for i = 1, n // 2 do plain[i], plain[n + 1 - i] = plain[n + 1 - i], plain[i] end
    end,
    function() if random(4) == 1 then array:clear() plain = {} end end,
    function() plain = values(random(0, 9)) array:set(plain) end,
    function() table.insert(array, 1, 7) table.insert(plain, 1, 7) end,
    function() table.remove(array, 1) table.remove(plain, 1) end,
    function()
      table.move({ 1, 2 }, 1, 2, n + 1, array)
      table.move({ 1, 2 }, 1, 2, n + 1, plain)
    end,
    function() rawset(array, n + 1, 9) plain[n + 1] = 9 end,
  }
  for step = 1, 40 do
    n = #plain
    operations[random(#operations)]()
    assert(#array == #plain and array.count == #plain, "another length")
    for i = 1, #plain do
      assert(array[i] == plain[i], ("seed %d step %d at %d"):format(seed, step, i))
      assert(not observed or mirror[i] == plain[i], ("seed %d step %d copy"):format(seed, step))
    end
    assert(not observed or #mirror == #plain)
    if observed and random(20) == 1 then core.unobserve(array) end
  end
end

for seed = first, last do run(seed) end
collectgarbage()
print(last - first + 1 .. " programs")
