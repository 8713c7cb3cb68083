-- Programs whose statements are code of three sandboxes and of their host (S5, S7, S8). At some
-- operation, perhaps in a callback, a getter or a transaction, the running sandbox is stopped or
-- closed, or another one is closed.
--
-- The rules do not say how much of the stopped statement is done. Therefore the reference leaves it
-- out, and adopts the contents that are there two turns later. Starting then, everything has to
-- agree with the reference again. Watchers and properties that the statement registered, ended or
-- declared end in both worlds.
--
-- Tests/SandboxPrograms runs this, and gives the host's scripts some functions.
local obs = require "obs"
local folder = debug.getinfo(1, "S").source:match "^@(.*/)"
local objects = dofile(folder .. "objects.lua")
local generate = dofile(folder .. "generate.lua")
local sandboxes = {}

local COUNT = 3

-- Programs ---------------------------------------------------------------------------------------

local function without(left_out, statements)
  local kept = {}
  for _, n in ipairs(statements) do
    if not left_out[n.method or n.operation] then kept[#kept + 1] = n end
    if n.body then n.body = without(left_out, n.body) end
  end
  return kept
end

function sandboxes.program(seed)
  local program = objects.program(seed)
  local is_undone = math.random(3) == 1
  -- The reference cannot end a binding that began in a stopped statement, and does not count the
  -- watchers of histories.
  program = without({bind = true, pause = true, deep = true, counts = true}, program)
  program.is_undone = is_undone
  -- The collector cannot be controlled here.
  program.mode = "incremental"
  program[#program + 1] = {operation = "turn"}
  for _, n in ipairs(program) do
    n.by = math.random(0, COUNT)
    -- The reference cannot adopt metatables.
    local can_stop = n.operation ~= "make" and n.operation ~= "inherit"
    if can_stop and math.random(n.operation == "transaction" and 2 or 5) == 1 then
      n.stop = {
        how = ({"stop", "stop", "stop", "close", "close another"})[math.random(5)],
        after = math.random(({2, 5, 12})[math.random(3)]),
        -- Only operations of callbacks and getters count.
        is_inside = n.operation ~= "transaction" and math.random(4) > 1,
      }
    end
  end
  return program
end

-- The numbers of watchers that follow elements by their positions (C4), at any depth of a program.
local function anchored(statements, found)
  for _, n in ipairs(statements) do
    local text = "." .. table.concat(n.paths or {n.path}, ".."):gsub("['\"]", "") .. "."
    if n.id and text:find "%.%d+%." then found[tostring(n.id)] = true end
    if n.body then anchored(n.body, found) end
  end
  return found
end

-- Worlds -----------------------------------------------------------------------------------------

-- The common functions of both worlds. `stops`: the states after the stops, by statement.
local Driver = {}
Driver.__index = Driver

function Driver.new(program, stops, owner)
  return setmetatable({
    program = program, stops = stops, owner = owner, anchored = anchored(program, {}),
    -- All watchers in the order of their registration, with the handles that scripts got.
    watchers = {}, declared = {}, closed = {}, epoch = 0,
  }, Driver)
end

-- Notes registrations and declarations; called before the world is made.
function Driver:wrap(lua)
  local inner, outer = lua.obs, {}
  local function registering(name, at)
    outer[name] = function(...)
      local entry = {
        root = (...), callback = (select(at, ...)), options = (select(at + 1, ...)) or {},
        is_of_edits = name == "observe_edits", owner = self.owner(),
      }
      self.watchers[#self.watchers + 1] = entry
      entry.handle = inner[name](...)
      return entry.handle
    end
  end
  registering("observe", 3)
  registering("observe_keys", 3)
  registering("observe_edits", 2)
  for _, name in ipairs {"lazy", "computed", "copy_of", "forget"} do
    outer[name] = function(object, key, ...)
      table.insert(self.declared, {object, key, self.owner()})
      return inner[name](object, key, ...)
    end
  end
  function outer.stop(root, ...)
    for _, entry in ipairs(self.watchers) do
      entry.is_touched = entry.is_touched or entry.root == root
    end
    return inner.stop(root, ...)
  end
  lua.obs = setmetatable(outer, {__index = inner})
  self.obs, self.lua = lua.obs, lua
end

-- Gives the program of a world other versions of its functions.
function Driver:attach(world)
  self.world, self.env = world, world.env
  local env, overridden = world.env, {}
  self.overridden = overridden
  local hear, is_lazy = env.hear, env.is_lazy
  function env.hear(...) return not self.is_quiet and hear(...) end
  function env.is_lazy(object, name)
    overridden[world.names[object] .. "." .. name] = {object, name}
    return is_lazy(object, name)
  end
  local inner = env.obs
  env.obs = setmetatable({
    next_turn = function(callback)
      local epoch = self.epoch
      return inner.next_turn(function()
        self.is_later = true
        if self.epoch == epoch and not self.is_quiet then callback() end
      end)
    end,
  }, {__index = inner})
  local handles = env.w
  env.w = setmetatable({}, {
    __index = function(_, id)
      for _, entry in ipairs(self.watchers) do
        if entry.handle == handles[id] then entry.is_touched = true end
      end
      return handles[id]
    end,
    __newindex = function(_, id, handle) handles[id] = handle end,
  })
  self.scopes, self.slots, self.handles = env.s, env.o, handles
end

-- The script that makes a statement.
function Driver:script(i)
  local by = self.program[i].by
  while self.closed[by] do by = (by + 1) % (COUNT + 1) end
  return by
end

-- The objects in the order of their names, each as {name, object}, and by name.
function Driver:objects()
  local list, found = {}, {}
  for object, name in next, self.world.names do
    list[#list + 1], found[name] = {name, object}, object
  end
  table.sort(list, function(a, b) return a[1] < b[1] end)
  return list, found
end

-- Makes both worlds equal where the rules or the stopped statement permit differences.
function Driver:calm(stop)
  local world, api = self.world, self.obs
  local list, found = self:objects()
  self.closed, self.epoch = stop.closed, self.epoch + 1
  world.whole, world.is_coarse = nil, false
  for key in next, world.counts do world.counts[key] = stop.counts[key] end
  for key, count in next, stop.counts do world.counts[key] = count end
  for _, scope in next, self.scopes do scope:stop() end
  for i, entry in ipairs(self.watchers) do
    if entry.handle then self.handles[tonumber(entry.options.name)] = entry.handle end
    if stop.ended[i] and entry.handle then entry.handle:stop() end
  end
  for _, pair in ipairs(stop.forgotten) do api.forget(found[pair[1]], pair[2]) end
  for _, pair in ipairs(list) do
    local name, object = pair[1], pair[2]
    for _, key in ipairs(self:lazy_names(object)) do
      if key:find "^n" then api.forget(object, key)
      elseif key:find "^[kmv]" or stop.overridden[name .. "." .. key] then
        api.invalidate(object, key)
      end
    end
  end
  for _, pair in ipairs(list) do pcall(api.force, pair[2]) end
  for _, entry in ipairs(self.watchers) do
    if entry.handle and entry.handle.active then entry.handle:schedule() end
  end
end

function Driver:lazy_names(object)
  local names, others = self.obs.valid_names(object), self.obs.invalid_names(object)
  table.move(others, 1, #others, #names + 1, names)
  table.sort(names)
  return names
end

-- Lets a world continue after a stop.
function Driver:go_on()
  local world = self.world
  for i = #world.log, self.cut + 1, -1 do world.log[i] = nil end
  world.failures, world.shown, self.is_quiet = {}, {}, false
  if world.open_from and world.open_from > self.cut then world.open_from = nil end
  for _, pair in ipairs((self:objects())) do
    for _, key in ipairs(self:lazy_names(pair[2])) do
      local ok, value = pcall(function() return pair[2][key] end)
      world:say("%s.%s is %s", pair[1], key, ok and world:value(value) or "an error")
    end
  end
end

-- The real world ---------------------------------------------------------------------------------

local Real = setmetatable({}, {__index = Driver})
Real.__index = Real

local function running() return obs.state("script").number or 0 end

function sandboxes.real(program, stops)
  local self = setmetatable(Driver.new(program, stops, running), Real)
  new_sandboxes(program.is_undone)
  for number = 1, COUNT do enter(number, function() obs.state("script").number = number end) end
  return self
end

-- Called at each operation.
function Real:tick()
  local script = running()
  if script == 0 or self.is_quiet or not self.stop then return end
  if self.stop.is_inside and not self.is_inside then return end
  self.left = self.left - 1
  if self.left > 0 then return end
  self.is_quiet, self.has_ticked = true, true
  local how = self.stop.how
  if how == "stop" then stop()
  elseif how == "close" then close(script)
  else close(script % COUNT + 1) end
end

function Real:attach(world)
  Driver.attach(self, world)
  local env = world.env
  for _, name in ipairs {"hear", "ran", "num", "obj", "first", "at", "rank", "version"} do
    local f = env[name]
    env[name] = function(...)
      self.is_inside = self.is_inside or name == "hear" or name == "ran"
      self:tick()
      return f(...)
    end
  end
  for _, name in ipairs {"o", "obs", "s", "w"} do
    local inner = env[name]
    env[name] = setmetatable({}, {
      __index = function(_, key)
        self:tick()
        return inner[key]
      end,
      __newindex = inner, __pairs = function() return next, inner end,
    })
  end
  local transaction = env.transaction
  function env.transaction(...)
    local is_outer = not self.before
    if is_outer then self.before = self:contents(self.slots) end
    local ok, message = pcall(transaction, ...)
    if is_outer then self.before = nil end
    if not ok then error(message, 0) end
  end
end

-- Calls a function as code of each script.
function Real:each_script(f)
  f()
  for number = 1, COUNT do if not is_closed(number) then enter(number, f) end end
end

function Real:begin(i)
  self.cut, self.first = #self.world.log, #self.watchers + 1
  self.first_declared = #self.declared + 1
  for _, entry in ipairs(self.watchers) do entry.is_touched = false end
  local n = self.program[i]
  self.stop, self.left, self.is_later = n.stop, n.stop and n.stop.after, false
  self.is_inside = false
  if n.operation ~= "make" and not self.tree then
    self:begin_tree()
  elseif self.is_new_turn and self.program.is_undone and self.tree then
    self.before_turn = self:contents(self.tree)
  end
  self.is_new_turn = n.operation == "turn" or n.operation == "collect"
end

function Real:perform(i, chunk)
  local by = self:script(i)
  if by == 0 then return pcall(chunk) end
  local ok, message = pcall(enter, by, chunk)
  if self.has_ticked and self.before then
    self:compare("S8: a stopped transaction", self.before)
  end
  self.before = nil
  return ok, message
end

function Real:has_stopped() return self.has_ticked end
function Real:finish() self.stop = nil end

-- The contents of the objects at and below a list of objects, as transactions cover them (X1).
function Real:contents(roots)
  local found, work = {}, {}
  local function visit(key, value)
    local is_followed = type(key) ~= "table" or rawequal(key, value)
    if is_followed and self.world.names[value] and not found[value] then
      found[value] = ""
      work[#work + 1] = value
    end
  end
  for slot = 1, 10 do visit(slot, roots[slot]) end
  for _, object in ipairs(work) do found[object] = self.world:contents(object, visit) end
  return found
end

function Real:fail(text, ...) self.problem = self.problem or text:format(...) end

-- Checks that the contents are the same as before.
function Real:compare(what, before)
  for object, text in next, before do
    if self.world:contents(object) ~= text then
      self:fail("%s has changed %s", what, self.world:name(object))
    end
  end
end

-- The state that the reference adopts.
function Real:description()
  local names, stop = self.world.names, {
    objects = {}, slots = {}, counts = {}, ended = {}, active = {}, forgotten = {},
    overridden = {}, closed = {},
  }
  local function coded(value) return names[value] and {names[value]} or value end
  for object, name in next, names do
    local content = {}
    content.text = self.world:contents(object, function(key, value)
      content[#content + 1] = {coded(key), coded(value)}
    end)
    stop.objects[name] = content
  end
  for slot, object in next, self.slots do stop.slots[slot] = names[object] end
  for key, count in next, self.world.counts do stop.counts[key] = count end
  for key in next, self.overridden do stop.overridden[key] = true end
  for number = 1, COUNT do stop.closed[number] = is_closed(number) or nil end
  for i = #self.watchers, self.first, -1 do
    local entry = table.remove(self.watchers, i)
    if entry.handle then entry.handle:stop()
    else pcall(obs.stop, entry.root, {callback = entry.callback}) end
  end
  for i, entry in ipairs(self.watchers) do
    stop.active[i] = entry.handle and entry.handle.active
    stop.ended[i] = entry.is_touched or self.anchored[entry.options.name] or nil
  end
  for i, entry in ipairs(self.declared) do
    if i >= self.first_declared or stop.closed[entry[3]] then
      table.insert(stop.forgotten, {names[entry[1]], entry[2]})
    end
  end
  return stop
end

-- Either stopped turns are undone, or each sandbox has a history of all objects. Both together have
-- a known fault: a history keeps a step for a turn that was undone.
function Real:begin_tree()
  self.tree, self.histories = {}, {}
  for slot = 1, 10 do self.tree[#self.tree + 1] = self.slots[slot] end
  if self.program.is_undone then return undo_stopped {self.tree} end
  for number = 1, COUNT do
    enter(number, function() self.histories[number] = obs.history(self.tree) end)
  end
end

-- Undoes and redoes a step of each sandbox, and undoes a step until a watcher stops it (X5).
-- If other scripts have written to the same list, the contents may differ afterwards.
function Real:use_histories()
  for number = 1, COUNT do
    local history = self.histories[number]
    local function make(step) enter(number, function() history[step](history) end) end
    if history and not is_closed(number) and history.can_undo then
      local ok, message = pcall(make, "undo")
      if ok then ok, message = pcall(make, "redo") end
      if not ok then self:fail("X5: %s", message) end
      local watcher
      enter(number, function() watcher = obs.observe(self.tree, "**", stop, {immediate = true}) end)
      pcall(make, "undo")
      watcher:stop()
    end
  end
end

function Real:settle(i, later, continue)
  -- Each is a turn.
  local steps = {
    function() resume(2) end,
    function()
      if self.stop.how == "stop" and self.before_turn and not self.is_later then
        self:compare("S8: a stopped turn", self.before_turn)
      end
      self:use_histories()
    end,
    function()
      resume(2)
      self.stops[i] = self:description()
      self:calm(self.stops[i])
    end,
    function()
      self.has_ticked, self.before_turn, self.is_new_turn = false, nil, true
      self:go_on()
      continue()
    end,
  }
  local function make(number)
    steps[number]()
    if steps[number + 1] then later(function() make(number + 1) end) end
  end
  make(1)
end

-- The reference ----------------------------------------------------------------------------------

local Supposed = setmetatable({}, {__index = Driver})
Supposed.__index = Supposed

function sandboxes.reference(program, stops, M)
  local self = setmetatable(Driver.new(program, stops, function() return M.owner end), Supposed)
  self.M = M
  return self
end

function Supposed:perform(i, chunk) return self.M.as(self:script(i), pcall, chunk) end
function Supposed:has_stopped() return self.is_quiet end
function Supposed:finish()
  -- After a stop, failures that were reported before it may be reported again.
  if next(self.stops) then self.world.failures = setmetatable({}, {__newindex = function() end}) end
end

function Supposed:begin(i)
  local stop = self.stops[i]
  if not stop or self.is_quiet then return false end
  self.is_quiet, self.cut = true, #self.world.log
  self:take_over(stop)
  self:calm(stop)
  return true
end

function Supposed:settle(_, later, continue)
  later(function()
    self:go_on()
    -- The value that was delivered before the failure is not known.
    if self.M.is_any_failed() then self.M.opened() end
    continue()
  end)
end

function Supposed:take_over(stop)
  local world, M = self.world, self.M
  local _, found = self:objects()
  for name in next, stop.objects do
    if not found[name] then
      found[name] = self.lua.new {}
      world.names[found[name]] = name
    end
  end
  local function decoded(value) return type(value) == "table" and found[value[1]] or value end
  for slot, name in next, stop.slots do self.slots[slot] = found[name] end
  for i, entry in ipairs(self.watchers) do
    local is_active, options = entry.handle and entry.handle.active, entry.options
    -- S7: a stop may end some kinds of watchers. The others end with their sandbox, by themselves,
    -- or in the statement.
    local may_end = entry.is_of_edits or options.immediate or options.equals or options.once
      or options.observer or stop.ended[i]
    local is_closed = stop.closed[entry.owner]
    if is_active and not stop.active[i] and not may_end and not is_closed
      or stop.active[i] and is_closed then
      self.problem = ("S7: the watcher %s is %s"):format(
        options.name, is_closed and "active, and its sandbox is closed" or "not active")
    end
    if is_active and not stop.active[i] then entry.handle:stop() end
  end
  -- A batch, so that watchers receive all differences at once and keep no state in between.
  M.batch(function()
    for name, content in next, stop.objects do
      local object, wanted = found[name], {}
      for _, pair in ipairs(content) do wanted[decoded(pair[1])] = decoded(pair[2]) end
      if world:contents(object) ~= content.text then self:fill(object, wanted) end
    end
  end)
end

-- Gives an object other contents.
function Supposed:fill(object, wanted)
  local kind, lua, keys = self.M.data[object].kind, self.lua, {}
  if kind == "array" then return object:set(wanted) end
  for key in next, wanted do keys[key] = true end
  self.world:contents(object, function(key) keys[key] = true end)
  for key in next, keys do
    local value = wanted[key]
    if kind ~= "set" then lua.rawset(object, key, value)
    elseif value == nil then object:remove(key)
    else object:add(key) end
  end
end

-- nil, or the difference.
function sandboxes.check(program)
  local stops = {}
  return objects.check(program, function(M)
    if M then return sandboxes.reference(program, stops, M) end
    return sandboxes.real(program, stops)
  end)
end

function sandboxes.shrunk(program, message)
  return objects.shrunk(program, message, sandboxes.check)
end

function sandboxes.text(program)
  local lines = {}
  for i, n in ipairs(program) do
    lines[i] = ("-- by %d%s\n%s"):format(
      n.by, n.stop and (", %s after %d%s"):format(n.stop.how, n.stop.after,
        n.stop.is_inside and " inside" or "") or "", generate.text(n))
  end
  return table.concat(lines, "\n")
end

return sandboxes
