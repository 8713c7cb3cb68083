-- Random programs with collections, run side by side with a kind of list and with plain tables that
-- the reference examines.
--
-- A program is a list of statements in Lua. Failing programs are shortened as far as possible and
-- printed; `random.run(kind, program)` runs a printed program again.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)"
local obs = require "obs"
local adapters = dofile(folder .. "adapters.lua")
local reference = dofile(folder .. "reference.lua")
local programs = dofile(folder .. "../../Support/programs.lua")
local same = reference.same

local random = {}

-- A world without watchers -----------------------------------------------------------------------

local function naive()
  local N = {}
  function N.list(elements)
    local list = table.move(elements, 1, #elements, 1, {})
    reference.lists[list] = true
    return list
  end
  function N.new(fields)
    if fields.tags then fields.tags = N.list(fields.tags) end
    return fields
  end
  function N.size(list) return #list end
  function N.get(list, i) return list[i] end
  function N.append(list, value) list[#list + 1] = value end
  N.insert, N.remove, N.sort = table.insert, table.remove, table.sort
  function N.replace(list, i, value) list[i] = value end
  function N.move(list, from, to) table.insert(list, to, table.remove(list, from)) end
  function N.swap(list, a, b) list[a], list[b] = list[b], list[a] end
  function N.reverse(list)
    for i = 1, #list // 2 do list[i], list[#list + 1 - i] = list[#list + 1 - i], list[i] end
  end
  function N.clear(list) for i = #list, 1, -1 do list[i] = nil end end
  function N.set(list, other)
    N.clear(list)
    table.move(other, 1, #other, 1, list)
  end
  return N
end

-- The names for statements of a program: `o`, six objects; `l(n)` and `g(n)`, the n-th list of
-- objects and of numbers (any n is valid); and the operations, which accept any index.
local function world(A)
  local env = {o = {}, lists = {}, numbers = {}, math = math}
  local function keep(all, list)
    all[#all + 1] = list
    return list
  end
  function env.list(elements) return keep(env.lists, A.list(elements)) end
  function env.tags(elements) return keep(env.numbers, (A.numbers or A.list)(elements)) end
  function env.l(n) return env.lists[n % #env.lists + 1] end
  function env.g(n) return env.numbers[n % #env.numbers + 1] end
  local function at(list, i, more)
    local n = A.size(list) + (more or 0)
    if n > 0 then return (i - 1) % n + 1 end
  end
  env.append = A.append
  function env.insert(list, i, value) A.insert(list, at(list, i, 1), value) end
  function env.remove(list, i) if at(list, i) then A.remove(list, at(list, i)) end end
  function env.replace(list, i, value)
    if at(list, i) then A.replace(list, at(list, i), value) end
  end
  for _, name in ipairs {"move", "swap"} do
    env[name] = function(list, i, j)
      if at(list, i) then A[name](list, at(list, i), at(list, j)) end
    end
  end
  env.reverse, env.clear, env.set = A.reverse, A.clear, A.set
  local function rank(value) return math.type(value) and value or value.name end
  function env.sort(list) A.sort(list, function(a, b) return rank(a) < rank(b) end) end
  for i = 1, 6 do
    env.o[i] = A.new {name = "o" .. i, price = i}
    if i < 5 then env.o[i].tags = env.tags {i, 3} end
  end
  env.o[1].items = env.list {env.o[2], env.o[3], env.o[4]}
  env.o[2].items = env.list {env.o[5], env.o[1]}
  return env
end

-- One run ----------------------------------------------------------------------------------------

local Run = {}
Run.__index = Run

local function fail(text, ...) error({text:format(...)}, 0) end

function Run.new(kind)
  local A = type(adapters[kind]) == "function" and adapters[kind]() or adapters[kind]
  local self = setmetatable({A = A, watchers = {}, calls = {}}, Run)
  self.real, self.model = world(A), world(naive())
  -- The statements about watchers. Their text is the same for both worlds, as they name roots.
  self.shared = {
    watch = function(...) self:watch(...) end,
    edits = function(...) self:follow(...) end,
    stop = function(n) self:with(n, function(w) w.handle:stop() w.active = false end) end,
    pause = function(n) self:with(n, function(w)
      if not w.immediate then w.handle:pause() w.paused = true end
    end) end,
    resume = function(n) self:with(n, function(w) w.handle:resume() w.paused = false end) end,
    turn = function() self:turn() end,
  }
  return self
end

function Run:with(n, body)
  local watcher = #self.watchers > 0 and self.watchers[n % #self.watchers + 1]
  if watcher and watcher.active then body(watcher) end
end

-- The corresponding object of the other world.
function Run:real_of(value)
  if type(value) ~= "table" then return value end
  for i, object in ipairs(self.model.o) do if object == value then return self.real.o[i] end end
  for _, kind in ipairs {"lists", "numbers"} do
    for i, list in ipairs(self.model[kind]) do
      if list == value then return self.real[kind][i] end
    end
  end
  error "an object of no world"
end

-- "l", 2 → both lists; "o", 1 → both objects.
function Run:roots(kind, n)
  if kind == "o" then return self.real.o[n], self.model.o[n] end
  return self.real[kind](n), self.model[kind](n)
end

function Run:watch(kind, n, path, is_immediate)
  local real, model = self:roots(kind, n)
  local w = {
    id = #self.watchers + 1, active = true, root = model, real = real, path = path,
    parts = reference.split(path), immediate = is_immediate, heard = 0,
    many = path:find "%*" or path:find "^items%.%a+%.",
  }
  local digits = math.tointeger(tonumber(w.parts[1]))
  local ok, handle = pcall(self.A.observe, real, path, function()
    if is_immediate then w.heard = w.heard + 1 else self.calls[#self.calls + 1] = w end
  end, {immediate = is_immediate})
  if digits and digits > #model then
    if ok then fail("digits beyond the end were accepted: '%s' of %d", path, #model) end
    return
  end
  if not ok then fail("'%s' was refused: %s", path, handle) end
  w.handle = handle
  if digits then
    w.anchor = model[digits]
    w.leaf = w.parts[2] and type(w.anchor) == "table" and w.anchor[w.parts[2]]
  else
    w.shot = reference.snapshot(model, w.parts)
    w.delivered = w.shot
  end
  self.watchers[w.id] = w
end

function Run:follow(kind, n)
  local real, model = self:roots(kind, n)
  local w = {
    id = #self.watchers + 1, active = true, root = model, real = real, is_edits = true,
    known = table.move(model, 1, #model, 1, {}), cost = 0,
  }
  w.mirror = {}
  for i = 1, #w.known do w.mirror[i] = self:real_of(w.known[i]) end
  w.handle = self.A.edits(real, function(_, edits)
    self.calls[#self.calls + 1] = w
    w.told = #edits
    for _, edit in ipairs(edits) do
      local at = edit.at
      if edit.kind == "insert" then
        if at < 1 or at > #w.mirror + 1 then fail("watcher %d: insert at %d", w.id, at) end
        table.insert(w.mirror, at, edit.new)
      elseif edit.kind == "move" then
        table.insert(w.mirror, at, table.remove(w.mirror, edit.from))
      else
        if not same(w.mirror[at], edit.old) then fail("watcher %d: old at %d", w.id, at) end
        if edit.kind == "remove" then table.remove(w.mirror, at) else w.mirror[at] = edit.new end
      end
    end
  end)
  self.watchers[w.id] = w
end

local function holds(list, value)
  for i = 1, #list do if same(list[i], value) then return true end end
  return false
end

-- The number of edits of a statement; nil if it reports the whole content instead.
local COSTS = {insert = 1, append = 1, remove = 1, replace = 1, move = 1, swap = 2}

-- After one statement: decides which watchers must be called for it.
function Run:note(statement)
  local operation = statement:match "^(%a+)%("
  for _, w in ipairs(self.watchers) do
    if not w.active then
    elseif w.is_edits then
      local cost = COSTS[operation]
      -- A plain list moves by several assignments.
      if self.A.kind == "a plain list" and operation == "move" then cost = nil end
      if not reference.same_lists(w.root, w.last or w.known) then
        w.cost = w.cost and cost and w.cost + cost
        w.last = table.move(w.root, 1, #w.root, 1, {})
      end
    elseif w.anchor ~= nil then
      local leaf = w.parts[2] and type(w.anchor) == "table" and w.anchor[w.parts[2]]
      if not same(leaf, w.leaf) then
        w.leaf = leaf
        if holds(w.root, w.anchor) then w.must = true else w.maybe = true end
      end
    else
      local shot = reference.snapshot(w.root, w.parts)
      local stored = not reference.same_stored(shot, w.shot)
      if w.immediate then
        local expected = stored and 1 or 0
        local right = w.heard == expected
        -- Operations of plain lists can be several writes.
        if not self.A.is_typed and stored then right = w.heard >= 1 end
        if not right then
          fail("immediate watcher %d of '%s' was called %d times, not %d, by\n  %s", w.id, w.path,
            w.heard, expected, statement)
        end
        w.heard = 0
      elseif stored then
        w.must = true
      elseif reference.derived_changed(shot, w.shot) ~= "no" then
        local operator = w.parts[shot.derived[1].step]
        w.maybe = w.maybe or operator == "@first" or operator == "@last"
      end
      if not self.A.is_typed and operation == "set" and w.path:find "#" then w.maybe = true end
      -- Below @first and @last the watcher may still follow an object that is no longer first or
      -- last.
      if w.path:find "@first%." or w.path:find "@last%." then
        if statement:find "^o%[" then w.maybe = true end
      end
      w.shot = shot
    end
  end
end

function Run:expected(w)
  if w.is_edits then
    return reference.same_lists(w.known, w.root) and "no" or "yes"
  elseif w.anchor ~= nil then
    if w.must or not holds(w.root, w.anchor) then return "yes" end
  elseif w.must then
    return "yes"
  else
    local changed = reference.derived_changed(w.delivered, w.shot)
    if changed ~= "no" then return changed end
  end
  return w.maybe and "maybe" or "no"
end

function Run:check_edits(w)
  if not w.told then return end
  local distance = reference.distance(w.known, w.root)
  local most = w.cost or distance
  if w.told > most then
    fail("watcher %d was told %d edits where %d do", w.id, w.told, most)
  end
  for i = 1, math.max(#w.mirror, #w.root) do
    if not same(w.mirror[i], self:real_of(w.root[i])) then
      fail("watcher %d: its edits give another element %d", w.id, i)
    end
  end
end

local function show(value)
  if type(value) ~= "table" then return tostring(value) end
  local texts = {}
  for i, element in ipairs(value) do
    texts[i] = type(element) == "table" and element.name or tostring(element)
  end
  return "{" .. table.concat(texts, " ") .. "}"
end

-- Compares the operators of a watcher with their values when read.
function Run:check_values(w)
  local entry = w.shot.derived[1]
  -- A path with many values cannot be read.
  if not self.A.read or not entry or w.many then return end
  local value = self.A.read(w.real, w.path)
  local is_right
  if entry.copy then
    is_right = type(value) == "table" and #value == #entry.value
    for i = 1, #entry.value do
      is_right = is_right and same(value[i], self:real_of(entry.value[i]))
    end
  else
    is_right = same(value, self:real_of(entry.value))
  end
  if not is_right then
    fail("'%s' gives %s, not %s", w.path, show(value), show(entry.value))
  end
end

function Run:check_lists()
  for _, kind in ipairs {"lists", "numbers"} do
    for n, list in ipairs(self.model[kind]) do
      local real = self.real[kind][n]
      if self.A.size(real) ~= #list then
        fail("list %d has %d elements, not %d", n, self.A.size(real), #list)
      end
      for i = 1, #list do
        if not same(self.A.get(real, i), self:real_of(list[i])) then
          fail("list %d has another element %d", n, i)
        end
      end
    end
  end
end

function Run:turn()
  self.calls = {}
  obs.flush()
  local called, last = {}, 0
  for _, w in ipairs(self.calls) do
    if called[w] then fail("watcher %d was called twice", w.id) end
    if w.id < last then fail("watcher %d was called after %d", w.id, last) end
    if not w.active then fail("watcher %d was called after its end", w.id) end
    called[w], last = true, w.id
  end
  self:check_lists()
  for _, w in ipairs(self.watchers) do
    if w.active and not w.immediate then
      local expected = self:expected(w)
      local name = w.is_edits and "of edits" or "of '" .. w.path .. "'"
      if w.paused then
        if called[w] then fail("watcher %d %s was called while paused", w.id, name) end
      elseif expected == "yes" and not called[w] then
        fail("watcher %d %s was not called", w.id, name)
      elseif expected == "no" and called[w] then
        fail("watcher %d %s was called for nothing", w.id, name)
      else
        if w.is_edits then
          self:check_edits(w)
          w.known, w.cost, w.told = table.move(w.root, 1, #w.root, 1, {}), 0, nil
          w.last = nil
        elseif w.anchor ~= nil then
          if not holds(w.root, w.anchor) then w.active = false end
        else
          w.delivered = w.shot
          self:check_values(w)
        end
        w.must, w.maybe = false, false
      end
      if w.handle.active ~= w.active then
        fail("watcher %d %s: active is %s", w.id, name, w.handle.active)
      end
    end
  end
end

-- Runs a statement in both worlds, or once if it is about watchers.
function Run:perform(statement)
  local name = statement:match "^(%a+)"
  if self.shared[name] then
    assert(load(statement, "=statement", "t", self.shared))()
    return
  end
  assert(load(statement, "=statement", "t", self.real))()
  assert(load(statement, "=statement", "t", self.model))()
  self:note(statement)
end

-- nil, or the failure.
function random.difference(kind, program)
  local run = Run.new(kind)
  local ok, message = xpcall(function()
    for _, statement in ipairs(program) do run:perform(statement) end
    run:turn()
  end, function(message)
    return type(message) == "table" and message[1] or debug.traceback(message)
  end)
  for _, w in ipairs(run.watchers) do w.handle:stop() end
  obs.flush()
  if not ok then return message end
end

-- Programs ---------------------------------------------------------------------------------------

local function pick(list) return list[math.random(#list)] end

local function object() return ("o[%d]"):format(math.random(6)) end
local function index() return math.random(7) end

local function some(make, most)
  local texts = {}
  for i = 1, math.random(0, most) do texts[i] = make() end
  return table.concat(texts, ", ")
end

local PATHS = {
  "items.#1", "items.#3", "items.#2.price", "items.*", "items.*.price", "items.@count",
  "items.@sum.price", "items.@avg.price", "items.@min.price", "items.@max.price",
  "items.@unionOfObjects.name", "items.@distinctUnionOfObjects.name", "items.@first.price",
  "items.@last.price", "items.@first", "items.@last", "items.@any.flag", "items.@all.flag",
  "items.@unionOfArrays.tags", "items.@distinctUnionOfArrays.tags", "items.@sum.tags.@count",
  "items.@max.tags.@sum", "items.*.tags.@count", "items.*.items.*.price", "items.*.tags.*",
  "items.@sum.items.@max.price", "items.#1.tags.@sum", "items.#2.items.#1.name",
}
local LIST_PATHS = {
  "#1", "#2", "#4", "#2.price", "*", "*.price", "@count", "@sum.price", "@min.price", "@max.price",
  "@first", "@last.price", "@any.flag", "1", "2", "3", "1.price", "2.name", "*.tags.*",
  "@distinctUnionOfArrays.tags",
}
local NUMBER_PATHS = {
  "#1", "#3", "*", "@count", "@sum", "@avg", "@min", "@max", "@first", "@last", "2",
}
local SPREADING = {
  "items.price", "items.count", "items.tags.count", "items.items.price", "items.tags.@sum",
}

function random.program(A)
  local function number()
    if A.has_mixed and math.random(4) == 1 then return math.random(12) + 0.25 end
    return math.random(5)
  end
  local function price()
    if A.has_nil and math.random(6) == 1 then return "nil" end
    return number()
  end
  local function list(element)
    if element == object then return ("l(%d)"):format(math.random(9)) end
    return ("g(%d)"):format(math.random(9))
  end
  local function write()
    local element = math.random(3) == 1 and number or object
    local target = list(element)
    local r = math.random(22)
    if r <= 3 then return ("insert(%s, %d, %s)"):format(target, index(), element()) end
    if r <= 5 then return ("append(%s, %s)"):format(target, element()) end
    if r <= 9 then return ("remove(%s, %d)"):format(target, index()) end
    if r <= 11 then return ("replace(%s, %d, %s)"):format(target, index(), element()) end
    if r == 12 then return ("move(%s, %d, %d)"):format(target, index(), index()) end
    if r == 13 then return ("swap(%s, %d, %d)"):format(target, index(), index()) end
    if r == 14 then return pick {"sort", "reverse", "clear"} .. "(" .. target .. ")" end
    if r == 15 then return ("set(%s, {%s})"):format(target, some(element, 5)) end
    if r == 16 then
      local value = pick {"list {" .. some(object, 4) .. "}", list(object), "nil"}
      return object() .. ".items = " .. value
    end
    if r == 17 then
      local value = pick {"tags {" .. some(number, 3) .. "}", list(number), "nil"}
      return object() .. ".tags = " .. value
    end
    if r <= 20 then return ("%s.price = %s"):format(object(), price()) end
    if r == 21 then return ("%s.flag = %s"):format(object(), pick {"true", "false"}) end
    return ("%s.name = 'n%d'"):format(object(), math.random(3))
  end
  local function watch()
    local r = math.random(12)
    if r <= 5 then
      local path = A.spreads and math.random(4) == 1 and pick(SPREADING) or pick(PATHS)
      return ("watch('o', %d, '%s')"):format(math.random(2), path)
    end
    if r <= 8 then return ("watch('l', %d, '%s')"):format(math.random(9), pick(LIST_PATHS)) end
    if r == 9 then return ("watch('g', %d, '%s')"):format(math.random(9), pick(NUMBER_PATHS)) end
    if r == 10 then
      return ("watch('l', %d, '%s', true)"):format(math.random(9), pick {"*", "#2", "*.price"})
    end
    return ("edits('%s', %d)"):format(pick {"l", "l", "g"}, math.random(9))
  end
  local program = {}
  for i = 1, math.random(10, 60) do
    local r = math.random(20)
    if r <= 5 then program[i] = watch()
    elseif r <= 8 then program[i] = "turn()"
    elseif r == 9 then
      program[i] = ("%s(%d)"):format(pick {"stop", "pause", "resume", "resume"}, math.random(9))
    else program[i] = write() end
  end
  return program
end

-- Runs one printed program.
function random.run(kind, program) programs.run(random, kind, program) end

-- Runs `OBS_COUNT` or `count` programs, beginning with seed `OBS_SEED`.
function random.try(kind, count)
  local A = type(adapters[kind]) == "function" and adapters[kind]() or adapters[kind]
  local first, last = programs.seeds(count)
  for seed = first, last do
    math.randomseed(seed)
    local program = random.program(A)
    local message = random.difference(kind, program)
    if message then
      program, message = programs.shrink(random, kind, program, message, function() return {} end)
      local text = "seed %d: %s\n\nlocal random = dofile '%srandom.lua'\n"
        .. "random.run('%s', {\n  \"%s\",\n})"
      local statements = table.concat(program, '",\n  "')
      error(text:format(seed, message, folder, kind, statements), 0)
    end
  end
end

return random
