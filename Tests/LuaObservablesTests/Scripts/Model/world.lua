-- Runs a program in a world, the real one or the reference, and keeps a log of the events.
--
-- A program is a list of statements in Lua, each a text. They share the tables `o` (objects), `w`
-- (watchers), `f` (functions), `m` (metatables) and `s` (scopes), and the functions below. Both
-- worlds log the same events where the rules decide them; both leave out the others.
local obs = require "obs"
local folder = debug.getinfo(1, "S").source:match "^@(.*/)"
local reference = dofile(folder .. "Reference/api.lua")

-- Endless triggering ends soon.
local RETRIGGER_TURNS = 20

local World = {}
World.__index = World

-- Paths whose changes can be reported in several ways: for several elements, or as values of
-- operators.
local function is_of_list(path) return path:find "[@#%d]" ~= nil or path:find "count" ~= nil end

-- Errors as a program sees them: its own contain "boom", all others are equal.
local function kind_of_error(message)
  message = tostring(message)
  return message:match "boom %w+" or "error"
end

function World:say(text, ...) self.log[#self.log + 1] = text:format(...) end

-- The text of a value in the log.
function World:name(value)
  if self.names[value] then return self.names[value] end
  if type(value) == "string" then return ("%q"):format(value) end
  if type(value) == "table" then
    local texts = {}
    for i = 1, #value do texts[i] = self:name(value[i]) end
    return "[" .. table.concat(texts, " ") .. "]"
  end
  return value ~= value and "NaN" or tostring(value)
end

-- The same, but equal integers and floats have the same text, as they are no changes (T5).
function World:value(value)
  return value == value and math.type(value) and ("%.14g"):format(value) or self:name(value)
end

-- The functions that programs call, in addition to `obs` and the functions of Lua.
local function vocabulary(self, lua)
  local env = {o = {}, w = {}, f = {}, m = {}, s = {}, obs = lua.obs}
  for _, name in ipairs {
    "assert", "error", "pcall", "ipairs", "math", "string", "select", "tostring", "tonumber",
    "type", "rawequal", "coroutine",
  } do
    env[name] = _G[name]
  end
  for _, name in ipairs {
    "next", "pairs", "rawget", "rawset", "rawlen", "getmetatable", "setmetatable",
  } do
    env[name] = lua[name]
  end
  env.obs = lua.obs

  local counts = self.counts
  local function counted(key)
    counts[key] = (counts[key] or 0) + 1
    return counts[key]
  end
  local function named(label, object)
    local number = counted("made " .. label)
    -- The rules leave open in which order unread objects are made.
    local is_single = number == 1 or label == "made"
    self.names[object] = is_single and label or label .. "/" .. number
    return object
  end
  -- A new table with a name.
  function env.new(label, fields) return named(label, lua.new(fields)) end
  env.named = named
  -- An index of a list, made from any number; `more` is added to the length.
  function env.at(list, i, more)
    local n = #list + (more or 0)
    return n > 0 and (i - 1) % n + 1 or 1
  end
  -- The sort key of a list.
  function env.rank(value) return self:name(value) end
  -- True the first n times for a key.
  function env.first(key, n) return counted(key) <= n end
  -- Getters convert values of any kind with these; a version changes only by a statement.
  function env.num(value) return math.type(value) and value == value and value or 0 end
  function env.obj(value) return type(value) == "table" and value or nil end
  function env.version(key) return counts["version " .. key] or 0 end
  function env.bump(key) counted("version " .. key) end
  -- Sets a field of a new object, which has no watchers.
  env.configure = lua.configure
  -- A getter runs.
  function env.ran(object, name)
    local key = self:name(object) .. "." .. name
    local counts = self.runs[#self.runs]
    counts[key] = (counts[key] or 0) + 1
  end
  -- Whether a name is declared as lazy.
  function env.is_lazy(object, name)
    for _, list in ipairs {lua.obs.valid_names(object), lua.obs.invalid_names(object)} do
      for _, other in ipairs(list) do if other == name then return true end end
    end
    return false
  end
  -- Logs the value of a property, or its error.
  function env.try(object, name)
    local ok, value = pcall(function() return object[name] end)
    self:say("tries %s", ok and self:name(value) or kind_of_error(value))
  end
  -- Gives the key `a` the value for which getters fail, or its former value again.
  local spoilt = {}
  function env.spoil(object)
    local key = self:name(object)
    local former = spoilt[key]
    spoilt[key] = not former and {object.a}
    if former then object.a = former[1] else object.a = false end
  end
  -- The first call notes the value of a property; later ones assign it.
  local noted = {}
  function env.recall(object, name)
    if not env.is_lazy(object, name) then return end
    local key = self:name(object) .. name
    if noted[key] then
      object[name] = noted[key][1]
    else
      noted[key] = {object[name]}
    end
  end
  function env.say_names(names)
    table.sort(names)
    self:say("names %s", table.concat(names, " "))
  end
  env.collect_deep = lua.collect_deep
  function env.boom(text) error("boom " .. text, 0) end
  function env.say(...)
    local texts = {}
    for i = 1, select("#", ...) do texts[i] = self:name((select(i, ...))) end
    self:say("says %s", table.concat(texts, " "))
  end
  -- The same for a list without a fixed order, or a number that may be an integer or a float.
  function env.bag(list)
    local texts = {}
    for i, value in ipairs(type(list) == "table" and not self.names[list] and list or {list}) do
      texts[i] = self:value(value)
    end
    table.sort(texts)
    self:say("says %s", table.concat(texts, " "))
  end

  -- Runs a transaction. Its events are left out: nothing that a failed one did may be visible
  -- later.
  function env.transaction(fails, roots, body)
    local count = #self.log
    lua.transaction(fails, roots, body)
    for i = #self.log, count + 1, -1 do self.log[i] = nil end
  end

  -- Logs whether a property is valid, or its value if it is valid. A watched property, or a
  -- dependency of one, may be computed at any time.
  function env.ask(how, object, name)
    local answer = lua.obs[how](object, name)
    table.insert(self.log, {text = "asks " .. name, answer = self:name(answer),
      is_open = lua.is_open and lua.is_open(object, name)})
  end

  -- Logs a call of a watcher. Returns false if the callback should do nothing more: lists are
  -- changed in the way of the library `table`, which may be one change or several.
  function env.hear(id, observed, observer, change)
    if self.whole then
      self.whole[id] = true
      return false
    end
    local line = ("call %s (%s, %s)"):format(id, self:name(observed), self:name(observer))
    if not change or self.is_coarse then
      self:say("%s", line)
      return true
    end
    local entry = {text = line, paths = {}, details = {}, is_open = change.is_open}
    for _, told in ipairs(change.others or {change}) do
      local detail = ("%s from %s to %s"):format(
        self:name(told.key), self:name(told.old), self:name(told.new))
      entry.details[detail] = true
    end
    for i, path in ipairs(change.paths or {change.path}) do
      -- Each world numbers the tables in sets separately.
      path = path:gsub("&table:%d+", "&table")
      if path:find("[table]", 1, true) then entry.is_of_list = true end
      if is_of_list(path) then entry.is_of_list = true end
      entry.paths[path] = true
    end
    -- The rules leave open which of several members of a set comes first.
    local key = change.key
    if key ~= nil and (key == change.old or key == change.new) then entry.is_of_list = true end
    self.log[#self.log + 1] = entry
    return true
  end

  -- Follows the edits of a collection, and logs the content that they lead to. `list`: whether it
  -- is a list; otherwise it has keys or members.
  function env.follow(id, object, options, list)
    local map = {}
    if not options.initial then lua.contents(object, list, map) end
    local function hear(observed, edits, observer)
      lua.edit(list, map, edits)
      local texts = {}
      for key, value in next, map do
        texts[#texts + 1] = self:name(key) .. "=" .. self:value(value)
      end
      table.sort(texts)
      local elements = {}
      for i, value in ipairs(list or {}) do elements[i] = self:value(value) end
      self:say("edits %s (%s, %s) give [%s] {%s}", id, self:name(observed), self:name(observer),
        table.concat(elements, " "), table.concat(texts, " "))
    end
    return lua.obs.observe_edits(object, hear, options)
  end
  -- Logs the number of watchers of each key. The rules do not decide it behind a property that
  -- became invalid in this turn, or behind a changed end of a list.
  function env.say_counts(object)
    local texts = {}
    for _, key in ipairs(lua.obs.observed_keys(object)) do
      local text = key:gsub("^&'?", ""):gsub("table:%d+", "table")
      text = ("%s:%d"):format(text, lua.obs.observer_count(object, key))
      -- Keys that are tables have the same text and are counted together.
      if not texts[text] then
        texts[text] = true
        texts[#texts + 1] = text
      end
    end
    table.sort(texts)
    table.insert(self.log, {text = "observed", answer = table.concat(texts, " "),
      is_open = lua.is_wiring_open and lua.is_wiring_open()})
  end

  -- The functions that change plain tables in several steps, or in one. Until the statement ends,
  -- the first changes delivered to immediate watchers are left out.
  local function in_one(operation, ...)
    if self.whole then return operation(...) end
    self.whole, self.is_coarse = {}, true
    lua.be_in_bulk(true)
    local results = table.pack(pcall(operation, ...))
    lua.be_in_bulk(false)
    -- Values computed from a list may change in between.
    local entry = {
      text = "calls by a list", ids = self.whole, open = lua.open_ids and lua.open_ids(),
    }
    self.whole = nil
    table.insert(self.log, entry)
    if not results[1] then error(results[2], 0) end
    return table.unpack(results, 2, results.n)
  end
  -- A method of a set that adds or removes several members.
  function env.bulk(set, method, members)
    return in_one(function() return set[method](set, members) end)
  end
  env.table = {concat = table.concat, unpack = table.unpack}
  for _, name in ipairs {"insert", "remove", "sort", "move"} do
    local operation = lua.list_operation(name)
    env.table[name] = function(...) return in_one(operation, ...) end
  end
  env.obs = setmetatable({
    clear = function(...) return in_one(lua.obs.clear, ...) end,
    assign = function(...) return in_one(lua.obs.assign, ...) end,
  }, {__index = lua.obs})
  return env
end

local function real_functions()
  local lua = {obs = obs}
  for _, name in ipairs {
    "next", "pairs", "rawget", "rawset", "rawlen", "getmetatable", "setmetatable",
  } do
    lua[name] = _G[name]
  end
  function lua.new(fields) return fields end
  function lua.be_in_bulk() end
  function lua.transaction(_, roots, body) return obs.transaction(roots, body) end
  function lua.configure(object, value) rawset(object, "b", value) end
  function lua.list_operation(name) return table[name] end
  function lua.contents(object, list, map)
    local n = list and obs.get(object, "@count")
    for key, value in next, object do
      if list and math.type(key) == "integer" and key <= n then list[key] = value
      elseif not (type(key) == "string" and key:find "^%l%d$") then map[key] = value end
    end
  end
  function lua.edit(list, map, edits)
    for _, edit in ipairs(edits) do
      local kind, at = edit.kind, edit.at
      if kind == "move" then table.insert(list, at, table.remove(list, edit.from))
      elseif not list or math.type(at) ~= "integer" then
        -- C10: only a new key is inserted.
        if (map[at] == nil) ~= (kind == "insert") then error("edit", 0) end
        map[at] = edit.new
      elseif kind == "insert" then table.insert(list, at, edit.new)
      elseif kind == "remove" then table.remove(list, at)
      else list[at] = edit.new end
    end
  end
  function lua.collect()
    collectgarbage()
    collectgarbage()
  end
  -- Makes watchers whose objects are garbage, and runs the collector where no further call fits on
  -- the C stack: it cannot call finalizers there.
  function lua.collect_deep()
    local function make() obs.observe({a = 1}, {"a", obs.path("b", {})}, print) end
    local function deep()
      if pcall(deep) then return end
      pcall(make)
      for i = 1, 2000 do local _ = {i} end
    end
    for _ = 1, 10 do make() end
    deep()
  end
  return lua
end

local function reference_functions(M)
  local lua = setmetatable({obs = M.obs, new = M.new}, {__index = M.lua})
  function lua.list_operation(name)
    return function(list, ...) return M.list_operation(table[name], list, ...) end
  end
  local function put(content, list, map)
    for key in next, list or {} do list[key] = nil end
    for key in next, map do map[key] = nil end
    for i, key in ipairs(content.keys) do
      if content.is_set then map[content[i]] = content[i]
      elseif list and key == #list + 1 then list[key] = content[i]
      else map[key] = content[i] end
    end
  end
  function lua.contents(object, list, map) put(M.content(object), list, map) end
  -- The reference delivers the whole content instead of edits.
  function lua.edit(list, map, content) put(content, list, map) end
  function lua.be_in_bulk(is_in_bulk) M.is_in_bulk = is_in_bulk end
  function lua.open_ids() return M.names_of_computed() end
  function lua.is_open(object, name)
    local p = M.data[object] and M.data[object].lazy[name]
    return p and M.is_open(p)
  end
  function lua.configure(object, value) M.data[object].store.b = value end
  function lua.collect_deep() end
  -- The reference does not even begin what fails.
  function lua.transaction(fails, _, body)
    if fails then M.doubt() else M.batch(body) end
  end
  function lua.is_wiring_open() return M.is_any_invalid() or M.is_any_end_moved() end
  function lua.collect()
    collectgarbage()
    collectgarbage()
    M.bury()
  end
  return lua
end

-- `mode`: the mode of the collector, which decides what dies. If it is stopped, only explicit
-- collections free unreachable objects. Otherwise the world holds all objects, and the collector
-- may run between any two statements.
local function new(lua, mode, driver)
  driver:wrap(lua)
  local self = setmetatable({
    log = {}, runs = {{}}, errors = {}, failures = {}, shown = {}, counts = {},
    driver = driver, later = lua.obs.next_turn,
  }, World)
  self.names = setmetatable({}, {__mode = mode == "stopped" and "k" or nil})
  self.env = vocabulary(self, lua)
  self.env.collect = lua.collect
  driver:attach(self)
  return self
end

-- State -----------------------------------------------------------------------------------------

-- The stored contents of an object as text. `visit` is called with each key and value.
function World:contents(object, visit)
  local texts = {}
  for key, value in self.env.pairs(object) do
    -- Names of lazy properties have this form.
    if type(key) ~= "string" or not key:find "^%l%d$" then
      texts[#texts + 1] = ("%s=%s"):format(self:name(key), self:name(value))
      if visit then visit(key, value) end
    end
  end
  table.sort(texts)
  return table.concat(texts, " ")
end

-- Logs changes of the objects and watchers since the last look.
function World:look()
  local env = self.env
  for slot, object in ipairs(env.o) do
    local text = self:name(object) .. " {" .. self:contents(object) .. "} " .. #object
    if self.shown[slot] ~= text then self:say("o[%d] is %s", slot, text) end
    self.shown[slot] = text
  end
  local active = {}
  for slot = 1, 99 do
    local handle = env.w[slot]
    if handle and handle.active then active[#active + 1] = slot end
  end
  active = table.concat(active, " ")
  if self.shown.active ~= active then self:say("active: %s", active) end
  self.shown.active = active
end

-- One run ---------------------------------------------------------------------------------------

-- Runs the statements, and calls `done`. The statements "turn" and "collect" end the turn, as
-- pending calls can hold objects until it is over.
function World:run(statements, done)
  local i = 0
  local later, driver = self.later, self.driver
  local function step()
    if driver:has_stopped(i) then return driver:settle(i, later, step) end
    self:look()
    while i < #statements do
      i = i + 1
      if driver:begin(i) then return later(step) end
      local text = statements[i]
      if text == "turn" or text == "collect" then
        self:say("%s", text)
        return later(function()
          if text == "collect" then self.env.collect() end
          step()
        end)
      end
      if self.collects and i % 8 == 0 then collectgarbage "step" end
      self:say("-- %d", i)
      self.is_coarse = false
      local chunk = assert(load(text, "=statement " .. i, "t", self.env))
      local ok, message = driver:perform(i, chunk)
      if not ok then
        self:say("%s", kind_of_error(message))
        self.errors[#self.errors + 1] = ("%d: %s"):format(i, message)
      end
      if driver:has_stopped(i) then return later(step) end
    end
    driver:finish()
    self:say("end")
    -- Statements can defer work to later turns, to a limited depth.
    local turns = 4
    local function finish()
      self:look()
      turns = turns - 1
      if turns > 0 then return later(finish) end
      table.insert(self.log, {text = "failed", failures = self.failures})
      done()
    end
    later(finish)
  end
  later(step)
end

local function reporter(self)
  return function(message, where, name)
    local kind = type(where) == "table" and where.kind or where
    if type(where) == "table" then name = where.name end
    self.errors[#self.errors + 1] = tostring(message)
    -- The rules leave open when and how often a failing path, operator or getter is evaluated, or
    -- whether that is between the steps of an operation.
    if kind == "loop" or kind == "getter" then
      self.failures[kind == "loop" and kind or name .. ": " .. kind_of_error(message)] = true
      return
    end
    self:say("reported by %s %s: %s", kind, name, kind_of_error(message))
  end
end

-- Runs the statements of a program as code of one script.
local one_script = {}
function one_script:wrap() end
function one_script:attach() end
function one_script:begin() end
function one_script:perform(_, chunk) return pcall(chunk) end
function one_script:has_stopped() end
function one_script:finish() end
function one_script:each_script(f) f() end

local worlds = {}

-- Stops everything that would run in turns after the compared ones.
local function stop_all(self)
  for _, object in ipairs(self.env.o) do self.env.obs.stop(object) end
end

-- Runs a program with the real module; `done` receives the world. Turns must be able to begin at
-- the call.
function worlds.real(statements, mode, done, driver)
  local self = new(real_functions(), mode, driver or one_script)
  self.collects = mode ~= "stopped"
  local collector = self.collects and collectgarbage(mode)
  if not self.collects then collectgarbage "stop" end
  self.driver:each_script(function() obs.on_error(reporter(self)) end)
  local limits = obs.limits()
  obs.limits {retrigger_turns = RETRIGGER_TURNS}
  self:run(statements, function()
    stop_all(self)
    self.driver:each_script(function() obs.on_error(nil) end)
    obs.limits(limits)
    if collector then collectgarbage(collector) end
    collectgarbage "restart"
    self.env = nil
    done(self)
  end)
end

-- Runs it in the world of the reference.
function worlds.reference(statements, mode, make_driver)
  local self
  local M = reference {
    limit = RETRIGGER_TURNS,
    report = function(...) return reporter(self)(...) end,
    needed = function() end, spoiled = function() end, overridden = function() end,
    opened = function() self.open_from = self.open_from or #self.log end,
  }
  self = new(reference_functions(M), mode, make_driver and make_driver(M) or one_script)
  collectgarbage "stop"
  self:run(statements, function() stop_all(self) end)
  M.run_turns()
  collectgarbage "restart"
  self.env = nil
  return self
end

-- Whether a line of the real log matches a line of the reference. A watcher may receive any of its
-- paths that contain the change, and any of the computed values on one path.
local function is_as(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then return a == b end
  if a.text ~= b.text then return false end
  if a.ids then
    for id in next, a.ids or {} do
      if not b.ids[id] and not b.open[tostring(id)] then return false end
    end
    for id in next, b.ids do if not a.ids[id] then return false end end
    return true
  end
  if a.failures then
    for failure in next, b.failures do if not a.failures[failure] then return false end end
    return true
  end
  if a.answer then return (b.is_open or a.answer == b.answer) end
  if b.is_open then return true end
  return b.paths[next(a.paths)] and (b.is_of_list or b.details[next(a.details)])
end

-- The members of a set as text, in order.
local function joined(set, separator)
  local members = {}
  for member in next, set do members[#members + 1] = member end
  table.sort(members)
  return table.concat(members, separator)
end

local function shown(line)
  if type(line) ~= "table" then return line or "(end)" end
  if line.ids then return line.text .. ": " .. joined(line.ids, " ") end
  if line.failures then return line.text .. " " .. joined(line.failures, ", ") end
  if line.answer then return line.text .. ": " .. line.answer end
  return ("%s %s: %s"):format(line.text, joined(line.paths, " or "), joined(line.details, " or "))
end

-- nil, or the first line where two logs differ, with the lines before it. Differences that the
-- rules do not decide are ignored.
function worlds.difference(a, b)
  if a.driver.problem or b.driver.problem then return a.driver.problem or b.driver.problem end
  local i, before = 1, {}
  while a.log[i] and is_as(a.log[i], b.log[i]) do
    before[i] = shown(a.log[i])
    i = i + 1
  end
  if not a.log[i] and not b.log[i] or b.open_from and i > b.open_from then return nil end
  return ("  %s\nthe program:\n  %s\nthe reference:\n  %s\nerrors: %s"):format(
    table.concat(before, "\n  ", math.max(1, i - 12)), shown(a.log[i]), shown(b.log[i]),
    table.concat(a.errors, "; "))
end

return worlds
