-- Runs programs of seeds in both worlds: run.lua [first seed [count]]
local folder = debug.getinfo(1, "S").source:match "^@(.*/)"
local obs = require "obs"
local generate = dofile(folder .. "generate.lua")
local worlds = dofile(folder .. "world.lua")
local shrink = dofile(folder .. "shrink.lua")

local known = dofile(folder .. "known.lua")
for word in (os.getenv "OBS_WITH" or ""):gmatch "[%w_]+" do known[word] = nil end

local driver
local function await(start)
  local result
  local co = coroutine.running()
  start(function(value)
    result = value
    obs.next_turn(function()
      local ok, message = coroutine.resume(co)
      if not ok then error(debug.traceback(co, message), 0) end
    end)
  end)
  coroutine.yield()
  return result
end

-- nil, or what is different. The reference runs outside of the coroutine: errors of a deep stack are
-- endless inside (Lua 5.4.4).
local function difference(program)
  local texts = generate.texts(program)
  return await(function(done)
    local t0 = os.clock()
    worlds.real(texts, function(real)
      local t1 = os.clock()
      local ok, reference = xpcall(worlds.reference, debug.traceback, texts)
      TR, TM = (TR or 0) + t1 - t0, (TM or 0) + os.clock() - t1
      if os.getenv "OBS_SHOW" then
        print(table.concat(real.log, "\n"))
        print(table.concat(real.errors, "\n"))
      end
      done(ok and worlds.difference(real, reference) or not ok and "the reference fails: " .. reference)
    end)
  end)
end

-- Whether a program makes every object that it names, as other programs do.
local function is_whole(program)
  local text = table.concat(generate.texts(program), "\n")
  for object in text:gmatch "o%[%d+%]" do
    if not text:find(object .. " = n", 1, true) then return false end
  end
  return true
end

local first = math.tointeger(tonumber(arg and arg[1] or os.getenv "OBS_SEED" or nil)) or 1
local count = math.tointeger(tonumber(arg and arg[2] or os.getenv "OBS_COUNT" or nil)) or 100
local keep_going = os.getenv "OBS_ALL"

driver = coroutine.create(function()
  collectgarbage "stop"
  local failed = 0
  for seed = first, first + count - 1 do
    local program = generate.program(seed, known)
    if os.getenv "OBS_TRACE" then io.stderr:write(seed, "\n") end
    local message = difference(program)
    if message then
      failed = failed + 1
      if keep_going then
        print(seed)
      else
        local class = message:match "^the reference fails"
        program = shrink(program, function(p)
          local m = is_whole(p) and difference(p)
          return m and (m:match "^the reference fails" ~= nil) == (class ~= nil)
        end)
        print("seed " .. seed .. "\n" .. table.concat(generate.texts(program), "\n"))
        print(difference(program))
        os.exit(1)
      end
    end
    collectgarbage()
  end
  print(("%d programs, %d failed"):format(count, failed), TR, TM)
end)
obs.next_turn(function() assert(coroutine.resume(driver)) end)
