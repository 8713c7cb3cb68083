-- Loading modules again while the program runs (H1–H5): a slice of the module `obs`.
--
-- First the new chunk runs, and the references that have to change are searched. These steps can be
-- stopped. If they succeed, the former registrations end, and the module's table gets the new
-- functions. Otherwise the noted changes by the chunk are taken back. This last step cannot be
-- stopped, so the number of changes is limited if the time is.
local core, obs = ...

local error, getmetatable, ipairs, next, pcall, rawequal, rawget, rawlen, rawset, setmetatable =
  error, getmetatable, ipairs, next, pcall, rawequal, rawget, rawlen, rawset, setmetatable
local concat, insert, pack, pairs, sort, tostring, type, unpack =
  table.concat, table.insert, table.pack, pairs, table.sort, tostring, type, table.unpack
local format, sub = string.format, string.sub
local bad_argument, begin_exempt, call_limited, check_function, run_limited =
  core.bad_argument, core.begin_exempt, core.call_limited, core.check_function, core.run_limited
local current_sandbox, declare = core.sandbox, core.declare
local end_exempt, enter, forget, hooks, is_computing, is_opaque =
  core.end_exempt, core.tasks.enter, core.forget, core.hooks, core.is_computing, core.is_opaque
local kind_of, lazies_of, lazy_keys, load_module, model_of, model_record, module_value =
  core.kind, core.lazies_of, core.lazy_keys, core.load_module, core.model_of, core.model_record,
  core.module_value
local most_changes, next_module, restore_fields =
  core.most_changes, core.next_module, core.restore_fields
local is_read_only, is_watched, loaded_modules, metatable, note_replaced =
  core.is_read_only, core.is_watched, core.loaded_modules, core.metatable, core.note_replaced
local shared_tables, unload_since = core.shared_tables, core.unload_since
local READONLY, TRACKED = core.flags.READONLY, core.flags.TRACKED
local raise, sandbox_data, running_owner, set_module, set_upvalue, site, stop_module, upvalue =
  core.raise, core.sandbox_data, core.tasks.owner, core.set_module, core.set_upvalue, core.site,
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
-- The sandbox that loads the module again. Changes by other sandboxes stay, even if the chunk
-- causes them.
local reloading
-- For each state that the chunk has asked for, its former fields.
local former_fields = {}

local function is_noting() return undo and current_sandbox() == reloading end

local function note(step)
  if is_noting() then undo[#undo + 1] = step end
end

-- Returns a function that restores the fields of a table, but no tables inside them, and these
-- fields. Lazy keys are left out: `take_back` restores their declarations.
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
    return function() core.assign(table, fields) end, fields
  end
  local function restore()
    if restore_fields(table, fields) then return end
    for key, value in next, fields do
      if not rawequal(rawget(table, key), value) then rawset(table, key, value) end
    end
    local added, declared = {}, lazy_keys(table) or {}
    for key in next, table do
      if fields[key] == nil and not declared[key] then added[#added + 1] = key end
    end
    for _, key in ipairs(added) do rawset(table, key, nil) end
  end
  return restore, fields
end

-- Adds the keys that a state lacks, also in the tables below it. Lists are values.
local function add_missing(state, initial)
  local pairs_left, seen = { { state, initial } }, {}
  while #pairs_left > 0 do
    local to, from = unpack(pairs_left[#pairs_left])
    pairs_left[#pairs_left] = nil
    if not seen[from] and not rawequal(to, from) then
      seen[from] = true
      for key, value in next, from do
        local present = to[key]
        if present == nil then
          to[key] = value
          note(function() rawset(to, key, nil) end)
        elseif is_plain(value) and is_plain(present) and rawlen(value) == 0 then
          pairs_left[#pairs_left + 1] = { present, value }
        end
      end
    end
  end
end

function obs.state(name, initial)
  check_name(name, 1, "state")
  if initial == nil then initial = {} end
  if type(initial) ~= "table" then
    bad_argument(2, "state", "table expected, got " .. type(initial))
  end
  local states = sandbox_data().states
  local state = states[name]
  if not state then
    states[name] = initial
    note(function() states[name] = nil end)
    if is_noting() then former_fields[initial] = {} end
    return initial
  end
  if is_noting() and not former_fields[state] then
    local restore, fields = restorer(state)
    note(restore)
    former_fields[state] = fields
  end
  if not rawequal(state, initial) and not kind_of(state) and not kind_of(initial) then
    add_missing(state, initial)
  end
  return state
end

-- Functions of on_reload -------------------------------------------------------------------------

function obs.on_reload(callback)
  check_function(callback, 1, "on_reload")
  local module = running_owner() >> 32
  -- This code is never loaded again.
  if module == 0 then return end
  local last_words = sandbox_data().last_words
  local list = last_words[module] or {}
  last_words[module] = list
  core.note_callback(callback)
  list[#list + 1] = { callback = callback, site = site(callback) }
end

local function say_last_words(module, old)
  local last_words = sandbox_data().last_words
  local list = last_words[module]
  last_words[module] = nil
  for _, word in ipairs(list or {}) do
    call_limited(word.callback, old, module, "on_reload", word.site)
  end
end

-- The module's table -----------------------------------------------------------------------------

-- The tables of other modules, libraries, and states; the given values are the module's.
local function foreign_tables(...)
  local foreign = {}
  for _, value in next, shared_tables() do foreign[value] = true end
  for _, value in next, package or {} do foreign[value] = true end
  for _, state in next, sandbox_data().states do foreign[state] = true end
  for _, own in ipairs { ... } do foreign[own] = nil end
  return foreign
end

local libraries = {
  "_G", "coroutine", "debug", "io", "math", "os", "package", "string", "table", "utf8",
}

-- Whether a module returns the table of another module, of a library, or of a state.
local function is_borrowed(value, name, globals)
  for other, module in next, loaded_modules() do
    if other ~= name and rawequal(module, value) then return true end
  end
  for _, state in next, sandbox_data().states do
    if rawequal(state, value) then return true end
  end
  for _, library in ipairs(libraries) do
    if rawequal(rawget(globals, library), value) then return true end
  end
  return rawequal(value, globals) or rawequal(value, obs)
end

-- Whether the contents of a table can take the place of another's.
local function can_merge(value, foreign)
  return type(value) == "table" and not foreign[value] and not kind_of(value)
    and not model_record(value) and not model_of(value) and not is_opaque(value)
    and not is_read_only(value)
end

-- Returns the tables of a new value that give their contents to old ones under the same keys, the
-- outermost first; for each its old table; for each but the outermost its owner and key; and the
-- number of their entries.
local function matched(old, new)
  local found, stays, places, taken, count = {}, {}, {}, {}, 0
  local foreign = foreign_tables(old, new)
  local function match(from, to, owner, key)
    if can_merge(from, foreign) and can_merge(to, foreign) and not rawequal(from, to)
      and not stays[to] and not taken[from] then
      stays[to], taken[from], places[to] = from, true, { owner, key }
      found[#found + 1] = to
    end
  end
  match(old, new)
  local i = 0
  while i < #found do
    i = i + 1
    local to = found[i]
    for key, value in next, to do
      count = count + 1
      match(rawget(stays[to], key), value, to, key)
    end
    for _ in next, stays[to] do count = count + 1 end
  end
  return found, stays, places, count
end

-- The keys that lead to a table.
local function path_of(table, places)
  local path = {}
  while places[table][1] do
    local owner, key = unpack(places[table])
    insert(path, 1, type(key) == "string" and key or type(key))
    table = owner
  end
  return concat(path, ".")
end

-- Gives an old table the contents of the new one, and removes the functions that the new one lacks
-- and the elements behind the end of a new list. Other keys may be state, and stay.
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
  local meta = metatable(new)
  -- No code uses the new table now, so its `__gc` must not run.
  pcall(setmetatable, new, nil)
  -- A protected metatable stays.
  if not rawequal(meta, metatable(old)) then pcall(setmetatable, old, stays[meta] or meta) end
end

-- New tables -> the tables that stay.
local stand_for = setmetatable({}, { __mode = "k" })

local function are_equal(a, b) return rawequal(stand_for[a] or a, stand_for[b] or b) end

-- Lets a new table read and write the table that stays, for references that were not found. Fields
-- for metamethods remain, as objects may have the new table as their metatable.
local function forward(new, old, stays)
  local is_free = pcall(setmetatable, new, {
    __index = old, __newindex = old, __eq = are_equal,
    __len = function() return #old end,
    __pairs = function() return pairs(old) end,
    __call = function(_, ...) return old(...) end,
  })
  -- A protected metatable stays, with the fields as they are.
  if not is_free then return end
  stand_for[new] = old
  for key, value in next, new do
    local is_kept = type(key) == "string" and sub(key, 1, 2) == "__"
    rawset(new, key, is_kept and (stays[value] or value) or nil)
  end
end

-- The place of a metatable in a list of references.
local METATABLE = {}

-- Adds to the list the references to new tables that have to lead to the tables that stay. They are
-- searched in everything that `roots` refer to, except in tables of other code: in variables of
-- functions, fields, and metatables. The list has the holder and the place of each reference; the
-- place of a variable is its number.
local function find_references(list, roots, stays, foreign)
  local seen, found = {}, {}
  local function note_reference(holder, place)
    list[#list + 1] = holder
    list[#list + 1] = place
  end
  local function find(value)
    local kind = type(value)
    if (kind == "function" or kind == "table" and not foreign[value]) and not seen[value] then
      seen[value] = true
      found[#found + 1] = value
    end
  end
  for _, root in ipairs(roots) do find(root) end
  local i = 0
  while i < #found do
    i = i + 1
    local value = found[i]
    local place = 1
    while type(value) == "function" do
      local name, held = upvalue(value, place)
      if not name then break end
      if stays[held] then note_reference(value, place) end
      if name ~= "_ENV" then find(held) end
      place = place + 1
    end
    if type(value) == "table" then
      local meta = metatable(value)
      if stays[meta] and not stays[value] then note_reference(value, METATABLE) end
      find(meta)
      local kind = kind_of(value)
      for key, field in next, value do
        if stays[field] and not stays[value] and kind ~= "set" then note_reference(value, key) end
        find(field)
      end
    end
  end
end

-- Makes a reference lead to the table that stays.
local function redirect(holder, place, stays)
  if type(holder) == "function" then
    local _, held = upvalue(holder, place)
    if stays[held] then set_upvalue(holder, place, stays[held]) end
  elseif rawequal(place, METATABLE) then
    local meta = metatable(holder)
    if stays[meta] then pcall(setmetatable, holder, stays[meta]) end
  else
    local field = rawget(holder, place)
    if stays[field] then rawset(holder, place, stays[field]) end
  end
end

-- The references to new tables that a chunk has made: in its global variables, in `package.loaded`,
-- in states, and in everything that can be reached from their new values and from `roots`.
local function references_of(loading, roots)
  local stays, globals, registry = loading.stays, loading.globals, loading.registry
  local foreign = foreign_tables(loading.old, loading.new)
  for _, table in ipairs(loading.tables) do foreign[stays[table]] = true end
  local list, required = {}, {}
  local function search(table, former)
    for key, value in next, table do
      if stays[value] then
        list[#list + 1] = table
        list[#list + 1] = key
      elseif not rawequal(value, former[key]) then
        -- A value that the chunk itself has put into `package.loaded` is not another module.
        if rawequal(table, registry) and not required[value] then foreign[value] = nil end
        roots[#roots + 1] = value
      end
    end
  end
  for _, module in next, loaded_modules() do required[module] = true end
  search(globals, loading.former_globals)
  search(registry, loading.former_registry)
  for state, fields in next, former_fields do
    if not kind_of(state) then search(state, fields) end
  end
  foreign[globals], foreign[registry] = true, true
  find_references(list, roots, stays, foreign)
  return list
end

-- Keeps the old tables with the contents of the new ones.
local function replace_tables(loading)
  local stays, list = loading.stays, loading.references
  for i = 1, #list, 2 do redirect(list[i], list[i + 1], stays) end
  for _, table in ipairs(loading.tables) do
    replace(stays[table], table, stays)
    forward(table, stays[table], stays)
  end
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

-- Describes the local variables of other modules' functions that still hold old functions.
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

-- Ends all registrations and declarations of a loading.
local function end_loading(module, successor, name)
  -- Tasks first: a cancelled task runs `__close` methods of the script, which may register more.
  local cancel = core.detach_tasks(module)
  call_limited(cancel, nil, module, "task", "")
  core.stop_owned(module)
  stop_module(module, successor, name)
  for _, entry in ipairs(lazies_of(module)) do forget(entry[1], entry[2]) end
end

-- Restores a property, or the plain value of its key, as it was before the chunk declared it. The
-- property gets its former value, except if its dependencies determine the value.
local function restore_lazy(entry)
  local table, key, declaration, value = entry[1], entry[2], entry[3], entry[4]
  if not declaration then return rawset(table, key, value) end
  local outer = enter(current_sandbox() | (declaration.module or 0) << 32)
  pcall(declare, table, key, declaration, declaration.get, declaration.flags)
  enter(outer)
  local is_free = declaration[1] == nil and declaration.flags & (TRACKED | READONLY) == 0
  if value ~= nil and is_free then pcall(rawset, table, key, value) end
end

-- Takes back all registrations, declarations and changes of a chunk, and unloads the modules that
-- it was the first to require.
local function take_back(module, name, steps, replaced, restore_hooks)
  note_replaced(nil)
  restore_hooks()
  end_loading(module, 0, name)
  sandbox_data().last_words[module] = nil
  for i = #replaced, 1, -1 do
    local declaration = replaced[i][3]
    if not declaration or declaration.module ~= module then restore_lazy(replaced[i]) end
  end
  for i = #steps, 1, -1 do pcall(steps[i]) end
  for other, number in next, unload_since(module) do
    end_loading(number, 0, other)
    sandbox_data().last_words[number] = nil
  end
end

-- Why the new value of a module cannot take the place of the old one; nil if it can.
local function misfit(name, module, loading)
  local old, new, stays, places = loading.old, loading.new, loading.stays, loading.places
  if type(old) == "table" and type(new) ~= "table" then
    return format("the module '%s' returned a table before, and returns %s now", name,
      new == true and "nothing" or "a " .. type(new))
  end
  local function refuse(what, table)
    local path = path_of(table, places)
    return format("the module '%s' %s its own table%s, which a reload replaces: use a table of "
      .. "obs.state", name, what, path == "" and "" or format(" '%s'", path))
  end
  if type(old) == "table" and not rawequal(old, new) and (loading.foreign[new]
    or is_borrowed(old, name, loading.globals) or is_borrowed(new, name, loading.globals)) then
    return format("the module '%s' returned another table before, and one of the two belongs to "
      .. "another module, to a library, or to obs.state", name)
  end
  for _, table in ipairs(loading.tables) do
    local key = next(lazy_keys(table) or {})
    if key ~= nil then return refuse(format("declares '%s' on", tostring(key)), table) end
    if is_watched(table) or next(obs.observed_keys(table)) then return refuse("observes", table) end
  end
  for _, entry in ipairs(lazies_of(module)) do
    for _, dependency in ipairs(entry[3]) do
      local table = type(dependency) == "table" and dependency[1]
      if stays[table] then
        return refuse(format("lets '%s' depend on", tostring(entry[2])), table)
      end
    end
  end
end

-- Runs the chunk of a module, and searches everything that has to change. Returns nil, or the
-- reason why the new code cannot take the place of the old code.
local function run_chunk(name, chunk, arguments, module, loading)
  local problem
  local failure = run_limited(function()
    local old = loading.old
    local new = chunk(unpack(arguments, 1, arguments.n))
    if new == nil then
      new = module_value(name)
      if rawequal(new, old) then new = true end
    end
    loading.new, loading.functions = new, functions_of(old)
    local count
    loading.tables, loading.stays, loading.places, count = matched(old, new)
    problem = misfit(name, module, loading)
    local roots = { new }
    for _, callback in ipairs(loading.callbacks) do roots[#roots + 1] = callback end
    for _, entry in ipairs(lazies_of(module)) do roots[#roots + 1] = entry[3].get end
    loading.references = #loading.tables > 0 and references_of(loading, roots) or {}
    local most = most_changes()
    if count + #loading.references // 2 > most then
      problem = problem or format("the module '%s' is too large to be loaded again: its old and "
        .. "its new tables may have %d entries", name, most)
    end
  end, module)
  return failure or problem
end

-- The global variables of a chunk. A loader of another searcher may have none.
local function globals_of(chunk)
  local name, globals = upvalue(chunk, 1)
  return name == "_ENV" and globals or package and package.loaded._G or {}
end

-- Lets the code of a chunk that has run replace the former one.
local function take_over(name, module, former, loading)
  note_replaced(nil)
  say_last_words(former, loading.old)
  -- First: lazy properties of the former loading would refuse or lose new values of their keys.
  end_loading(former, module, name)
  replace_tables(loading)
  set_module(name, module, #loading.tables > 0 and loading.old or loading.new)
end

local function copied(table)
  local copy = {}
  for key, value in next, table do copy[key] = value end
  return copy
end

-- Runs the chunk of a module, and lets its code replace the former one. Returns the old functions,
-- or nil and the reason why the code stays.
local function load_again(name, chunk, arguments, former)
  local module, globals = next_module(), globals_of(chunk)
  local loading = { old = module_value(name), globals = globals, callbacks = {} }
  local restore_globals, former_globals = restorer(globals)
  loading.former_globals = former_globals
  loading.registry = package and package.loaded or {}
  loading.former_registry, loading.foreign = copied(loading.registry), foreign_tables()
  local steps, replaced = { restore_globals }, {}
  local restore_hooks = hooks()
  undo, former_fields, reloading, core.former_module = steps, {}, current_sandbox(), former
  note_replaced(replaced, loading.callbacks)
  local ran, problem = pcall(run_chunk, name, chunk, arguments, module, loading)
  -- A stop halfway would lose the old code or the new one.
  begin_exempt()
  undo, core.former_module = nil, false
  local ok, message
  if ran and not problem then
    ok, message = pcall(take_over, name, module, former, loading)
  else
    ok, message = pcall(take_back, module, name, steps, replaced, restore_hooks)
  end
  end_exempt()
  if not ran then error(problem, 0) end
  if not ok then error(message, 0) end
  return not problem and loading.functions, problem
end

--- Notes a function that takes back a change by the chunk of a module.
core.note_undo = note
--- The number of the former loading, while a module is being loaded again.
core.former_module = false

local function gathered(chunk, former, ...) return chunk, former, pack(...) end

--- Loads a module again. Returns texts about functions of other modules that hold former functions;
--- or nil and a message.
function core.reload(name)
  if is_computing() then raise "obs.reload was called inside a getter" end
  if core.trees and core.trees.is_in_transaction() then
    raise "obs.reload was called inside a transaction"
  end
  if core.former_module then
    return nil, format("the module '%s' cannot be loaded again inside another reload", name)
  end
  local chunk, former, arguments = gathered(load_module(name))
  if not chunk then return nil, former end
  local ok, functions, message = pcall(load_again, name, chunk, arguments, former)
  if not ok then
    note_replaced(nil)
    undo, core.former_module = nil, false
    error(functions, 0)
  end
  if not functions then return nil, message end
  -- The reload has succeeded, even if there is no memory for the texts.
  local searched, copies = pcall(copies_of, functions, name)
  return searched and copies or {}
end

function obs.reload(name)
  check_name(name, 1, "reload")
  local copies, message = core.reload(name)
  if copies then return true end
  return nil, message
end

return obs
