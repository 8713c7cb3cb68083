-- Cases, and blocks of cases (`describe`) with their hooks, as global functions. They use functions
-- of Swift:
-- - `core.began(sentence, outer_case, is_forced, first_line, last_line)` returns the number of a
--   case, or nil if it should not run; `core.selects(sentence)` returns whether it should run
-- - `core.raised(prefix, message, traceback, case)`, `core.skipped(case, reason)` and
--   `core.ended(case, finds_leaks)`
-- - `core.lists()`: cases are only listed; `core.finds_leaks()`; `core.settle()`
-- - `core.pick(count)` returns a random index, or nil if cases run in their order
local core = ...

-- Scripts may replace these functions, so they are read first.
local getinfo, traceback = debug.getinfo, debug.traceback
local error, ipairs, setmetatable, type, unpack = error, ipairs, setmetatable, type, table.unpack
local collect, xpcall = collectgarbage, xpcall
local format, getmetatable = string.format, getmetatable
local need_function, scope_of, set_scope, text = core.need_function, core.scope, core.set_scope,
  core.text

-- The metatable of errors that end a skipped case.
local Skipped = { __tostring = function(skipped) return "skipped: " .. skipped.reason end }

-- A scope is a case or a block. A block with a list `children` collects them.
local function new_scope(sentence)
  local outer = scope_of()
  local full = (outer.sentence and outer.sentence .. ": " or "") .. sentence
  return {
    sentence = full, prefix = full .. ": ", number = outer.number, outer = outer,
    undo = {}, before_each = {}, after_each = {}, teardown = {},
  }
end

core.file.before_each, core.file.after_each, core.file.teardown = {}, {}, {}

local function begin(scope, body, is_forced)
  local place = type(body) == "function" and getinfo(body, "S") or {}
  return core.began(
    scope.sentence, scope.outer.number, is_forced or false, place.linedefined or 1,
    place.lastlinedefined or 1)
end

-- Calls a function in a scope. Returns whether it raised no error, and the error and its traceback.
local function guarded(scope, body)
  local outer, trace = scope_of(), nil
  set_scope(scope)
  local ok, raised = xpcall(body, function(raised)
    trace = traceback(nil, 2)
    return raised
  end)
  set_scope(outer)
  return ok, not ok and raised, trace
end

-- Calls the body or a hook of a case; an error is its failure.
local function attempt(case, body)
  local ok, raised, trace = guarded(case, body)
  if ok then return true end
  if getmetatable(raised) == Skipped then
    core.skipped(case.number, raised.reason)
  else
    core.raised(case.prefix, text(raised), trace, case.number)
  end
  return false
end

-- Calls the body or a hook of a block; an error is shown as a failed case.
local function attempt_block(block, body)
  local ok, raised, trace = guarded(block, body)
  if ok then return true end
  local number = begin(block, body, true)
  core.raised(block.prefix, text(raised), trace, number)
  core.ended(number, false)
  return false
end

local function undo(scope)
  for i = #scope.undo, 1, -1 do scope.undo[i]() end
  scope.undo = {}
end

-- Runs a case with the hooks of the blocks around it. Hooks around an outer case are left out: they
-- have already run.
local function run_case(case, body)
  local number = begin(case, body)
  if not number then return end
  if core.lists() then return core.ended(number, false) end
  case.number = number
  local blocks, block = {}, case.outer
  while block and not block.is_case do
    blocks[#blocks + 1], block = block, block.outer
  end
  local ok = true
  for i = #blocks, 1, -1 do
    for _, hook in ipairs(blocks[i].before_each) do ok = ok and attempt(case, hook) end
  end
  ok = ok and attempt(case, body)
  for _, list in ipairs { case.finally, unpack(blocks) } do
    for _, hook in ipairs(list.after_each or list) do ok = attempt(case, hook) and ok end
  end
  undo(case)
  -- Objects that remain because of an error are not leaks.
  local finds_leaks = ok and case.outer.number == 0 and core.finds_leaks()
  if finds_leaks then
    -- Garbage ends by itself, partly in finalizers.
    core.settle()
    collect()
    collect()
  end
  core.ended(number, finds_leaks)
end

local function skip_case(case)
  local number = begin(case)
  if not number then return end
  core.skipped(number, case.reason)
  core.ended(number, false)
end

local function is_selected(scope)
  if scope.outer.number ~= 0 then return true end
  if not scope.children then return core.selects(scope.sentence) end
  for _, child in ipairs(scope.children) do
    if is_selected(child) then return true end
  end
  return false
end

local function shuffle(list)
  for i = #list, 2, -1 do
    local j = core.pick(i)
    if not j then return end
    list[i], list[j] = list[j], list[i]
  end
end

local function run(scope)
  if not scope.children then
    if scope.body then run_case(scope, scope.body) else skip_case(scope) end
    return
  end
  local children = scope.children
  scope.children = nil
  shuffle(children)
  local ok, lists = true, core.lists()
  for _, hook in ipairs(lists and {} or scope.setup) do
    ok = ok and attempt_block(scope, hook)
  end
  for _, child in ipairs(ok and children or {}) do
    if is_selected(child) then run(child) end
  end
  for _, hook in ipairs(lists and {} or scope.teardown) do attempt_block(scope, hook) end
  undo(scope)
end

-- Runs a scope now, or later if a block collects it.
local function add(scope)
  local children = scope.outer.children
  if children then
    children[#children + 1] = scope
  elseif scope.children and not is_selected(scope) then
    undo(scope)
  else
    run(scope)
  end
end

local function add_case(sentence, body, reason)
  local case = new_scope(text(sentence))
  case.body, case.reason, case.is_case, case.finally = body, reason, true, {}
  add(case)
end

-- The functions of scripts ------------------------------------------------------------------------

-- The functions that `require "busted"` returns.
core.busted = {}

-- Declares a function under several names, which appear in its messages and in tracebacks.
local function declare(names, make)
  for name in names:gmatch "[%w_]+" do
    _G[name] = make(name)
    core.busted[name] = _G[name]
  end
end

-- Runs a part of the fixture, between the hooks of its blocks. An error in it is a failure at its
-- line, and the script continues. Messages of failures in it begin with the sentence.
declare("case it test spec", function(name)
  return function(sentence, body)
    core.checked()
    if body == nil and name ~= "case" then return add_case(sentence, nil, "it has no function") end
    need_function(body, 2, name)
    add_case(sentence, body)
  end
end)

-- Collects cases and hooks, and runs the cases at the end of the outermost block.
declare("describe context insulate expose", function(name)
  return function(sentence, body)
    need_function(body, 2, name)
    local block = new_scope(text(sentence))
    block.children, block.setup = {}, {}
    if attempt_block(block, body) then add(block) else undo(block) end
  end
end)

-- Adds a case that does not run; inside a case, without a function, ends that case.
declare("pending skip", function()
  return function(sentence, body)
    core.checked()
    local reason = sentence == nil and "" or text(sentence)
    if scope_of().is_case and body == nil then error(setmetatable({ reason = reason }, Skipped)) end
    add_case(sentence, nil, "")
  end
end)

-- Returns the block that collects cases; outside of all blocks, the file.
local function block_of_hook(name)
  local scope = scope_of()
  if scope == core.file or scope.children then return scope end
  error(format("'%s' belongs in a describe, outside of its cases and hooks", name), 3)
end

-- Declares functions that add a hook to a list of the block, which has the function's name unless
-- `list` says another one.
local function declare_hooks(names, list)
  declare(names, function(name)
    return function(hook)
      need_function(hook, 1, name)
      local hooks = block_of_hook(name)[list or name]
      hooks[#hooks + 1] = hook
    end
  end)
end

declare_hooks "before_each after_each"
declare_hooks("teardown lazy_teardown strict_teardown", "teardown")

declare("setup lazy_setup strict_setup", function(name)
  return function(hook)
    need_function(hook, 1, name)
    local hooks = block_of_hook(name).setup
    -- Outside of all blocks, the hook runs at once: the file has already begun.
    if hooks then hooks[#hooks + 1] = hook elseif not core.lists() then hook() end
  end
end)

-- Calls a function at the end of the case, also after an error.
function finally(body)
  need_function(body, 1, "finally")
  local case = scope_of()
  if not case.is_case then error("'finally' belongs in a case", 2) end
  case.finally[#case.finally + 1] = body
end

function randomize()
  error("'randomize' is not available: obs-lua --test --shuffle runs cases in random order", 2)
end

-- Called at the end of the file.
return function()
  for _, hook in ipairs(core.lists() and {} or core.file.teardown) do hook() end
end
