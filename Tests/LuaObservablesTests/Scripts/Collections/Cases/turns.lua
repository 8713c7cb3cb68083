-- T1–T7, T11 with watchers of collections.
return {
  {"T1", "calls a watcher of many paths of one list once", [[
    local list, objects = t.list "a b c"
    watch(list, {"*", "#1", "#2.name", "1", "3.name", A.size_name, "*.name"})
    A.insert(list, 1, A.new {name = "x"})
    A.remove(list, 2)
    objects[3].name = "y"
    A.reverse(list)  --> 1
    --> 0
  ]]},
  {"T3", "calls in order of registration, whatever was written first", [[
    local list = t.list "a b c"
    for i, path in ipairs {A.size_name, "#3", "*.name", "2", "*", "#1"} do
      A.observe(list, path, function() note(i) end)
    end
    A.get(list, 1).name = "x"
    A.replace(list, 1, A.new {name = "y"})
    A.remove(list, 2)  --> 1, 2, 3, 4, 5, 6
  ]]},
  {"T4", "runs the watchers that a watcher's edit triggers, itself in the next flush", [[
    local list = t.list "a b"
    A.observe(list, "*", function()
      note "first"
      if A.size(list) < 4 then A.append(list, A.new {name = "x"}) end
    end)
    A.observe(list, A.size_name, function() note("size", A.size(list)) end)
    A.replace(list, 1, A.new {name = "y"})  --> first, size 3
                                            --> first, size 4
                                            --> first
                                            --> 0
  ]]},
  {"T7", "does not call a watcher that was stopped while it was pending", [[
    local list = t.list "a b"
    local w = watch(list, {"*", "#1", "1.name"})
    A.remove(list, 1)
    w:stop()       --> 0
    t.eq(w.active, false)
    A.clear(list)  --> 0
  ]]},
  {"T7", "does not call a watcher that an earlier one stopped in the flush", [[
    local list, later = t.list "a b", nil
    A.observe(list, "*", function() later:stop() end)
    later = watch(list, "*")
    A.remove(list, 1)  --> 0
  ]]},
  {"T11", "calls a watcher that was added in a flush starting with the next change", [[
    local list, is_added = t.list "a b", false
    A.observe(list, "*", function()
      if is_added then return end
      is_added = true
      watch(list, "#1")
      watch(list, "1.name")
    end)
    A.remove(list, 1)                      --> 0
    A.get(list, 1).name = "x"
    A.insert(list, 1, A.new {name = "y"})  --> #1, 1.name
  ]]},
  {"T5", "delivers changes made while paused as one, after resuming", [[
    local list = t.list "a b"
    local w = watch(list, {"*", "*.name"})
    w:pause()
    A.remove(list, 1)
    A.get(list, 1).name = "x"  --> 0
    w:resume()                 --> 1
    --> 0
  ]]},
  {"L5", "stops the watchers of one path of a list", [[
    local list = t.list "a b"
    local w = watch(list, {"#1", "*"})
    local v = watch(list, "#1")
    t.eq(A.stop(list, "#1"), 2)
    t.eq(A.stop(list, "#1"), 0)
    t.eq(v.active, false)
    t.eq(w.active, true)
    A.remove(list, 1)  --> call
  ]]},
  {"T1", "ends once with `once`", [[
    local list = t.list "a b"
    local w = watch(list, "*", {once = true})
    A.remove(list, 1)  --> 1
    A.remove(list, 1)  --> 0
    t.eq(w.active, false)
  ]]},
}
