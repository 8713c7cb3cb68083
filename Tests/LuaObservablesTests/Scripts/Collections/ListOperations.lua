-- C2, C3: one list operation is one event, even if single slots are watched.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

-- A list with an immediate watcher of `*`, `#1`, … and the changes that each received.
local function heard(list, paths)
  local log = {}
  for _, path in ipairs(paths) do
    obs.observe(list, path, function(_, _, change)
      log[#log + 1] = ("%s %s:%s>%s"):format(
        path, tostring(change.key), tostring(change.old), tostring(change.new))
    end, { immediate = true })
  end
  return function(body)
    log = {}
    body()
    return table.concat(log, " ")
  end
end

check("an operation calls an immediate watcher of * once, beside watchers of slots", function()
  local t = { "a", "b", "c" }
  local told = heard(t, { "*", "#1", "#3", "#9" })
  eq(told(function() table.insert(t, 1, "x") end), "* 1:a>x #1 1:a>x #3 3:c>b")
  eq(told(function() table.remove(t, 1) end), "* 1:x>a #1 1:x>a #3 3:b>c")
  eq(told(function() table.insert(t, "d") end), "* 4:nil>d")
  eq(told(function() table.sort(t, function(a, b) return a > b end) end),
    "* 1:a>d #1 1:a>d #3 3:c>b")
  eq(told(function() table.move(t, 1, 4, 2) end), "* 2:c>d #3 3:b>c")
  eq(told(function() table.move(t, 1, 5, 1) end), "")
  eq(told(function() t[9] = "z" end), "* 9:nil>z #9 9:nil>z")
end)

check("an immediate watcher of both * and slots is called once for an operation", function()
  local t, calls = { 3, 2, 1 }, 0
  obs.observe(t, { "*", "#1", "#2", "#3" }, function() calls = calls + 1 end, { immediate = true })
  table.insert(t, 1, 0)
  eq(calls, 1)
  table.sort(t)
  eq(calls, 2)
  table.remove(t, 1)
  eq(calls, 3)
end)

check("a slot that ends as it began is not reported, whatever a sort did in between", function()
  local t, log = { 5, 2, 9, 1, 7 }, {}
  for i = 1, 5 do
    obs.observe(t, "#" .. i, function() log[#log + 1] = i end, { immediate = true })
  end
  table.sort(t)
  eq(table.concat(log, " "), "1 3 4 5")
  log = {}
  table.sort(t)
  table.insert(t, 6, 8)
  eq(#log, 0)
  for i = 1, 3 do t[i] = 4 end
  log = {}
  table.remove(t, 1)
  eq(table.concat(log, " "), "3 4 5")
end)

check("an operation on a list with holes reports the changed slots", function()
  local t = { 1, 2, 3 }
  local told = heard(t, { "#2", "#4" })
  eq(told(function() table.insert(t, 2, nil) end), "#2 2:2>nil #4 4:nil>3")
  eq(told(function() t[2] = 5 end), "#2 2:nil>5")
end)

check("a comparison that writes, registers and stops loses no call", function()
  local t, calls, w = { 3, 1, 2, 5, 4 }, 0
  table.sort(t, function(a, b)
    w = w or obs.observe(t, "#1", function() calls = calls + 1 end)
    return a < b
  end)
  eq(t[1], 1)
  obs.flush()
  table.sort(t, function(a, b)
    w:stop()
    return a > b
  end)
  obs.flush()
  eq(calls <= 1, true)
  obs.observe(t, "#5", function() calls = calls + 100 end)
  pcall(table.sort, t, function(a, b)
    t[5] = "x"
    error("enough")
  end)
  obs.flush()
  eq(calls >= 100, true)
end)

finish()
