-- M1: for every kind of table, C code sees the contents that `pairs`, `rawlen` and
-- `debug.getmetatable` show.
local obs, raw, json, check = require "obs", require "rawaccess", require "cjson", require "check"

local function ignore() end
local function seen_by_script(t)
  local found = {}
  for key, value in pairs(t) do found[key] = value end
  return found
end
local function seen_by_c(t)
  local found, count, keys, values = {}, raw.all(t)
  for i = 1, count do found[keys[i]] = values[i] end
  local stepped, key, value = {}, raw.next(t)
  while key ~= nil do
    stepped[key] = value
    key, value = raw.next(t, key)
  end
  for k, v in pairs(found) do check.equal(stepped[k], v) check.equal(raw.get(t, k), v) end
  for k, v in pairs(stepped) do check.equal(found[k], v) end
  return found
end

local Point = obs.model("Point", { x = 1, y = 2, tags = {},
  sum = obs.computed({ "x", "y" }, function(self) return self.x + self.y end),
  double = obs.lazy(function(self) return self.x * 2 end),
})
local Named = obs.model("Named", Point, {
  name = "none", shout = function(self) return self.name end,
})
local point, named = Point { x = 5 }, Named { name = "a" }
local _ = point.sum + named.double
local weak = setmetatable({ 1, 2 }, { __mode = "v", __index = { z = 1 } })
local shared = { n = 1 }
local shapes = {
  plain = { 1, 2, a = 3 }, empty = {}, point = point, named = named, weak = weak,
  array = obs.array { 1, { 2 }, 3 }, set = obs.set_of { "a", "b", shared },
  dictionary = obs.dictionary { a = 1, b = shared },
  copy = (function()
    local t = { items = obs.array { 1, 2 } }
    obs.copy_of(t, "copy", "items")
    return t.copy
  end)(),
  holes = { 1, nil, 3, nil, 5 }, class = setmetatable({}, { __index = string, __name = "Class" }),
}
for round = 1, 3 do
  for name, t in pairs(shapes) do
    if round == 2 then
      for key in pairs(t) do
        if type(t) == "table" and name ~= "set" and name ~= "array" and name ~= "copy" then
          obs.observe(t, obs.path(key), ignore)
        end
        break
      end
    elseif round == 3 then
      obs.observe(t, "*", ignore)
    end
    local c, script = seen_by_c(t), seen_by_script(t)
    for key, value in pairs(script) do check.equal(c[key], value, name) end
    for key, value in pairs(c) do check.equal(script[key], value, name) end
    check.equal(raw.len(t), rawlen(t), name)
    check.equal(raw.getmetatable(t), debug.getmetatable(t), name)
  end
end
check.equal(json.encode(obs.array { 1, 2, 3 }), "[1,2,3]")
check.equal(json.encode { list = shapes.array }, '{"list":[1,[2],3]}')
check.equal(json.encode(obs.dictionary { a = 1 }), '{"a":1}')
check.equal(json.decode(json.encode(point)).sum, 7.0, "valid lazy keys")
obs.invalidate(point, "sum")
check.equal(json.decode(json.encode(point)).sum, nil, "invalid ones are not there")

-- Names of functions, also if the table of a module is observed.
local function why(f, ...)
  local _, text = xpcall(f, debug.traceback, ...)
  return text
end
local function message(text) return text:match("^[^\n]*") end
local before = why(json.encode, print)
obs.observe(json, "encode", ignore)
check.equal(message(why(json.encode, print)), message(before))
check.equal(before:find("in function 'cjson.encode'", 1, true) ~= nil, true, before)
check.equal(why(json.encode, print):find("in function 'cjson.encode'", 1, true) ~= nil, true)
obs.observe(json, "*", ignore)
check.equal(why(json.encode, print):find("in function 'cjson.encode'", 1, true) ~= nil, true)

check.done()
