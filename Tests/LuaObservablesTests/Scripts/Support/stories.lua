-- Stories are tests in which each line has the expected log beside it.
--
--   story("P6: the old branch is silent and the new one is heard", [[
--     local t = { a = { b = 1 } }
--     watch(t, "a.b")
--     local old = t.a
--     t.a = { b = 1 }             --> 1
--     old.b = 2                   --> 0
--   ]])
--
-- `--> x` ends the turn; `--= x` does not. Both check the entries of the log since the last arrow:
-- x is their number, or the entries themselves, separated by commas. `--> any` checks nothing.
-- `watch(observed, path, options)` makes a watcher whose calls are entries: its name, or the path;
-- for an immediate watcher "path: key old>new". `note(…)` adds an entry. A story sees global names
-- only.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "checking.lua")

local entries = {}

function note(...)
  local parts = table.pack(...)
  for i = 1, parts.n do parts[i] = tostring(parts[i]) end
  entries[#entries + 1] = table.concat(parts, " ")
end

local function expect(kind, expected)
  if kind == ">" then obs.flush() end
  local found = table.concat(entries, ", ")
  local is_as_expected = expected == "any" or found == expected or #entries == tonumber(expected)
  entries = {}
  if not is_as_expected then error(("%s, not %s"):format(found, expected), 2) end
end

-- Runs a story. `environment` has further names for it, for example another `observe`.
function tell(text, source, environment)
  -- Pending calls of earlier tests do not belong to this one.
  obs.flush()
  entries = {}
  local observe = environment.observe or obs.observe
  environment.obs, environment.expect = obs, expect
  function environment.watch(observed, path, options)
    local name = options and options.name or type(path) == "string" and path or "call"
    return observe(observed, path, function(_, _, change)
      if not change then return note(name) end
      note(("%s: %s %s>%s"):format(change.path, change.key, change.old, change.new))
    end, options)
  end
  local code = text:gsub("%-%-([>=]) ?([^\n]*)", function(kind, expected)
    return ("; expect(%q, %q)"):format(kind, expected)
  end)
  assert(load(code, source, "t", setmetatable(environment, { __index = _G })))()
end

function story(sentence, text)
  local place = debug.getinfo(2, "Sl")
  check(sentence, function() tell(("\n"):rep(place.currentline) .. text, place.source, {}) end)
end
