-- Loading modules again while the program runs (H1–H5): a slice of the module `obs`.
--
-- The new chunk runs first. Only if it succeeds do the former registrations end, and does the
-- module's table get the new functions. Each change by the chunk is noted, so that it can be taken
-- back.
local core, obs = ...

local error, getmetatable, ipairs, next, pcall, rawequal, rawget, rawlen, rawset, setmetatable =
  error, getmetatable, ipairs, next, pcall, rawequal, rawget, rawlen, rawset, setmetatable
local sort, tostring, type, unpack = table.sort, tostring, type, table.unpack
local format = string.format
local bad_argument, begin_exempt, call_limited, check_function, run_limited =
  core.bad_argument, core.begin_exempt, core.call_limited, core.check_function, core.run_limited
local current_sandbox, declare = core.sandbox, core.declare
local end_exempt, enter, forget, hooks, is_computing, is_opaque =
  core.end_exempt, core.tasks.enter, core.forget, core.hooks, core.is_computing, core.is_opaque
local kind_of, lazies_of, lazy_keys, load_module, model_of, model_record, module_value =
  core.kind, core.lazies_of, core.lazy_keys, core.load_module, core.model_of, core.model_record,
  core.module_value
local next_module = core.next_module
local loaded_modules, note_replaced = core.loaded_modules, core.note_replaced
local raise, reload_data, running_owner, set_module, set_upvalue, site, stop_module, upvalue =
  core.raise, core.reload_data, core.tasks.owner, core.set_module, core.set_upvalue, core.site,
  core.stop_module, core.upvalue

-- Names ------------------------------------------------------------------------------------------

local function check_name(name, number, of)
  if type(name) ~= "string" or name == "" then
    bad_argument(number, of, "name expected, got "
      .. (name == "" and "an empty one" or name == nil and "no value" or type(name)))
  end
end

-- State ------------------------------------------------------------------------------------------

-- Whether a table has nothing but its entries.
local function is_plain(value)
  return type(value) == "table" and getmetatable(value) == nil and not kind_of(value)
    and not is_opaque(value)
end

-- Functions that take back the changes by a chunk, the latest last; nil unless a module is being
-- loaded again.
local undo

local function note(step)
  if undo then undo[#undo + 1] = step end
end

-- Returns a function that restores the fields of a table, except inside of their values. Lazy keys
-- are declarations, which are taken back by themselves.
local function restorer(table)
  local fields, kind, lazies = {}, kind_of(table), lazy_keys(table) or {}
  for key, value in next, table do
    if kind == "set" then
      fields[#fields + 1] = key
    elseif not lazies[key] then
      fields[key] = value
    end
  end
  if kind == "set" or kind == "array" then
    return function() core.assign(table, fields) end
  end
  return function()
    for key, value in next, fields do
      if not rawequal(rawget(table, key), value) then table[key] = value end
    end
    local added, declared = {}, lazy_keys(table) or {}
    for key in next, table do
      if fields[key] == nil and not declared[key] then added[#added + 1] = key end
    end
    for _, key in ipairs(added) do table[key] = nil end
  end
end

-- Adds the keys that a state lacks, also in the tables below it. Lists are values.
local function add_missing(state, initial, seen)
  if seen[initial] or rawequal(state, initial) then return end
  seen[initial] = true
  for key, value in next, initial do
    local present = state[key]
    if present == nil then
      state[key] = value
      note(function() state[key] = nil end)
    elseif is_plain(value) and is_plain(present) and rawlen(value) == 0 then
      add_missing(present, value, seen)
    end
  end
end

function obs.state(name, initial)
  check_name(name, 1, "state")
  if initial == nil then initial = {} end
  if type(initial) ~= "table" then
    bad_argument(2, "state", "table expected, got " .. type(initial))
  end
  local states = reload_data().states
  local state = states[name]
  if not state then
    states[name] = initial
    note(function() states[name] = nil end)
    return initial
  end
  if undo then note(restorer(state)) end
  if not rawequal(state, initial) and not kind_of(state) and not kind_of(initial) then
    add_missing(state, initial, {})
  end
  return state
end

-- The last word of the old code ------------------------------------------------------------------

function obs.on_reload(callback)
  check_function(callback, 1, "on_reload")
  local module = running_owner() >> 32
  if module == 0 then
    raise "obs.on_reload was called outside of a module's code"
  end
  local last_words = reload_data().last_words
  local list = last_words[module] or {}
  last_words[module] = list
  core.note_callback(callback)
  list[#list + 1] = { callback = callback, site = site(callback) }
end

local function say_last_words(module, old)
  local last_words = reload_data().last_words
  local list = last_words[module]
  last_words[module] = nil
  for _, word in ipairs(list or {}) do
    call_limited(word.callback, old, module, "on_reload", word.site)
  end
end

-- The module's table -----------------------------------------------------------------------------

-- Whether the contents of a table can take the place of another's.
local function can_merge(value)
  return type(value) == "table" and not kind_of(value) and not model_record(value)
    and not model_of(value) and not is_opaque(value)
end

-- Returns the tables of a new value that give their contents to old ones, the outermost first; and
-- the old table and the path of each.
local function matched(old, new)
  local found, stays, paths = {}, {}, {}
  local function match(from, to, path)
    if can_merge(from) and can_merge(to) and not rawequal(from, to) and not stays[to] then
      stays[to], paths[to] = from, path
      found[#found + 1] = to
    end
  end
  match(old, new, "")
  local i = 0
  while i < #found do
    i = i + 1
    local to = found[i]
    local from, path = stays[to], paths[to]
    match(getmetatable(from), getmetatable(to), path)
    for key, value in next, to do
      local name = type(key) == "string" and key or type(key)
      match(rawget(from, key), value, path == "" and name or path .. "." .. name)
    end
  end
  return found, stays, paths
end

-- Gives an old table the contents of the new one: its values, and no function that it lacks. Other
-- keys that only the old table has may be state, and stay, except behind the end of a list.
local function replace(old, new, stays)
  for key, value in next, new do
    value = stays[value] or value
    if not rawequal(rawget(old, key), value) then rawset(old, key, value) end
  end
  local removed, length = {}, rawlen(new)
  for key, value in next, old do
    local is_surplus = length > 0 and type(key) == "number" and key > length
    if rawget(new, key) == nil and (type(value) == "function" or is_surplus) then
      removed[#removed + 1] = key
    end
  end
  for _, key in ipairs(removed) do rawset(old, key, nil) end
  local meta = getmetatable(new)
  -- A protected metatable stays.
  if not rawequal(meta, getmetatable(old)) then pcall(setmetatable, old, stays[meta] or meta) end
end

-- Lets new functions refer to the tables that stay: the functions in the new tables, the callbacks
-- that the chunk has registered, and the functions that these use. All share the chunk's locals.
local function rebind(tables, callbacks, stays)
  local seen, found = {}, {}
  local function find(value)
    if type(value) == "function" and not seen[value] then
      seen[value] = true
      found[#found + 1] = value
    end
  end
  for _, callback in ipairs(callbacks) do find(callback) end
  for _, new in ipairs(tables) do
    for _, value in next, new do find(value) end
  end
  local i = 0
  while i < #found do
    i = i + 1
    local place = 1
    while true do
      local name, value = upvalue(found[i], place)
      if not name then break end
      if stays[value] then
        set_upvalue(found[i], place, stays[value])
      elseif name ~= "_ENV" then
        find(value)
      end
      place = place + 1
    end
  end
end

-- Lets an old table take the place of a new one; false if they are of kinds that have to differ.
local function replace_table(old, new, callbacks)
  local tables, stays = matched(old, new)
  if #tables == 0 then return false end
  rebind(tables, callbacks, stays)
  for _, table in ipairs(tables) do replace(stays[table], table, stays) end
  return true
end

-- Copies of old functions ------------------------------------------------------------------------

-- The functions of a module's value, with their names.
local function functions_of(value)
  local names = {}
  if type(value) == "function" then names[value] = "it" end
  if type(value) == "table" then
    for key, field in next, value do
      if type(field) == "function" and type(key) == "string" then names[field] = key end
    end
  end
  return names
end

-- Texts about functions of other modules that still hold old functions in their locals.
local function copies_of(old_functions, own)
  local texts = {}
  for name, module in next, loaded_modules() do
    if name ~= own and type(module) == "table" then
      for key, value in next, module do
        local place = 1
        while type(value) == "function" do
          local variable, held = upvalue(value, place)
          if not variable then break end
          local old = old_functions[held]
          if old then
            texts[#texts + 1] = format(
              "the function '%s' of the module '%s' has the old '%s' of '%s' in its local '%s'",
              type(key) == "string" and key or type(key), name, old, own, variable)
          end
          place = place + 1
        end
      end
    end
  end
  sort(texts)
  return texts
end

-- Loading ----------------------------------------------------------------------------------------

-- Ends all registrations of a loading, except lazy properties.
local function stop_all(module, successor, name)
  core.stop_owned(module)
  stop_module(module, successor, name)
  -- Variables of tasks are closed by code of the program.
  local cancel = core.detach_tasks(module)
  call_limited(cancel, nil, module, "task", "")
end

-- Takes back all registrations, declarations and changes of a chunk.
local function take_back(module, name, steps, replaced, restore_hooks)
  note_replaced(nil)
  stop_all(module, 0, name)
  reload_data().last_words[module] = nil
  local is_replaced = {}
  for _, entry in ipairs(replaced) do
    is_replaced[entry[1]] = is_replaced[entry[1]] or {}
    is_replaced[entry[1]][entry[2]] = true
  end
  for _, entry in ipairs(lazies_of(module)) do
    local keys = is_replaced[entry[1]]
    if not (keys and keys[entry[2]]) then forget(entry[1], entry[2]) end
  end
  for i = #replaced, 1, -1 do
    local declaration = replaced[i][3]
    local outer = enter(current_sandbox() | (declaration.module or 0) << 32)
    pcall(declare, replaced[i][1], replaced[i][2], declaration, declaration.get, declaration.flags)
    enter(outer)
  end
  for i = #steps, 1, -1 do steps[i]() end
  restore_hooks()
end

-- Ends all registrations and declarations of the former loading.
local function end_former(module, successor, name)
  stop_all(module, successor, name)
  for _, entry in ipairs(lazies_of(module)) do forget(entry[1], entry[2]) end
end

-- Why the new value of a module cannot take the place of the old one; nil if it can.
local function misfit(name, old, new)
  if type(old) == "table" and type(new) ~= "table" then
    return format("the module '%s' returned a table before, and returns %s now", name,
      new == true and "nothing" or "a " .. type(new))
  end
  local tables, _, paths = matched(old, new)
  for _, table in ipairs(tables) do
    local which = paths[table] == "" and "its own table"
      or format("its own table '%s'", paths[table])
    local key = next(lazy_keys(table) or {})
    if key ~= nil then
      return format("the module '%s' declares '%s' on %s, which a reload replaces: declare it on a "
        .. "table of obs.state", name, tostring(key), which)
    end
    if next(obs.observed_keys(table)) then
      return format("the module '%s' observes %s, which a reload replaces: observe a table of "
        .. "obs.state", name, which)
    end
  end
end

-- Runs the chunk of a module; returns its value, or nil and why it cannot take the old one's place.
local function run_chunk(name, chunk, arguments, module)
  local new, problem
  local failure = run_limited(function()
    local old = module_value(name)
    new = chunk(unpack(arguments))
    if new == nil then
      new = module_value(name)
      if rawequal(new, old) then new = true end
    end
    problem = misfit(name, old, new)
  end, module)
  return new, failure or problem
end

-- The global variables of a chunk.
local function globals_of(chunk)
  local name, globals = upvalue(chunk, 1)
  return name == "_ENV" and globals or {}
end

-- Runs the chunk of a module, and lets its code replace the former one.
local function load_again(name, chunk, arguments, former)
  local module, old = next_module(), module_value(name)
  local steps, replaced, callbacks = { restorer(globals_of(chunk)) }, {}, {}
  local restore_hooks = hooks()
  local outer_undo, outer_former = undo, core.former_module
  undo, core.former_module = steps, former
  note_replaced(replaced, callbacks)
  -- A stop halfway would lose the old code or the new one.
  begin_exempt()
  local new, problem = run_chunk(name, chunk, arguments, module)
  local copies
  undo, core.former_module = outer_undo, outer_former
  if problem then
    take_back(module, name, steps, replaced, restore_hooks)
  else
    note_replaced(nil)
    local functions = functions_of(old)
    say_last_words(former, old)
    for _, entry in ipairs(lazies_of(module)) do callbacks[#callbacks + 1] = entry[3].get end
    if replace_table(old, new, callbacks) then new = old end
    end_former(former, module, name)
    set_module(name, module, new)
    copies = copies_of(functions, name)
  end
  end_exempt()
  return copies, problem
end

--- Notes a function that takes back a change by the chunk of a module.
core.note_undo = note
--- The number of the former loading, while a module is being loaded again.
core.former_module = false

--- Returns texts about functions of other modules that hold former functions; or nil and a message.
function core.reload(name)
  if is_computing() then raise "obs.reload was called inside a getter" end
  if core.trees and core.trees.is_in_transaction() then
    raise "obs.reload was called inside a transaction"
  end
  local loading = reload_data().loading
  if loading[name] then return nil, format("the module '%s' is being loaded", name) end
  local chunk, former, arguments = load_module(name)
  if not chunk then return nil, former end
  if module_value(name) == nil then
    return nil, format("the module '%s' is being loaded", name)
  end
  loading[name] = true
  local ok, copies, message = pcall(load_again, name, chunk, arguments, former)
  loading[name] = nil
  if not ok then error(copies, 0) end
  return copies, message
end

function obs.reload(name)
  check_name(name, 1, "reload")
  local copies, message = core.reload(name)
  if copies then return true end
  return nil, message
end

return obs
