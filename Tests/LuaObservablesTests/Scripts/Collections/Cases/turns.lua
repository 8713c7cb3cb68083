-- T1–T7, T11 with watchers of collections.
local obs = require "obs"

return {
  {"T1", "calls a watcher of many paths of one list once", function(A, t)
    local list, objects = t.list "a b c"
    local n = t.watch(list, {"*", "#1", "#2.name", "1", "3.name", A.size_name, "*.name"})
    A.insert(list, 1, A.new {name = "x"})
    A.remove(list, 2)
    objects[3].name = "y"
    A.reverse(list)
    t.eq(n(), 1)
    t.eq(n(), 0)
  end},
  {"T3", "calls in order of registration, whatever was written first", function(A, t)
    local list, log = t.list "a b c", {}
    for i, path in ipairs {A.size_name, "#3", "*.name", "2", "*", "#1"} do
      A.observe(list, path, function() log[#log + 1] = i end)
    end
    A.get(list, 1).name = "x"
    A.replace(list, 1, A.new {name = "y"})
    A.remove(list, 2)
    obs.flush()
    t.eq(table.concat(log, " "), "1 2 3 4 5 6")
  end},
  {"T4", "runs in the same flush the watchers that a watcher's edit triggers", function(A, t)
    local list, log = t.list "a b", {}
    A.observe(list, "#1", function()
      log[#log + 1] = "first"
      if A.size(list) < 4 then A.append(list, A.new {name = "x"}) end
    end)
    A.observe(list, A.size_name, function() log[#log + 1] = "size " .. A.size(list) end)
    A.replace(list, 1, A.new {name = "y"})
    obs.flush()
    t.eq(table.concat(log, " "), "first size 3")
  end},
  {"T4", "calls a watcher in the next flush for its own changes", function(A, t)
    local list = t.list "a"
    local n = t.watch(list, "*")
    A.observe(list, "*", function()
      if A.size(list) < 5 then A.append(list, A.new {name = "x"}) end
    end)
    A.append(list, A.new {name = "b"})
    for _ = 1, 6 do obs.flush() end
    t.eq(A.size(list), 5)
    t.eq(n(), 4)
    t.eq(n(), 0)
  end},
  {"T7", "does not call a watcher that was stopped while it was pending", function(A, t)
    local list = t.list "a b"
    local n, w = t.watch(list, {"*", "#1", "1.name"})
    A.remove(list, 1)
    w:stop()
    t.eq(n(), 0)
    t.eq(w.active, false)
    A.clear(list)
    t.eq(n(), 0)
  end},
  {"T7", "does not call a watcher that an earlier one stopped in the flush", function(A, t)
    local list, calls, later = t.list "a b", 0, nil
    A.observe(list, "*", function() later:stop() end)
    later = A.observe(list, "*", function() calls = calls + 1 end)
    A.remove(list, 1)
    obs.flush()
    t.eq(calls, 0)
  end},
  {"T11", "calls a watcher that was added in a flush from the next change on", function(A, t)
    local list, calls, added = t.list "a b", 0, false
    A.observe(list, "*", function()
      if added then return end
      added = true
      A.observe(list, "#1", function() calls = calls + 1 end)
      A.observe(list, "1.name", function() calls = calls + 1 end)
    end)
    A.remove(list, 1)
    obs.flush()
    t.eq(calls, 0)
    A.get(list, 1).name = "x"
    A.insert(list, 1, A.new {name = "y"})
    obs.flush()
    t.eq(calls, 2)
  end},
  {"T5", "delivers changes made while paused as one, after resuming", function(A, t)
    local list = t.list "a b"
    local n, w = t.watch(list, {"*", "*.name"})
    w:pause()
    A.remove(list, 1)
    A.get(list, 1).name = "x"
    t.eq(n(), 0)
    w:resume()
    t.eq(n(), 1)
    t.eq(n(), 0)
  end},
  {"L5", "stops the watchers of one path of a list", function(A, t)
    local list = t.list "a b"
    local n, w = t.watch(list, {"#1", "*"})
    local m, v = t.watch(list, "#1")
    t.eq(A.stop(list, "#1"), 2)
    t.eq(A.stop(list, "#1"), 0)
    t.eq(v.active, false)
    t.eq(w.active, true)
    A.remove(list, 1)
    t.eq(m(), 0)
  end},
  {"T1", "ends once with `once`", function(A, t)
    local list = t.list "a b"
    local n, w = t.watch(list, "*", {once = true})
    A.remove(list, 1)
    t.eq(n(), 1)
    A.remove(list, 1)
    t.eq(n(), 0)
    t.eq(w.active, false)
  end},
}
