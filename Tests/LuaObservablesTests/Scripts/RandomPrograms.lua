-- Checks that random programs behave like naive references, which have no wiring.
--
--   obs-lua RandomPrograms.lua [first seed [count [kind]]]
--
-- `objects`: programs over the whole script API (Model/Reference). `free` and `history`: programs
-- over trees, their changes and transactions, or their history (Model/Trees); `copies`: copies of a
-- tree that apply each other's changes. `reloads`: modules that are loaded again
-- (Model/reloads.lua). `growth`: graphs of two sizes, in debug builds of the tests
-- (Model/growth.lua).
--
-- A program that differs is shortened as far as possible, and shown with its log. `OBS_ALL=1` only
-- lists the seeds of all programs that differ.

local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local programs = dofile(folder .. "Support/programs.lua")
local trees = dofile(folder .. "Model/Trees/world.lua")

-- By name: `program(seed)`, `check(program)` for nil or the difference, `shrunk(program, message)`,
-- and `text(program)`. A kind takes part for every seed that its `every` divides.
local kinds = {}
local function add(name, every)
  kinds[name] = dofile(folder .. "Model/" .. name .. ".lua")
  kinds[name].every = every
end
if new_sandboxes then
  add("sandboxes", 1)
else
  add("objects", 1)
  add("reloads", 10)
end
if engine_steps then add("growth", 10) end

-- A kind of programs over trees.
local function tree_kind(longest, every, check)
  local kind = {every = every}
  local function copy(whole) return {has_opaque = whole.has_opaque} end
  local shrinking = {difference = function(_, shorter) return kind.check(shorter) end}
  function kind.program(seed) return trees.program(seed, longest) end
  function kind.check(program) return (check(program)) end
  function kind.shrunk(program, message)
    local length
    repeat
      length = #program
      program = programs.shrink(shrinking, nil, program, message, copy)
    until #program == length
    return program
  end
  function kind.text(program)
    local _, log = check(program)
    return table.concat(log or {}, "\n")
  end
  return kind
end
kinds.free = tree_kind(50, 2, function(program) return trees.check("free", program) end)
kinds.history = tree_kind(50, 2, function(program) return trees.check("history", program) end)
kinds.copies = tree_kind(60, 4, trees.laws.check_copies)

programs.in_turns(function()
  -- Scripts/test runs 2,000 with the release program.
  local first, last = programs.named_seeds(os.getenv "OBS_LIGHT" and 2000 or 200)
  local named = arg and arg[3] or os.getenv "OBS_KIND"
  local failed = 0
  assert(not named or kinds[named], "no such kind")
  for seed = first, last do
    for name, kind in pairs(kinds) do
      local takes_part = named == name or not named and seed % kind.every == 0
      local program = takes_part and kind.program(seed)
      local message = takes_part and kind.check(program)
      if message and os.getenv "OBS_ALL" then
        print(name, seed)
        failed = failed + 1
      elseif message then
        program = kind.shrunk(program, message)
        error(("seed %d, %s: %s\n%s"):format(
          seed, name, kind.check(program), kind.text(program)), 0)
      end
    end
    if seed % 20 == 0 then collectgarbage() end
  end
  assert(failed == 0, failed .. " programs differ")
  is_done = true
end)
