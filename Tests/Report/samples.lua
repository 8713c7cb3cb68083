-- Writes recordings of a shop that never was: lua5.4 samples.lua FOLDER
-- Beside each NAME.jsonl, NAME.expected has the final state and the number of turns, for the test.
local folder = assert(arg[1], "lua5.4 samples.lua FOLDER")

local function quote(text)
  return '"' .. text:gsub('[%c"\\]', function(c) return ("\\u%04x"):format(c:byte()) end) .. '"'
end

local Object = {}  -- the metatable of the shop's objects

local function json(value)
  if value == nil then return "null" end
  if type(value) == "string" then return quote(value) end
  if getmetatable(value) == Object then
    return ('{"o":"%s","t":%s}'):format(value.address, quote(value.name))
  end
  return type(value) == "table" and value.json or tostring(value)
end

local Recording = {}
Recording.__index = Recording

local function create(name, header)
  local self = setmetatable({}, Recording)
  self.name, self.texts, self.objects, self.time, self.events = name, {}, {}, 0, 0
  self.counts = {
    text = 0, object = 0, watcher = 0, write = 0, turn = 0, property = 0, address = 0x55810,
  }
  self.file = assert(io.open(folder .. "/" .. name .. ".jsonl", "wb"))
  self.file:write('{"obs-lua":"recording","version":1,"program":"obs-lua 0.1.0 (Lua 5.4.4)",',
    '"build":"00","script":"shop.lua","arguments":[],"started":1795837200.5,"values":"short",',
    '"inputs":true,"last":', header or "null", "}\n")
  return self
end

function Recording:line(...)
  self.events = self.events + 1
  self.file:write("[", table.concat({ ... }, ","), "]\n")
end

function Recording:next(what)
  self.counts[what] = self.counts[what] + 1
  return self.counts[what]
end

function Recording:text(text)
  if text == nil then return 0 end
  if not self.texts[text] then
    self.texts[text] = self:next("text")
    self:line('"text"', self.texts[text], quote(text))
  end
  return self.texts[text]
end

function Recording:tick(microseconds)
  self.time = self.time + microseconds
  return self.time
end

function Recording:turn(kind, place, body)
  place = self:text(place)
  self:line('"turn"', self:next("turn"), quote(kind), place, self:tick(math.random(30, 900)))
  body()
  self:line('"end"', self.counts.turn, self:tick(math.random(5, 40)))
end

function Recording:describe(object)
  local contents = {}
  for key, value in pairs(object.fields) do
    contents[#contents + 1] = ("[%s,%s]"):format(json(key), json(value))
  end
  for i, value in ipairs(object.list) do
    table.insert(contents, math.random(#contents + 1), ("[%d,%s]"):format(i, json(value)))
  end
  local name = self:text(object.name)
  self:line('"object"', object.id, name, quote(object.address),
    object.unknown and "null" or "[" .. table.concat(contents, ",") .. "]")
end

-- Addresses are used again, as by an allocator.
function Recording:object(name, fields, list, later)
  local object = setmetatable({ name = name, fields = fields or {}, list = list or {} }, Object)
  object.id = self:next("object")
  object.address = self.free or ("%x"):format(self:next("address") * 64)
  self.free = nil
  self.objects[object.id] = object
  if not later then self:describe(object) end
  return object
end

function Recording:gone(object)
  self:line('"gone"', object.id)
  self.objects[object.id], self.free = nil, object.address
end

function Recording:write(object, key, value, place)
  local n, at = self:next("write"), self:text(place)
  self:line('"write"', n, object.id, json(key), json(object.fields[key]), json(value), at)
  object.fields[key] = value
  return n
end

function Recording:edit(object, operation, position, value, place)
  local n, at = self:next("write"), self:text(place)
  if operation == "insert" then table.insert(object.list, position, value)
  elseif operation == "remove" then value = table.remove(object.list, position)
  elseif operation == "all" then
    local pairs_of = {}
    for place, item in ipairs(value) do
      pairs_of[place] = ("[%d,%s]"):format(place, json(item))
    end
    object.list, value = value, { json = "[" .. table.concat(pairs_of, ",") .. "]" }
  else object.list[position] = value end
  self:line('"edit"', n, object.id, quote(operation), position, json(value), at)
  return n, value
end

function Recording:watcher(name, place, object, path)
  local w, n, p, k = self:next("watcher"), self:text(name), self:text(place), self:text(path)
  self:line('"watcher"', w, n, p, object.id, k)
  return w
end

function Recording:property(name, place, object)
  local p, n, k = self:next("property"), self:text(name), self:text(place)
  self:line('"lazy"', p, n, k, object.id)
  return p
end

function Recording:compute(p, old, new, outcome)
  local duration = math.random(2, 60)
  self:line('"compute"', p, json(old), json(new), self:tick(duration), duration,
    table.unpack { outcome and quote(outcome) })
end

function Recording:call(w, writes, body)
  local start = self:tick(math.random(1, 5))
  self:line('"call"', w, "[" .. table.concat(writes, ",") .. "]", start)
  if body then body() end
  self:tick(math.random() < 0.01 and math.random(500, 4000) or math.random(3, 90))
  self:line('"return"', w, self.time - start)
end

function Recording:close(rest)
  self.file:write(rest or ("[\"stopped\",%d]\n"):format(self.time))
  self.file:close()
  local lines = {}
  for id, object in pairs(self.objects) do
    local value = function(v) return getmetatable(v) == Object and "#" .. v.id or json(v) end
    local function add(k, v) lines[#lines + 1] = ("%d %s=%s"):format(id, json(k), value(v)) end
    for k, v in pairs(object.fields) do add(k, v) end
    for i, v in ipairs(object.list) do add(i, v) end
    lines[#lines + 1] = tostring(id)
  end
  table.sort(lines)
  local file = assert(io.open(folder .. "/" .. self.name .. ".expected", "wb"))
  file:write(self.turns or self.counts.turn, "\n", table.concat(lines, "\n"), "\n")
  file:close()
end

-- The shop: orders come, change and go; a view, an alert and a log watch them.
local names = { "tea", "coffee", "sugar", "milk", "rice" }

local function open(r)
  local shop
  local s = {}
  r:turn("chunk", "shop.lua:1", function()
    s.stats = r:object("table", { revenue = 0, sold = 0, open = 0 })
    s.orders = r:object("array")
    shop = r:object("Shop", { name = "Corner shop", stats = s.stats, orders = s.orders })
    s.shop = shop
    s.revenue = r:property("revenue", "shop.lua:12", shop)
    s.average = r:property("average", "shop.lua:16", shop)
    s.view = r:watcher("view", "shop.lua:22", shop, "orders.*.status")
    s.alert = r:watcher("alert", "shop.lua:29", shop, "stats.open")
    s.log = r:watcher("log", "shop.lua:35", shop, "revenue")
    s.header = r:watcher("header", "shop.lua:41", shop, "average")
    r:watcher("never", "shop.lua:44", s.stats, "broken")
    r:line('"timer"', 1, 0.001, r:text("shop.lua:50"), "true")
    r:line('"flush"', 1)
  end)
  s.sum, s.mean = 0, 0
  return s
end

local function step(r, s, i, writes)
  local kind = i % 17 == 0 and "task" or i % 97 == 0 and "message" or "timer"
  if i % 250 == 0 then r:tick(math.random(20000, 200000)) end
  r:turn(kind, ({ timer = "shop.lua:50", task = "shop.lua:60" })[kind], function()
    local causes = {}
    if i % 5 == 1 then
      local fields = { status = "new", price = math.random(1, 90), item = names[i % 5 + 1] }
      local order = r:object("Order", fields, nil, true)
      causes[1] = r:edit(s.orders, "insert", math.random(#s.orders.list + 1), order, "shop.lua:52")
      r:describe(order)
      causes[2] = r:write(s.stats, "open", s.stats.fields.open + 1, "shop.lua:53")
    end
    for _ = 1, writes do
      local order = s.orders.list[math.random(#s.orders.list)]
      causes[#causes + 1] = r:write(order, "price", math.random(1, 90), "shop.lua:55")
    end
    if #s.orders.list > 40 then
      local n, order = r:edit(s.orders, "remove", 1, nil, "shop.lua:57")
      causes[#causes + 1] = n
      r:gone(order)
    end
    if i % 11 == 0 then
      local reversed = {}
      for place, order in ipairs(s.orders.list) do
        reversed[#s.orders.list + 1 - place] = order
      end
      causes[#causes + 1] = r:edit(s.orders, "all", 0, reversed, "shop.lua:58")
    end
    r:line('"invalid"', s.revenue, causes[1])
    r:line('"flush"', 1)
    if i % 3 == 0 then
      local n
      r:call(s.view, { table.unpack(causes, 1, 3) }, function()
        n = r:write(s.stats, "sold", s.stats.fields.sold + 1, "shop.lua:24")
      end)
      local sum = s.sum + n % 7
      r:compute(s.revenue, s.sum, sum, sum == s.sum and "equal" or nil)
      if sum ~= s.sum then r:call(s.log, { causes[1] }) end
      s.sum = sum
    end
    if i % 5 == 1 then r:call(s.alert, { causes[2] })
    else r:line('"unchanged"', s.alert) end
    if i % 11 == 0 then
      r:line('"equal"', s.stats.id, json("open"), r:text("shop.lua:54"), math.random(1, 30))
    end
    if i % 997 == 0 then
      local message = "shop.lua:31: attempt to index a nil value (field 'customer')\n" ..
        "stack traceback:\n\tshop.lua:31: in function 'alert'"
      r:line('"error"', quote(message), r:text("shop.lua:31"), s.alert)
    end
  end)
end

math.randomseed(42)
local r = create("small")
local s = open(r)
for i = 1, 40 do step(r, s, i, 2) end
r:turn("prompt", nil, function()
  local node = r:object("Node", {}, nil, true)
  local other = r:object("Node", { back = node }, nil, true)
  node.fields.next, node.fields.self = other, node
  r:describe(node)
  r:describe(other)
  local many = {}
  for i = 1, 200 do
    local object = r:object("Item", { n = i })
    r:watcher("item " .. i, "shop.lua:70", object, "n")
    many[#many + 1] = r:write(object, "n", i + 1, "shop.lua:71")
  end
  for i = 1, 200 do r:call(5 + i, { many[i], table.unpack { i == 1 and -7 or nil } }) end
  r:call(1, { 1 })  -- a write of an earlier turn
end)
r:close()

r = create("turns")
s = open(r)
for i = 1, 10000 do step(r, s, i, 4) end
r:close()
print("turns: events", r.events)

r = create("million")
s = open(r)
for i = 1, 80000 do step(r, s, i, 5) end
r:close()
print("million: events", r.events)

-- One turn with everything.
r = create("one")
s = open(r)
r:turn("chunk", "shop.lua:1", function()
  for i = 1, 200000 do
    local n = r:write(s.stats, "sold", i, "shop.lua:9")
    if i % 4 == 0 then r:call(s.view, { n }) end
  end
end)
r:close()

-- Texts that want to be HTML, break out of the block or look like something else.
local hostile = "</script><img src=x onerror=alert(1)>"
r = create("hostile")
r:turn("chunk", hostile .. ":1", function()
  local o = r:object(hostile, { [hostile] = hostile, ["<!--"] = "<!-- <script>", ["\0nul"] = "\0",
    ["__proto__"] = "p", ["a\nb"] = "line\nbreak", [true] = false, [1.5] = 2 })
  local w = r:watcher(hostile, hostile .. ":2", o, hostile)
  r:property(hostile, hostile .. ":3", o)
  local n = r:write(o, hostile, "<b>bold</b>\u{202e}drow", hostile .. ":4")
  r:call(w, { n })
  r:line('"error"', quote(hostile), r:text(hostile .. ":5"), w)
  r:line('"' .. "<img src=x onerror=alert(2)>" .. '"', 1)
  for key, value in pairs { hidden = '{"hidden":true}', nan = '{"n":"nan"}', bytes = '{"b":"/wA="}',
    f = '{"x":"function"}', unknown = '{"u":1}', proto = '{"__proto__":1}' } do
    r:write(o, key, { json = value }, hostile .. ":6")
  end
  r:line('"equal"', o.id, json(hostile), r:text(hostile .. ":7"), 3)
end)
-- The source of the places.
local source = ("local a = '" .. hostile .. "'\n"):rep(9)
r:line('"input"', '"text"', quote(hostile), 1, 0, quote(source))
r:close()

-- The process was killed while it wrote.
r = create("cut")
s = open(r)
for i = 1, 30 do step(r, s, i, 2) end
r:close('["turn",32,"tim')

-- Only the last turns: a checkpoint, later another.
r = create("last", "100")
s = open(r)
r.file:close()
r.file = assert(io.open(folder .. "/ignored", "wb"))
for i = 1, 900 do step(r, s, i, 2) end
r.file:close()
os.remove(folder .. "/ignored")
r.file = assert(io.open(folder .. "/last.jsonl", "wb"))
r.file:write('{"obs-lua":"recording","version":1,"program":"obs-lua 0.1.0","last":100}\n')
local function checkpoint()
  r.texts = {}
  r:line('"checkpoint"', r.counts.turn, r.time)
  for _, object in pairs(r.objects) do r:describe(object) end
  for w, name in ipairs { "view", "alert", "log", "header" } do
    r:line('"watcher"', w, r:text(name), r:text("shop.lua:" .. w), s.shop.id, r:text("orders"))
  end
  r:line('"lazy"', s.revenue, r:text("revenue"), r:text("shop.lua:12"), s.shop.id)
end
checkpoint()
local before = r.counts.turn
for i = 901, 950 do step(r, s, i, 2) end
checkpoint()
for i = 951, 1000 do step(r, s, i, 2) end
r.turns = r.counts.turn - before
r:close()

-- Lines that look like events but are none: each field of each line is replaced by each of these.
local source = assert(io.open(folder .. "/small.jsonl"))
local out = assert(io.open(folder .. "/fuzzed.jsonl", "wb"))
local others = { "null", "-1", "1e9", "\"x\"", "[]", "{}", "[[null]]", "true", '{"o":1}' }
for number = 1, 400 do
  local line = source:read("L")
  out:write(line)
  local fields = number > 1 and { line:match('^(%["%a+"),(.*)%]\n$') } or {}
  if fields[1] then
    local list, other = {}, others[number % #others + 1]
    for field in (fields[2] .. ","):gmatch("([^,%[%]{}]+),") do list[#list + 1] = field end
    for i = 1, #list do
      local copy = table.move(list, 1, #list, 1, {})
      copy[i] = other
      out:write(fields[1], ",", table.concat(copy, ","), "]\n")
    end
    out:write(fields[1], "]\n")
  end
end
source:close()
out:close()

-- Lines are missing: objects, watchers and texts that nobody defined, and a line that is no JSON.
r = create("missing")
r:turn("timer", nil, function()
  local o = r:object("table", { a = 1 })
  o.unknown = true
  local unseen = r:object("table", {}, nil, true)
  r:line('"missed"', 12)
  r:write(unseen, "b", 2, nil)
  r:call(99, { 77 })
  r:line('"return"', 98, 5)
  r:line('"write"', 500, o.id, '"t"', "null", '{"o":"nowhere","t":"table"}', 4711)
  o.fields.t = { json = '{"o":"nowhere","t":"table"}' }
  r:line('"compute"', 9, "1", "2", 10, 3)
  r.file:write("no json\n")
  r:line('"unknown kind"', '{"x":1}')
  r:line('"watcher"', 3, 800, 801, 900, 802)
end)
r.file:write('["turn",9,"luv",0,5000]\n["flush",1]\n')
r.turns = 2
r:close()
