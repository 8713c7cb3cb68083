-- Trees that other processes share: a slice of the module `obs`.
--
-- The session in Swift has a copy of the tree, and knows the tables by numbers, their *handles*. It
-- gets what was written as bytes, once per turn, and sends the changes of others in the same form.
local core, obs = ...

local error, getmetatable, next, pcall, rawset, setmetatable, tostring, type =
  error, getmetatable, next, pcall, rawset, setmetatable, tostring, type
local concat, format, pack, unpack = table.concat, string.format, string.pack, string.unpack
local array, bad_argument, dictionary, identical, kind_of, is_opaque, model_of, set_of, trees =
  core.array, core.bad_argument, core.dictionary, core.identical, core.kind, core.is_opaque,
  core.model_of, core.set_of, core.trees
local Shadow, are_lists, contents, differing_keys, edit_script, in_batch, is_element, path_text =
  trees.Shadow, trees.are_lists, trees.contents, trees.differing_keys, trees.edit_script,
  trees.in_batch, trees.is_element, trees.path_text
local has_list, number_type, tools, written =
  trees.has_list, trees.number_type, trees.tools, trees.written

-- The states of the mirrors that have not ended, by the servers' and their names.
local running = {}
-- The state of each mirror object.
local states = setmetatable({}, { __mode = "k" })

-- The numbers of the format ----------------------------------------------------------------------

local MAKE, CONTENTS, SET, INSERT, REMOVE, REPLACE, LIST, LEFT, MOVE, ADD =
  1, 2, 3, 4, 5, 6, 7, 8, 9, 11
-- The position behind the last element, however many there are.
local END = 0xffffffff
local edits = { insert = INSERT, remove = REMOVE, replace = REPLACE }
local kinds = { [false] = 0, array = 1, dictionary = 2, set = 3 }
local makers = { [0] = function() return {} end, array, dictionary, set_of }

local function is_integer(value)
  return value % 1 == 0 and value >= -0x1p63 and value < 0x1p63 and identical(value, value // 1 | 0)
end

-- What a mirror carries --------------------------------------------------------------------------

-- Whether a table belongs to the tree of another mirror.
local function is_of_other(value, self)
  for _, other in next, running do
    if other ~= self and other.shadow.state[value] then return true end
  end
  return false
end

-- Why a value cannot be in a tree; nil if it can.
local function obstacle(value, self)
  local kind = type(value)
  if kind == "function" or kind == "thread" then return "a " .. kind end
  if kind == "userdata" then return "an object of the host" end
  if kind == "table" then
    if trees.is_value(value) then return "a value of the host" end
    if is_of_other(value, self) then return "a table of another mirror" end
  end
end

local function bad_key(key)
  local kind = type(key)
  if kind ~= "string" and kind ~= "number" and kind ~= "boolean" then
    return "a key that is a " .. kind
  end
end

-- Why a key or its value in contents cannot be mirrored; nil if it can.
local function obstacle_at(made, key, value, self, is_refused)
  local problem = bad_key(key)
  if problem or made.kind == "set" then return problem end
  if is_opaque(value) then
    return has_list(made) and is_element(key, made.n) and "an opaque table in a list" or nil
  end
  return obstacle(value, self) or is_refused and is_refused[value]
end

-- The first key of contents that cannot be mirrored, and the reason.
local function first_obstacle(made, self, is_refused)
  for key, value in next, made.map do
    local problem = obstacle_at(made, key, value, self, is_refused)
    if problem then return key, problem end
  end
end

-- Writing bytes ----------------------------------------------------------------------------------

local Mirroring = {}
Mirroring.__index = Mirroring

function Mirroring:bytes_of(value)
  local kind = type(value)
  if kind == "string" then return pack("<Bs4", 5, value) end
  if kind == "number" then
    if is_integer(value) then return pack("<Bi8", 3, value) end
    return pack("<Bd", 4, value)
  end
  if kind == "boolean" then return value and "\2" or "\1" end
  local handle = kind == "table" and self.handles[value]
  if handle then return pack("<Bi8", 6, handle) end
  return "\0"
end

-- Whether contents hold something under a key that the mirror carries: it ends at opaque tables.
local function is_carried(made, key)
  return made.kind == "set" or not is_opaque(made.map[key])
end

function Mirroring:add_contents(parts, object, made)
  local list = has_list(made) and made.n or 0
  parts[#parts + 1] = pack("<Bi8I4", CONTENTS, self.handles[object], list)
  for i = 1, list do parts[#parts + 1] = self:bytes_of(made.map[i]) end
  local count, place = 0, #parts + 1
  parts[place] = ""
  for key, value in next, made.map do
    if not is_element(key, list) and is_carried(made, key) then
      count = count + 1
      parts[#parts + 1] = self:bytes_of(key)
      parts[#parts + 1] = self:bytes_of(value)
    end
  end
  parts[place] = pack("<I4", count)
end

function Mirroring:add_object(parts, object, made)
  local handle = self.last_handle + 1
  self.last_handle = handle
  self.handles[object], self.objects[handle] = handle, object
  parts[#parts + 1] =
    pack("<Bi8Bs4", MAKE, handle, kinds[made.kind or false], made.model or "")
end

-- Adds the differences between two contents of an object.
function Mirroring:add_differences(parts, object, old, new)
  local handle, length = self.handles[object], nil
  if are_lists(old, new) then
    length = old.n > new.n and old.n or new.n
    local count = old.n
    edit_script(old.map, old.n, new.map, new.n, function(kind, position, from, to)
      -- What is added at the end stays behind what others add there first.
      local is_end = kind == "insert" and position > count
      if kind == "insert" then count = count + 1 elseif kind == "remove" then count = count - 1 end
      parts[#parts + 1] =
        pack("<Bi8I4", edits[kind], handle, is_end and END or position - 1)
      if from then parts[#parts + 1] = self:bytes_of(old.map[from]) end
      if to then parts[#parts + 1] = self:bytes_of(new.map[to]) end
    end)
  end
  local keys = differing_keys(old.map, new.map, length)
  local sums = self.sums[object]
  for i = 1, #keys do
    local key = keys[i]
    local sum = sums and sums[key]
    if sum and identical(sum.first, old.map[key]) and identical(sum.last, new.map[key]) then
      for j = 1, #sum do
        parts[#parts + 1] =
          pack("<Bi8", ADD, handle) .. self:bytes_of(key) .. self:bytes_of(sum[j])
      end
    else
      local is_there = new.map[key] ~= nil and is_carried(new, key)
      parts[#parts + 1] = pack("<Bi8", SET, handle) .. self:bytes_of(key)
        .. (is_there and self:bytes_of(new.map[key]) or "\0")
    end
  end
end

-- Local writes -----------------------------------------------------------------------------------

-- Marks an error that says which objects must get their former contents back.
local Refusal = {}

-- The former contents of an object, but with the new values under the keys that fit.
local function without_obstacles(old, new, self, is_refused)
  local made = { kind = new.kind, model = new.model, map = {}, n = old.n, sparse = old.sparse }
  local are_bad_elements = false
  local length = old.n > new.n and old.n or new.n
  local function is_of_list(key) return has_list(new) and is_element(key, length) end
  for key, value in next, new.map do
    if is_of_list(key) and obstacle_at(new, key, value, self, is_refused) then
      are_bad_elements = true
    end
  end
  local function copy(from, keeps)
    for key, value in next, from.map do
      if keeps(key, value) then made.map[key] = value end
    end
  end
  copy(are_bad_elements and old or new, is_of_list)
  copy(new, function(key, value)
    return not is_of_list(key) and not obstacle_at(new, key, value, self, is_refused)
  end)
  copy(old, function(key)
    local value = new.map[key]
    return not is_of_list(key) and value ~= nil
      and obstacle_at(new, key, value, self, is_refused) ~= nil
  end)
  return made.kind and made or trees.measure(made)
end

-- Finds out which of the written objects hold what a mirror does not carry.
local function refused_objects(self, before, after, objects)
  local refused, is_refused, message = {}, {}, nil
  local function note(object, key, problem)
    if not message then
      local path = trees.path(after.walk, object, after.contents)
      path[#path + 1] = key
      message = format("'%s' holds %s, which a mirror does not carry", path_text(path), problem)
    end
  end
  -- What came with an obstacle goes again, with what it came in.
  local has_changed = true
  while has_changed do
    has_changed = false
    for i = 1, #after.came do
      local object = after.came[i]
      if not is_refused[object] then
        local key, problem = first_obstacle(after.contents(object), self, is_refused)
        if problem then
          note(object, key, problem)
          is_refused[object] = "a table with " .. problem
          has_changed = true
        end
      end
    end
  end
  for i = 1, #objects do
    local object = objects[i]
    local old, new = before.contents(object), after.contents(object)
    if old and new and not before.only[object] then
      local key, problem = first_obstacle(new, self, is_refused)
      if problem then
        note(object, key, problem)
        refused[#refused + 1] = {
          object = object, old = without_obstacles(old, new, self, is_refused), new = new,
        }
      end
    end
  end
  return #refused > 0 and refused, message
end

-- The bytes of what was written since the last call; raises a refusal.
function Mirroring:changes(before, after, objects)
  local refusal = core.mirror_refusal(self.number)
  if refusal then
    local refused = {}
    for i = 1, #objects do
      local object = objects[i]
      local old, new = before.contents(object), after.contents(object)
      if old and new and not before.only[object] and not trees.are_same(old, new) then
        refused[#refused + 1] = { object = object, old = old, new = new }
      end
    end
    if #refused == 0 then return "" end
    error(setmetatable({ objects = refused, message = refusal }, Refusal), 0)
  end
  local refused, message = refused_objects(self, before, after, objects)
  if refused then error(setmetatable({ objects = refused, message = message }, Refusal), 0) end
  local parts = {}
  local came = after.came
  for i = 1, #came do self:add_object(parts, came[i], after.contents(came[i])) end
  for i = 1, #came do self:add_contents(parts, came[i], after.contents(came[i])) end
  for i = 1, #objects do
    local object = objects[i]
    local old, new = before.contents(object), after.contents(object)
    if old and new and not before.only[object] and not after.only[object] then
      self:add_differences(parts, object, old, new)
    end
  end
  -- An object that comes back later is a new one.
  for object in next, before.only do self:let_go(object) end
  return concat(parts)
end

-- Gives objects the contents back that they had before refused writes.
local function restore(refused)
  local writes = {}
  for i = 1, #refused do
    trees.add_writes(writes, refused[i].object, refused[i].new, refused[i].old)
  end
  in_batch(written, writes, true)
end

local function take(self)
  return self.shadow:take(function(before, after, objects)
    return self:changes(before, after, objects)
  end)
end

-- Sends what was written since the last call. Runs without limits: a stop halfway would lose it.
local function collect(self)
  if self.is_stopped then return end
  core.begin_exempt()
  local ok, bytes = pcall(take, self)
  local message
  if not ok and getmetatable(bytes) == Refusal then
    message = bytes.message
    restore(bytes.objects)
    ok, bytes = pcall(take, self)
    if not ok then core.fail_mirror(self.number, message .. ", and cannot be taken back") end
  end
  if ok and bytes and bytes ~= "" then
    local is_sent, failure = pcall(core.mirror_wrote, self.number, bytes)
    if not is_sent then core.fail_mirror(self.number, tostring(failure)) end
  end
  self.sums = {}
  core.end_exempt()
  if message then
    core.report(message .. "; the write was taken back", "", "handler", "obs.mirror", self.site)
  elseif not ok then
    error(bytes, 0)
  end
end

-- The changes of others --------------------------------------------------------------------------

-- Returns three functions for bytes from a place on: they read a number in a layout of
-- `string.unpack`, read a value, and return the place of what comes next. `object_of` returns the
-- object of a handle.
local function reader(bytes, place, object_of)
  local function number(layout)
    local value
    value, place = unpack(layout, bytes, place)
    return value
  end
  local function value()
    local tag = number "B"
    if tag == 3 then return number "<i8" end
    if tag == 5 then return number "<s4" end
    if tag == 4 then return number "<d" end
    if tag == 6 then return object_of(number "<i8") end
    if tag == 0 then return nil end
    return tag == 2
  end
  return number, value, function() return place end
end

-- Calls the functions of `visit` for the operations in bytes from a place on, up to the first one
-- that it has no function for; returns the place of that one.
local function read(bytes, place, object_of, visit)
  local number, value, next_place = reader(bytes, place, object_of)
  while next_place() <= #bytes do
    local start, code, handle = next_place(), number "B", number "<i8"
    if not visit[code] then return start end
    if code == MAKE then
      visit[MAKE](handle, number "B", number "<s4")
    elseif code == CONTENTS then
      local list, fields, n = {}, {}, number "<I4"
      for i = 1, n do list[i] = value() end
      for _ = 1, number "<I4" do
        local key = value()
        fields[key] = value()
      end
      visit[CONTENTS](handle, list, n, fields)
    elseif code == SET then
      local key = value()
      visit[SET](handle, key, value())
    elseif code == LIST then
      local list, n = {}, number "<I4"
      for i = 1, n do list[i] = value() end
      visit[LIST](handle, list, n)
    elseif code == LEFT then
      visit[LEFT](handle)
    end
  end
end

local function nothing() end

-- Makes the instances among new objects, from their values that are not objects.
local function make_instances(self, bytes, place, models, made)
  read(bytes, place, nothing, {
    [CONTENTS] = function(handle, _, _, fields)
      local model = models[handle]
      if not model then return end
      made[#made + 1] = core.model_named(model) and trees.instance(model, fields) or {}
      self:note(handle, made[#made])
    end,
  })
end

function Mirroring:note(handle, object)
  self.objects[handle], self.handles[object] = object, handle
end

--- Forgets the handle of an object that has left. It may come back while batches of others may come
--- before own ones.
function Mirroring:let_go(object)
  self.handles[object] = nil
  self.departed[#self.departed + 1] = object
end

-- The contents that an object is to have, as they are now at first.
local function wanted(self, object)
  local plan = self.plans[object]
  if not plan then
    local from = contents(object)
    local to = {
      kind = from.kind, model = from.model, map = {}, n = from.n, sparse = from.sparse,
    }
    for key, value in next, from.map do to.map[key] = value end
    plan = { from = from, to = to }
    self.plans[object] = plan
  end
  return plan.to
end

local function replace_list(to, list, n)
  for i = 1, to.n do to.map[i] = nil end
  for i = 1, n do to.map[i] = list[i] end
  to.n = n
end

local function perform(self, bytes)
  local objects, models, is_new, writes, made = self.objects, {}, {}, {}, {}
  self.plans = {}
  local function object_of(handle) return objects[handle] end
  local place = read(bytes, 1, nothing, {
    [MAKE] = function(handle, kind, model)
      local known = objects[handle]
      local owner = known and self.handles[known]
      if known and (owner == nil or owner == handle) then
        -- It was here before.
        self.handles[known] = handle
      elseif model ~= "" then
        models[handle], is_new[handle] = model, true
      else
        is_new[handle] = true
        -- The list of objects holds them weakly.
        made[#made + 1] = makers[kind]()
        self:note(handle, made[#made])
      end
    end,
  })
  if next(models) then make_instances(self, bytes, place, models, made) end
  if not place then return end
  read(bytes, place, object_of, {
    [CONTENTS] = function(handle, list, n, fields)
      local object = objects[handle]
      if is_new[handle] and not models[handle] and kind_of(object) == nil then
        for i = 1, n do rawset(object, i, list[i]) end
        for key, value in next, fields do rawset(object, key, value) end
        return
      end
      local to = wanted(self, object)
      for key, value in next, to.map do
        -- Opaque tables are this process's own.
        if not is_element(key, to.n) and not (to.kind ~= "set" and is_opaque(value)) then
          to.map[key] = nil
        end
      end
      replace_list(to, list, n)
      for key, value in next, fields do to.map[key] = value end
    end,
    [LIST] = function(handle, list, n) replace_list(wanted(self, objects[handle]), list, n) end,
    [SET] = function(handle, key, value)
      local object = objects[handle]
      if self.plans[object] or kind_of(object) == "set" then
        wanted(self, object).map[key] = value
      else
        writes[#writes + 1] =
          { number = 0, kind = "set", object = object, key = key, value = value }
      end
    end,
    [LEFT] = function(handle)
      local object = objects[handle]
      if object and self.handles[object] == handle then self:let_go(object) end
    end,
  })
  for object, plan in next, self.plans do
    if not plan.to.kind and not plan.to.model then trees.measure(plan.to) end
    trees.add_writes(writes, object, plan.from, plan.to)
  end
  self.plans = nil
  local _, failures, failure, write = in_batch(trees.written_from, self.origin, writes, true)
  -- These writes are known.
  self.shadow:take(function() end)
  if failures and failures > 0 then
    core.fail_change(self.number, tostring(failure), self.handles[write.object],
      write.kind ~= "contents" and write.key ~= nil and tostring(write.key) or nil)
  end
end

-- Rejections -------------------------------------------------------------------------------------

local names = { [SET] = "set", [INSERT] = "insert", [REMOVE] = "remove", [MOVE] = "move" }

local function rejected(self, bytes)
  local number, value, next_place =
    reader(bytes, 1, function(handle) return self.objects[handle] end)
  while next_place() <= #bytes do
    local kind, handle = number "B", number "<i8"
    local path = {}
    for i = 1, number "<I4" do path[i] = value() end
    local key = value()
    path[#path + 1] = key
    local old, new = value(), value()
    local object = self.objects[handle]
    local now
    if object and self.handles[object] == handle then now = trees.stored(object, key) end
    if self.on_rejected then
      local ok, failure = pcall(self.on_rejected,
        { path = path, kind = names[kind], old = old, new = new }, now)
      if not ok then core.report(tostring(failure), "", "handler", "on_rejected", self.site) end
    else
      core.warn_mirror(self.number, format("the change of '%s' did not fit any more, and was "
        .. "dropped (see on_rejected)", path_text(path)))
    end
  end
end

-- The object -------------------------------------------------------------------------------------

local Mirror = { __name = "obs.Mirror", __index = {} }
local methods = Mirror.__index

local function state_of(mirror, name)
  local state = type(mirror) == "table" and states[mirror]
  if not state then
    bad_argument(1, name, format("obs.Mirror expected, got %s",
      mirror == nil and "no value" or type(mirror)))
  end
  return state
end

-- Writes inside a transaction may be taken back, so they cannot be sent yet.
local function check_outside(name)
  if trees.is_in_transaction() then
    core.raise(format("the method '%s' of a mirror was called inside a transaction", name))
  end
end

-- Lets go of everything after the mirror has ended.
local function finish(self)
  if self.is_stopped then return end
  self.is_stopped = true
  running[self.place] = nil
  self.shadow:stop()
  self.objects, self.handles = {}, setmetatable({}, { __mode = "k" })
end

local function answer(self, ...)
  local waiting = self.waiting
  self.waiting = {}
  for i = 1, #waiting do waiting[i](...) end
end

-- Called by the session after its state has changed.
local function update(self)
  local mirror = self.mirror
  local state, pending, version, peers, is_unconfirmed, failure = core.mirror_status(self.number)
  if not state then return end
  if not is_unconfirmed then self.departed = {} end
  if mirror.state ~= state then mirror.state = state end
  if mirror.pending ~= pending then mirror.pending = pending end
  if mirror.version ~= version then mirror.version = version end
  if mirror.peers ~= peers then mirror.peers = peers end
  if mirror.failure ~= failure then mirror.failure = failure end
  if state == "stopped" then
    finish(self)
    answer(self, nil, "the mirror was stopped")
  elseif state == "failed" then
    answer(self, nil, failure)
  elseif pending == 0 and state == "live" then
    answer(self, true)
  end
end

--- Inside a task: waits until the server has everything that was written before.
function methods:synced(timeout)
  local state = state_of(self, "synced")
  core.check_timeout(timeout, 1, "synced")
  core.check_task "obs.Mirror:synced"
  check_outside "synced"
  collect(state)
  update(state)
  local status, pending, _, _, _, failure = core.mirror_status(state.number)
  if not status or status == "stopped" then return nil, "the mirror was stopped" end
  if status == "failed" then return nil, failure end
  if status == "live" and pending == 0 then return true end
  return obs.await(function(done) state.waiting[#state.waiting + 1] = done end, timeout)
end

--- Adds a number to the one under a key, for all processes: their additions all count (A4). The
--- additions since the last batch are one sum, unless the key was also assigned.
function methods:add(object, key, n)
  local state = state_of(self, "add")
  if type(object) ~= "table" then
    bad_argument(1, "add", "table expected, got " .. (object == nil and "no value" or type(object)))
  end
  if type(n) ~= "number" then
    bad_argument(3, "add", "number expected, got " .. (n == nil and "no value" or type(n)))
  end
  local first = object[key]
  if type(first) ~= "number" then
    bad_argument(2, "add", format("number expected under '%s', got %s", tostring(key),
      trees.shown(first)))
  end
  object[key] = first + n
  local sums = state.sums[object]
  if not sums then
    sums = {}
    state.sums[object] = sums
  end
  local sum = sums[key]
  if not (sum and identical(sum.last, first)) then
    sum = { first = first }
    sums[key] = sum
  end
  local before = sum[#sum]
  -- Floats are added one by one everywhere: another order has another result.
  if number_type(before) == "integer" and number_type(n) == "integer"
    and number_type(first) == "integer"
  then
    sum[#sum] = before + n
  else
    sum[#sum + 1] = n
  end
  sum.last = first + n
end

--- Ends the mirror; the tree stays as it is.
function methods:stop()
  local state = state_of(self, "stop")
  if state.is_stopped then return end
  check_outside "stop"
  collect(state)
  core.stop_mirror(state.number)
  update(state)
end

core.classes[#core.classes + 1] = Mirror

-- Making -----------------------------------------------------------------------------------------

local known = {
  check = true, journal = true, keep = true, key = true, limit = true, on_rejected = true,
  snapshot = true, url = true, write = true,
}

local function check_option(options, name, kind, expected)
  local value = options[name]
  if value ~= nil and type(value) ~= kind then
    bad_argument(3, "mirror", format("option '%s' takes %s, not %s", name, expected,
      trees.shown(value)))
  end
  return value
end

local function check_count(options, name, what, least, default)
  local value = options[name]
  if value == nil then return default end
  if type(value) ~= "number" or value % 1 ~= 0 or value < least or value > 2 ^ 31 then
    bad_argument(3, "mirror", format("option '%s' takes a number of %s from %d on, not %s",
      name, what, least, trees.shown(value)))
  end
  return value // 1 | 0
end

local function check_root(root)
  core.check_observed(root, 1, "mirror")
  if type(root) ~= "table" then
    bad_argument(1, "mirror",
      "table expected, got an object of the host program, which mirrors it with TreeMirror")
  end
  if is_opaque(root) then bad_argument(1, "mirror", "the table is opaque") end
  if not kind_of(root) and model_of(root) then
    bad_argument(1, "mirror", format("table expected, got an instance of %s; mirror a table that "
      .. "holds it", model_of(root).name))
  end
  if states[root] or tools[root] then
    bad_argument(1, "mirror", "table expected, got a tool of obs")
  end
end

local function check_name(name)
  if type(name) ~= "string" then
    bad_argument(2, "mirror", "name expected, got " .. (name == nil and "no value" or type(name)))
  end
  if not core.is_mirror_name(name) then
    bad_argument(2, "mirror", format("a name has 1 to 200 letters, digits and any of _ . : / -, "
      .. "not %s", trees.shown(name)))
  end
end

-- Refuses a tree that has a table in common with another mirror's.
local function check_overlap(self)
  for _, other in next, running do
    for object in next, self.shadow.state do
      if other.shadow.state[object] then
        core.raise(format("bad argument #1 to 'mirror' (the table is mirrored by '%s' already)",
          other.name))
      end
    end
  end
end

-- Refuses a tree that holds what a mirror does not carry.
local function check_contents(self)
  for object, made in next, self.shadow.state do
    local key, problem = first_obstacle(made, self)
    if problem then
      local path = trees.path(self.shadow.walk, object,
        function(other) return self.shadow.state[other] end)
      path[#path + 1] = key
      bad_argument(1, "mirror", format("'%s' holds %s, which a mirror does not carry",
        path_text(path), problem))
    end
  end
end

-- The bytes of the whole tree, the root first.
local function whole(self)
  local parts, order = {}, { self.root }
  local seen = { [self.root] = true }
  local i = 0
  while i < #order do
    i = i + 1
    trees.each_object(self.shadow.state[order[i]], function(_, object)
      if not seen[object] and self.shadow.state[object] then
        seen[object] = true
        order[#order + 1] = object
      end
    end)
  end
  for j = 1, #order do self:add_object(parts, order[j], self.shadow.state[order[j]]) end
  for j = 1, #order do self:add_contents(parts, order[j], self.shadow.state[order[j]]) end
  return concat(parts)
end

function obs.mirror(root, name, options)
  check_root(root)
  check_name(name)
  if trees.is_in_transaction() then core.raise "obs.mirror was called inside a transaction" end
  options = core.check_options(options, 3, "mirror", known)
  local url = check_option(options, "url", "string", "an address such as redis://127.0.0.1:6379/0")
  local write = check_option(options, "write", "boolean", "true or false")
  local check = check_option(options, "check", "boolean", "true or false")
  local key = check_option(options, "key", "string", "the name of a property")
  local journal = check_option(options, "journal", "string", "the path of a file")
  local on_rejected = check_option(options, "on_rejected", "function", "a function")
  local keep, snapshot = check_count(options, "keep", "batches", 0, 10000),
    check_count(options, "snapshot", "batches", 1, 1000)
  local limit = check_count(options, "limit", "bytes", 1024, 64 << 20)
  if url == nil then url = "redis://127.0.0.1:6379/0" end
  local place = url .. "\n" .. name
  if running[place] then
    core.raise(format("bad argument #2 to 'mirror' ('%s' is mirrored in this process already)",
      name))
  end
  local self = setmetatable({
    root = root, name = name, place = place, on_rejected = on_rejected, site = core.site(),
    objects = setmetatable({}, { __mode = "v" }), handles = setmetatable({}, { __mode = "k" }),
    departed = {}, sums = {}, last_handle = 0, waiting = {}, origin = trees.remote_origin(name),
  }, Mirroring)
  local watcher = core.register(root, {
    "*", kind = "history", driver = function()
      collect(self)
      update(self)
      core.idle()
    end,
  }, nothing, { name = "mirror " .. name })
  self.shadow = Shadow.begin(root, watcher)
  local mirror = setmetatable(
    { state = "connecting", pending = 0, version = 0, peers = 0 }, Mirror)
  self.mirror = mirror
  local ok, problem = pcall(function()
    check_overlap(self)
    check_contents(self)
    self.number = core.begin_mirror(name, url, write ~= false, keep, snapshot, key, check == true,
      journal, limit, self.site, function() collect(self) end,
      function(bytes)
        collect(self)
        core.begin_exempt()
        local is_made, failure = pcall(perform, self, bytes)
        core.end_exempt()
        if not is_made then core.fail_change(self.number, tostring(failure)) end
      end,
      function(bytes) rejected(self, bytes) end, function() update(self) end)
    running[place], states[mirror], tools[mirror] = self, self, true
    core.start_mirror(self.number, whole(self))
  end)
  if not ok then
    running[place] = nil
    self.shadow:stop()
    error(problem, 0)
  end
  update(self)
  return core.note_owned(mirror)
end

return obs
