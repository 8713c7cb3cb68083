-- Checks for scripts that run alone. At the end they print "ok" and the number of checks.
local check = { count = 0 }

local function text(value)
  if type(value) ~= "table" then return tostring(value) end
  local parts = {}
  for i, element in ipairs(value) do parts[i] = text(element) end
  return table.concat(parts, " ")
end

function check.equal(found, expected, what)
  check.count = check.count + 1
  if text(found) ~= text(expected) then
    error(string.format("%s: expected '%s', found '%s'",
      what or "?", text(expected), text(found)), 2)
  end
end

function check.fails(message, f, ...)
  check.count = check.count + 1
  local ok, found = pcall(f, ...)
  if ok then error("no error, expected: " .. message, 2) end
  if not tostring(found):find(message, 1, true) then
    error(string.format("expected '%s', found '%s'", message, found), 2)
  end
end

function check.done() print("ok " .. check.count) end

return check
