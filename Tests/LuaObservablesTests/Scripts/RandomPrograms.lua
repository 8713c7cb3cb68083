-- Random programs over the whole script API behave like the reference in Model/Reference.
--
--   obs-lua RandomPrograms.lua [first seed [count]]
--
-- A program that differs is shortened as far as possible, and shown with both logs. `OBS_ALL=1`
-- only lists the seeds of all programs that differ.

local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local programs = dofile(folder .. "Support/programs.lua")
local generate = dofile(folder .. "Model/generate.lua")
local worlds = dofile(folder .. "Model/world.lua")
local shrink = dofile(folder .. "Model/shrink.lua")

-- The modes of the collector while a program runs.
local MODES = {"stopped", "incremental", "generational"}

-- nil, or the difference. The reference runs outside of the coroutine: stack errors inside are
-- endless (Lua 5.4.4).
local function difference(program)
  local texts = generate.texts(program)
  return programs.await(function(done)
    worlds.real(texts, program.mode, function(real)
      local ok, reference = xpcall(worlds.reference, debug.traceback, texts, program.mode)
      done(ok and worlds.difference(real, reference)
        or not ok and "the reference fails: " .. reference)
    end)
  end)
end

-- Whether a program makes every object before it uses it.
local function is_whole(program)
  local made = {}
  for i, text in ipairs(generate.texts(program)) do
    local own = program[i].operation == "make" and text:match "^(o%[%d+%])"
    if own then made[own] = true end
    for object in text:gmatch "o%[%d+%]" do if not made[object] then return false end end
  end
  return true
end

local function shortest(program, message)
  local function class(text) return text:match "^the reference fails" or "difference" end
  local wanted = class(message)
  return shrink(program, function(shorter)
    local other = is_whole(shorter) and difference(shorter)
    return other and class(other) == wanted
  end)
end

programs.in_turns(function()
  local first, last = programs.named_seeds(2000)
  local failed = 0
  for seed = first, last do
    local program = generate.program(seed)
    program.mode = MODES[seed % #MODES + 1]
    local message = difference(program)
    if message and os.getenv "OBS_ALL" then
      print(seed)
      failed = failed + 1
    elseif message then
      program = shortest(program, message)
      error(("seed %d, collector %s\n%s\n%s"):format(
        seed, program.mode, table.concat(generate.texts(program), "\n"), difference(program)), 0)
    end
    if seed % 20 == 0 then collectgarbage() end
  end
  assert(failed == 0, failed .. " programs differ")
end)
