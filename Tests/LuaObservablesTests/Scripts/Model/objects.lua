-- Programs over the whole script API, beside the reference in Reference.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)"
local programs = dofile(folder .. "../Support/programs.lua")
local generate = dofile(folder .. "generate.lua")
local worlds = dofile(folder .. "world.lua")
local shrink = dofile(folder .. "shrink.lua")

local objects = {}

-- The modes of the collector while a program runs.
local MODES = {"stopped", "incremental", "generational"}

-- The program of a seed. In every sixth one, transactions fail.
function objects.program(seed)
  local is_undone = seed % 6 == 0
  local program = is_undone and generate.program_with_failures(seed) or generate.program(seed)
  program.mode = is_undone and "stopped" or MODES[seed % #MODES + 1]
  return program
end

-- nil, or the difference. The reference runs outside of the coroutine, because stack errors inside
-- are endless (Lua 5.4.4).
--
-- `make_driver` makes the object that runs the statements; without it, they run as one script.
function objects.check(program, make_driver)
  local texts = generate.texts(program)
  return programs.await(function(done)
    worlds.real(texts, program.mode, function(real)
      local ok, reference = xpcall(
        worlds.reference, debug.traceback, texts, program.mode, make_driver)
      done(ok and worlds.difference(real, reference)
        or not ok and "the reference fails: " .. reference)
    end, make_driver and make_driver())
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

-- `check`: the function that has found the message, by default `objects.check`.
function objects.shrunk(program, message, check)
  local function class(text) return text:match "^the reference fails" or "difference" end
  local wanted = class(message)
  return shrink(program, function(shorter)
    local other = is_whole(shorter) and (check or objects.check)(shorter)
    return other and class(other) == wanted
  end)
end

function objects.text(program)
  return ("collector %s\n%s"):format(program.mode, table.concat(generate.texts(program), "\n"))
end

return objects
