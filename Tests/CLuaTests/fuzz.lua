-- Compares the results of our functions and Lua's own for each input of fuzz.c.
local theirs, ours = string, ours

local function text(...)
  local results = table.pack(...)
  for i = 1, results.n do results[i] = tostring(results[i]) end
  return (table.concat(results, " "):gsub("to '[^']+'", ""))
end

local function collect(gmatch, ...)
  local found = {}
  for a, b in gmatch(...) do
    found[#found + 1] = text(a, b)
    if #found > 30 then break end
  end
  return table.concat(found, " ")
end

return function(subject, pattern, replacement)
  for _, name in ipairs { "find", "match", "gmatch", "gsub" } do
    local function outcome(f)
      if name == "gmatch" then return text(pcall(collect, f, subject, pattern)) end
      return text(pcall(f, subject, pattern, name == "gsub" and replacement or nil))
    end
    local expected, got = outcome(theirs[name]), outcome(ours[name])
    if expected ~= got then
      error(("%s(%q, %q)\n  Lua:  %s\n  ours: %s"):format(name, subject, pattern, expected, got), 0)
    end
  end
end
