-- Global functions for checks. Each script begins with it, whatever the current folder is:
--
--   dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")
--
-- It ends with `finish()`.
local obs = require "obs"

-- Swift tests define `case`, which reports a failure at its line. A script that runs alone ends
-- with a list of all failures.
local failures = {}
check = case or function(sentence, body)
  local ok, message = xpcall(body, debug.traceback)
  if not ok then failures[#failures + 1] = sentence .. "\n  " .. tostring(message) end
end
-- A function that flushes and returns the number of calls of a new watcher, and the watcher.
function counter(t, path, options)
  local calls = 0
  local w = obs.observe(t, path, function() calls = calls + 1 end, options)
  return function()
    calls = 0
    obs.flush()
    return calls
  end, w
end
function fails(pattern, f, ...)
  local ok, message = pcall(f, ...)
  assert(not ok, "no error")
  message = tostring(message)
  assert(message:find(pattern), ("%q lacks %q"):format(message, pattern))
  return message
end
function eq(a, b)
  if a ~= b then error(("%s, not %s"):format(tostring(a), tostring(b)), 2) end
end
-- Fails if a text does not contain a part.
function has(text, part)
  if not text:find(part, 1, true) then error(("%q lacks %q"):format(text, part), 2) end
end
function nothing() end
-- The line of the caller plus an offset, as reports spell it.
function here(offset)
  local info = debug.getinfo(2, "Sl")
  return info.short_src .. ":" .. info.currentline + (offset or 0)
end

-- `reports` collects the errors of callbacks while `body` runs.
reports = {}
function reporting(body)
  for i in ipairs(reports) do reports[i] = nil end
  obs.on_error(function(e, where) reports[#reports + 1] = { error = e, where = where } end)
  local ok, message = xpcall(body, debug.traceback)
  obs.on_error(nil)
  if not ok then error(message, 0) end
end
-- Checks that need turns of the loop run one after the other in a task, after all others.
local waiting = {}
function turns(sentence, body) waiting[#waiting + 1] = { sentence, body } end
function turn() obs.sleep(0) end

-- The end of the script: runs the checks that wait for turns, and fails if any check did.
function finish()
  local function conclude()
    for _, case in ipairs(waiting) do check(case[1], case[2]) end
    if #failures > 0 then error(#failures .. " failed:\n" .. table.concat(failures, "\n"), 0) end
  end
  if #waiting > 0 then obs.task(conclude) else conclude() end
end
