-- Runs lists of cases with one adapter: `running.run(adapter, "graphs", "overrides", …)`.
--
-- A case is {rule, sentence, nodes = {…}, steps = {…}}. A node is {name, source} or {name,
-- operation, source = …, left = name, right = name, inputs = {names}}. `Steps` below defines the
-- steps. A number of computations that depends on how dependencies are found is {declared = …,
-- tracked = …}; false matches any number. A case with `only = field` runs if the adapter has that
-- field, a case with `unless = field` if it does not.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)"
dofile(folder .. "../../Support/checking.lua")
local obs = require "obs"

local running = {adapters = dofile(folder .. "adapters.lua")}

local Steps = {}

local Case = {}
Case.__index = Case

local function fail(text, ...) error(text:format(...), 0) end

local function same(actual, expected, what)
  if actual ~= expected or math.type(actual) ~= math.type(expected) then
    fail("%s is %s, not %s", what, tostring(actual), tostring(expected))
  end
end

function Case.new(adapter, case)
  local self = setmetatable({
    adapter = adapter, nodes = {}, names = {}, operations = {}, watchers = {}, log = {},
    counted = {}, witnesses = {}, reports = 0,
  }, Case)
  for _, node in ipairs(case.nodes) do
    local operation = type(node[2]) == "string" and node[2] or "source"
    local source = type(node[2]) == "number" and node[2] or node.source or 0
    self.nodes[node[1]] = adapter.new(operation, source)
    self.operations[node[1]] = operation
    self.names[#self.names + 1] = node[1]
  end
  for _, node in ipairs(case.nodes) do
    for _, key in ipairs {"left", "right"} do
      if node[key] then adapter.link(self.nodes[node[1]], key, self.nodes[node[key]]) end
    end
    if node.inputs then adapter.list(self.nodes[node[1]], self:find(node.inputs)) end
  end
  return self
end

function Case:find(names)
  local nodes = {}
  for i, name in ipairs(names) do nodes[i] = self:node(name) end
  return nodes
end

function Case:node(name)
  if self.nodes[name] == nil then fail("the case has no node %s", tostring(name)) end
  return self.nodes[name]
end

function Case:perform(steps)
  for i, step in ipairs(steps) do
    local body = Steps[step[1]] or fail("there is no step %s", tostring(step[1]))
    local ok, message = pcall(body, self, table.unpack(step, 2))
    if not ok then
      local place = ("step %d (%s %s)"):format(i, step[1], tostring(step[2] or ""))
      error(place .. ": " .. tostring(message), 0)
    end
  end
end

-- Writes and links.
function Steps:write(name, value) self.adapter.write(self:node(name), value) end
function Steps:link(name, key, other)
  self.adapter.link(self:node(name), key, other and self:node(other) or nil)
end
function Steps:list(name, names)
  self.adapter.list(self:node(name), names and self:find(names) or nil)
end
function Steps:insert(name, i, other) self.adapter.insert(self:node(name), i, self:node(other)) end
function Steps:remove(name, i) self.adapter.remove(self:node(name), i) end

-- Reads: checks the value of a property.
function Steps:read(name, value, property)
  property = property or "value"
  same(self.adapter.read(self:node(name), property), value, name .. "." .. property)
end
function Steps:peek(name, value, property)
  same(self.adapter.peek(self:node(name), property or "value"), value, name)
end
-- The names in a cycle identify objects differently in each adapter.
local function without_objects(message)
  return (message:gsub("%f[%w]%u%w*%.(%l)", "%1"):gsub(" %([^()]*:%d+%)", ""))
end
-- Checks that reading raises an error with this text.
function Steps:fails(name, text, property)
  local ok, message = pcall(self.adapter.read, self:node(name), property or "value")
  if ok then fail("%s is %s", name, tostring(message)) end
  if not without_objects(tostring(message)):find(text, 1, true) then
    fail("%q lacks %q", tostring(message), text)
  end
end
function Steps:valid(name, expected, property)
  same(self.adapter.is_valid(self:node(name), property or "value"), expected, name .. " valid")
end

function Steps:set(name, value, property)
  self.adapter.set(self:node(name), property or "value", value)
end
function Steps:invalidate(name, property)
  self.adapter.invalidate(self:node(name), property or "value")
end
function Steps:invalidate_all(name) self.adapter.invalidate(self:node(name)) end
function Steps:force(name) self.adapter.force(self:node(name)) end

-- Checks how often each property was computed since the last check; unnamed properties must not
-- have been computed. Nodes that only have a source are not counted.
function Steps:runs(expected)
  for _, name in ipairs(self.names) do
    local node = self.nodes[name]
    for _, property in ipairs {"value", "deep", "total", "double", "kept"} do
      local key = property == "value" and name or name .. "." .. property
      local before, wanted = self.counted[key] or 0, expected[key] or 0
      if node and type(wanted) == "table" then wanted = wanted[self.adapter.way_of(node)] end
      if expected[key] == false or not node then wanted = false end
      if node then
        local now = self.adapter.runs(node, property)
        self.counted[key] = now
        local is_leaf = property == "value" and self.operations[name] == "source"
        if wanted and not (is_leaf and expected[key] == nil) then
          same(now - before, wanted, "computations of " .. key)
        end
      end
    end
  end
end

-- A watcher that logs its name; `options.does` are steps that it performs at its first call.
function Steps:watch(watcher, name, path, options)
  if type(path) == "table" then path, options = "value", path end
  options = options or {}
  local does = options.does
  local log = self.log
  self.watchers[watcher] = self.adapter.observe(self:node(name), path or "value", function()
    log[#log + 1] = watcher
    local steps = does
    does = nil
    if steps then
      local ok, message = pcall(self.perform, self, steps)
      if not ok then self.failure = self.failure or message end
    end
  end, {immediate = options.immediate, once = options.once, initial = options.initial})
end
function Steps:stop(watcher) self.watchers[watcher]:stop() end
function Steps:pause(watcher) self.watchers[watcher]:pause() end
function Steps:resume(watcher) self.watchers[watcher]:resume() end
function Steps:active(watcher, expected) same(self.watchers[watcher].active, expected, watcher) end

-- Checks the watchers called since the last check, in order; `flush` ends the turn first.
function Steps:called(expected)
  local log = table.concat(self.log, " ")
  for i = #self.log, 1, -1 do self.log[i] = nil end
  if log ~= expected then fail("called: '%s', not '%s'", log, expected) end
end
function Steps:flush(expected)
  obs.flush()
  Steps.called(self, expected or "")
end
function Steps:batch(steps)
  local failure
  self.adapter.batch(function()
    local ok, message = pcall(self.perform, self, steps)
    if not ok then failure = message end
  end)
  if failure then error(failure, 0) end
end
-- Checks the number of reported errors of watchers and of unread properties.
function Steps:reported(count)
  same(#reports - self.reports, count, "errors reported")
  self.reports = #reports
end

-- The case drops its reference to a node.
function Steps:drop(name)
  self.witnesses[name] = self.adapter.witness(self:node(name))
  self.adapter.release(self.nodes[name])
  self.nodes[name] = nil
end
function Steps:collect()
  collectgarbage()
  collectgarbage()
end
function Steps:gone(name)
  -- Journals are released when a turn ends.
  turn()
  Steps.collect(self)
  turn()
  if self.witnesses[name]() then fail("%s is still there", name) end
end

local function run(adapter, case)
  reporting(function()
    local self = Case.new(adapter, case)
    self:perform(case.steps)
    if self.failure then error(self.failure, 0) end
    for _, report in ipairs(reports) do
      if #reports > self.reports then
        fail("reported: %s", tostring(report.error))
      end
    end
    for _, watcher in pairs(self.watchers) do watcher:stop() end
    for _, name in ipairs(self.names) do
      local node = self.nodes[name]
      if node then
        -- Swift objects that hold each other are not collected.
        adapter.link(node, "left", nil)
        adapter.link(node, "right", nil)
        adapter.list(node, nil)
        adapter.release(node)
      end
    end
  end)
end

function running.run(adapter, ...)
  for _, file in ipairs {...} do
    for _, case in ipairs(dofile(folder .. "../Cases/" .. file .. ".lua")) do
      local runs = not case.only or adapter[case.only] or adapter.way == case.only
      if case.unless and (adapter[case.unless] or adapter.way == case.unless) then runs = false end
      if runs then
        turns(("%s: %s: %s"):format(case[1], adapter.kind, case[2]), function()
          run(adapter, case)
        end)
      end
    end
  end
end

return running
