-- C2, C3: one list operation is one event, even if single slots are watched.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/stories.lua")

-- Watches `*`, `#1`, … of a list immediately.
function hear(list, paths)
  for _, path in ipairs(paths) do watch_now(list, path) end
end
function watch_now(list, path)
  obs.observe(list, path, function(_, _, change)
    note(("%s %s:%s>%s"):format(path, change.key, change.old, change.new))
  end, { immediate = true })
end

story("an operation calls an immediate watcher of * once, beside watchers of slots", [[
  local t, calls = { "a", "b", "c" }, 0
  hear(t, { "*", "#1", "#3", "#9" })
  obs.observe(t, { "*", "#1", "#2", "#3" }, function() calls = calls + 1 end, { immediate = true })
  table.insert(t, 1, "x")                         --= * 1:a>x, #1 1:a>x, #3 3:c>b
  table.remove(t, 1)                              --= * 1:x>a, #1 1:x>a, #3 3:b>c
  table.insert(t, "d")                            --= * 4:nil>d
  table.sort(t, function(a, b) return a > b end)  --= * 1:a>d, #1 1:a>d, #3 3:c>b
  table.move(t, 1, 4, 2)                          --= * 2:c>d, #3 3:b>c
  eq(calls, 5)
  table.move(t, 1, 5, 1)                          --= 0
  t[9] = "z"                                      --= * 9:nil>z, #9 9:nil>z
]])
story("a slot that ends as it began is not reported, whatever a sort did in between", [[
  local t = { 5, 2, 9, 1, 7 }
  for i = 1, 5 do obs.observe(t, "#" .. i, function() note(i) end, { immediate = true }) end
  table.sort(t)                 --= 1, 3, 4, 5
  table.sort(t)
  table.insert(t, 6, 8)         --= 0
  for i = 1, 3 do t[i] = 4 end  --= any
  table.remove(t, 1)            --= 3, 4, 5
]])
story("an operation on a list with holes reports the changed slots", [[
  local t = { 1, 2, 3 }
  hear(t, { "#2", "#4" })
  table.insert(t, 2, nil)  --= #2 2:2>nil, #4 4:nil>3
  t[2] = 5                 --= #2 2:nil>5
]])
story("a comparison that writes, registers and stops loses no call", [[
  local t, w = { 3, 1, 2, 5, 4 }, nil
  table.sort(t, function(a, b)
    w = w or watch(t, "#1")
    return a < b
  end)  --> any
  eq(t[1], 1)
  table.sort(t, function(a, b)
    w:stop()
    return a > b
  end)  --> 0
  watch(t, "#5")
  pcall(table.sort, t, function(a, b)
    t[5] = "x"
    error("enough")
  end)  --> #5
]])

finish()
