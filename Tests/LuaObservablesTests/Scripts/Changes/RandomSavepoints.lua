-- S8 for random programs: nested transactions, each with its own roots, against a reference that
-- knows for each write which transactions undo it.
--
--   obs-lua RandomSavepoints.lua [first seed [count]]
local obs = require "obs"

local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local programs = dofile(folder .. "../Support/programs.lua")

local COUNT = 4

-- A program is a list of statements: { "write", object, key, value }, { "flush" }, and
-- { "transaction", roots, fails, statements }.
local function statements_of(random, depth)
  local list = {}
  for i = 1, random(0, 5) do
    local choice = random(10)
    if choice <= 6 or depth == 0 and choice <= 9 then
      list[i] = { "write", random(COUNT), random(2) == 1 and "n" or "m", random(3) }
    elseif choice <= 9 then
      local roots = {}
      for object = 1, COUNT do if random(2) == 1 then roots[#roots + 1] = object end end
      if #roots == 0 then roots[1] = random(COUNT) end
      list[i] = { "transaction", roots, random(2) == 1, statements_of(random, depth - 1) }
    else
      list[i] = { "flush" }
    end
  end
  return list
end

local World = {}
World.__index = World

local function world_of()
  local self = setmetatable({
    objects = {}, values = {}, roots = {}, calls = {}, expected = {}, watched = {}, pending = {},
    open = {},
  }, World)
  for i = 1, COUNT do
    self.objects[i] = { n = 0, m = 0 }
    self.values[i] = { n = 0, m = 0 }
  end
  local function watch(...)
    local root, paths, watched = {}, {}, {}
    for k, place in ipairs { ... } do
      local object, key = place[1], place[2]
      root[k] = self.objects[object]
      paths[k] = "#" .. k .. "." .. key
      watched[#watched + 1] = object .. key
    end
    local number = #self.watched + 1
    self.roots[number] = root
    self.watched[number], self.calls[number], self.expected[number] = watched, 0, 0
    self.pending[number] = {}
    obs.observe(root, paths, function() self.calls[number] = self.calls[number] + 1 end)
  end
  for i = 1, COUNT do watch({ i, "n" }) end
  watch({ 1, "n" }, { 2, "m" })
  watch({ 2, "n" }, { 3, "n" }, { 4, "m" })
  watch({ 1, "m" }, { 4, "n" })
  return self
end

-- An ordinary write, or a write that some of the open transactions can undo.
function World:write(object, key, value)
  if self.values[object][key] ~= value then
    local write = { object = object, key = key, old = self.values[object][key], by = {} }
    for _, transaction in ipairs(self.open) do
      if transaction.covers[object] then write.by[transaction] = true end
    end
    for _, transaction in ipairs(self.open) do
      transaction.writes[#transaction.writes + 1] = write
    end
    for number, watched in ipairs(self.watched) do
      for _, place in ipairs(watched) do
        if place == object .. key then self.pending[number][write] = true end
      end
    end
    self.values[object][key] = value
  end
  self.objects[object][key] = value
end

function World:take_back(transaction)
  for i = #transaction.writes, 1, -1 do
    local write = transaction.writes[i]
    if write.by[transaction] and not write.is_undone then
      write.is_undone = true
      self.values[write.object][write.key] = write.old
    end
  end
end

function World:flush()
  obs.flush()
  for number, writes in ipairs(self.pending) do
    local is_called = false
    for write in next, writes do is_called = is_called or not write.is_undone end
    if is_called then self.expected[number] = self.expected[number] + 1 end
    self.pending[number] = {}
    if self.calls[number] ~= self.expected[number] then
      error(("S8: watcher %d was called %d times, not %d"):format(
        number, self.calls[number], self.expected[number]), 0)
    end
  end
end

function World:compare(when)
  for i = 1, COUNT do
    for key, value in next, self.values[i] do
      if self.objects[i][key] ~= value then
        error(("S8: object %d has %s = %s %s, not %s"):format(
          i, key, self.objects[i][key], when, value), 0)
      end
    end
  end
end

function World:run(list)
  for _, statement in ipairs(list) do
    local kind = statement[1]
    if kind == "write" then
      self:write(statement[2], statement[3], statement[4])
    elseif kind == "flush" then
      if #self.open == 0 then self:flush() end
    else
      local transaction = { covers = {}, writes = {} }
      local roots = {}
      for i, object in ipairs(statement[2]) do
        transaction.covers[object] = true
        roots[i] = self.objects[object]
      end
      local inner
      obs.transaction(roots, function()
        self.open[#self.open + 1] = transaction
        inner = table.pack(pcall(self.run, self, statement[4]))
        if not inner[1] then error(inner[2], 0) end
        if statement[3] then error("fails", 0) end
      end)
      self.open[#self.open] = nil
      if not inner[1] then error(inner[2], 0) end
      if statement[3] then self:take_back(transaction) end
      self:compare("after a transaction")
    end
  end
end

local random = {}

function random.difference(_, program)
  local ok, message = pcall(function()
    local world = world_of()
    world:run(program)
    world:flush()
    world:compare("at the end")
  end)
  return not ok and tostring(message) or nil
end

local function text_of(list)
  local parts = {}
  for i, statement in ipairs(list) do
    if statement[1] == "transaction" then
      parts[i] = ("{ %q, { %s }, %s, %s }"):format("transaction",
        table.concat(statement[2], ", "), statement[3], text_of(statement[4]))
    elseif statement[1] == "write" then
      parts[i] = ("{ %q, %d, %q, %d }"):format(table.unpack(statement))
    else
      parts[i] = "{ \"flush\" }"
    end
  end
  return "{ " .. table.concat(parts, ", ") .. " }"
end

-- Removes statements, also inside transactions, while the program still fails.
local function shrunk(program, message)
  program, message = programs.shrink(random, nil, program, message, function() return {} end)
  local function shrink_inside(list)
    for i, statement in ipairs(list) do
      if statement[1] == "transaction" then
        local inner = statement[4]
        local within = { difference = function(_, shorter)
          statement[4] = shorter
          local found = random.difference(nil, program)
          statement[4] = inner
          return found
        end }
        inner, message = programs.shrink(within, nil, inner, message, function() return {} end)
        statement[4] = inner
        shrink_inside(inner)
      end
    end
  end
  shrink_inside(program)
  return program, message
end

local first, last = programs.seeds(1500)
if arg and arg[1] then
  first = math.tointeger(tonumber(arg[1]))
  last = first + math.tointeger(tonumber(arg[2] or 1)) - 1
end
for seed = first, last do
  math.randomseed(seed)
  local program = {}
  for _ = 1, 4 do
    for _, statement in ipairs(statements_of(math.random, 3)) do
      program[#program + 1] = statement
    end
  end
  local message = random.difference(nil, program)
  if message then
    program, message = shrunk(program, message)
    error(("seed %d: %s\n%s"):format(seed, message, text_of(program)), 0)
  end
end
