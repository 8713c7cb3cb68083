-- Rule X5, as a script sees it.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/stories.lua")

-- Begins a history of a new object `t`, by default { n = 0 }.
function begin(options, object)
  t = object or { n = 0 }
  history = obs.history(t, options)
end
-- Ends the last step of the turn.
function end_step()
  history:begin()
  history:commit()
end
-- Makes a step for each number, which is written to `t.n`.
function steps(...)
  for _, n in ipairs { ... } do
    t.n = n
    end_step()
  end
end
-- Undoes a step, and notes the results and `t.n`; the same for redo.
function undo(...) note(history:undo(...), t.n) end
function redo() note(history:redo(), t.n) end

story("X5: each turn that changed something is a step", [[
  begin()
  undo()                                    --= false 0
  t.n = 1
  steps(2, 2, 3)
  note(history.can_undo, history.can_redo)  --= true false
  undo() undo() undo()                      --= true 2, true 0, false 0
  redo() redo() redo()                      --= true 2, true 3, false 3
]])
story("X5: writes of undo are delivered, and are not a step; a new step clears redo", [[
  begin()
  watch(t, "n")
  obs.observe(history, { "can_undo", "can_redo" }, function(h) note(h.can_undo, h.can_redo) end)
  t.n = 1         --> n, true false
  history:undo()  --> n, false true
  t.n = 5         --> n, true false
  redo()          --= false 5
]])
story("X5: writes that were not delivered yet become a step before undo", [[
  begin()
  steps(1)
  t.n = 2
  undo()  --= true 1
]])
check("X5: objects return with their identity, lists in their order", function()
  local a, b = { name = "a" }, { name = "b" }
  begin(nil, { list = { a, b }, tags = obs.set_of { "x" }, array = obs.array { 1, 2, 3 } })
  table.remove(t.list, 1)
  t.tags:add("y")
  t.array:move(1, 3)
  end_step()
  t.list = nil
  history:undo()
  history:undo()
  eq(t.list[1], a)
  eq(t.list[2], b)
  eq(t.tags:contains("y"), false)
  eq(table.concat(t.array, " "), "1 2 3")
  a.name = "c"
  obs.flush()
  history:undo()
  eq(a.name, "a")
end)
story("X5: flushes do not divide the step of a turn", [[
  begin()
  for n = 1, 3 do
    t.n = n
    obs.flush()
  end
  undo() redo() undo()  --= true 0, true 3, true 0
]])
story("X5: a turn or a group whose net change is nothing is no step", [[
  begin()
  t.n = 1
  obs.flush()
  note(history.can_undo)  --= true
  t.n = 0
  obs.flush()
  note(history.can_undo)  --= false
  history:begin("nothing")
  t.n = 1
  obs.flush()
  t.n = 0
  history:commit()
  undo()                  --= false 0
  fails("the history has no mark 'nothing'", history.undo, history, "nothing")
]])
turns("X5: undo takes back what happened to an object in the turn in which it came back", function()
  for _, order in ipairs { "paste, write", "write, paste" } do
    local shape = { x = 1, parts = { { y = 1 } } }
    begin({ limit = 10 }, { left = { shape }, right = {} })
    table.remove(t.left, 1)
    obs.sleep(0)
    -- A write of a turn in which it is outside belongs to no step.
    shape.name = "s"
    obs.sleep(0)
    if order == "write, paste" then shape.x, shape.parts[1].y = 5, 5 end
    table.insert(t.right, shape)
    obs.flush()
    if order == "paste, write" then shape.x, shape.parts[1].y = 5, 5 end
    obs.sleep(0)
    local function state() return #t.left .. #t.right .. shape.x .. shape.parts[1].y end
    eq(state(), "0155")
    eq(history:undo(), true)
    eq(state(), "0011")
    eq(history:undo(), true)
    eq(state(), "1011")
    eq(t.left[1], shape)
    eq(shape.name, "s")
    eq(history:undo(), false)
    history:redo()
    history:redo()
    eq(state(), "0155")
  end
end)
check("X5, L6: an object that left lives as long as a step can bring it back", function()
  local weak = setmetatable({ { x = 1 } }, { __mode = "v" })
  begin({ limit = 2 }, { a = weak[1], n = 0 })
  t.a = nil
  end_step()
  collectgarbage()
  eq(weak[1].x, 1)
  steps(1, 2)
  collectgarbage()
  collectgarbage()
  eq(weak[1], nil)
end)
story("X5: an object that came and left within a step is no change of it", [[
  begin()
  steps(1)
  local guest = { x = 1 }
  local function come_and_leave()
    t.guest = guest
    obs.flush()
    guest.x = guest.x + 1
    obs.flush()
    t.guest = nil
  end
  come_and_leave()
  undo()                --= true 0
  redo()                --= true 1
  come_and_leave()
  obs.flush()
  t.guest = guest
  undo() note(t.guest)  --= true 1, nil
  redo() note(guest.x)  --= true 1, 3
]])
turns("X5: an object whose visits no step can bring back is a guest again in each step", function()
  local weak = setmetatable({ { x = 1 } }, { __mode = "v" })
  begin()
  t.n = 1
  for _ = 1, 2 do
    local guest = weak[1] or {}
    t.guest = guest
    obs.flush()
    guest.x = 2
    obs.flush()
    t.guest, guest = nil, nil
    obs.sleep(0)
  end
  collectgarbage()
  collectgarbage()
  eq(weak[1], nil)
  eq(history:undo(), true)
  eq(t.n, 0)
end)
turns("X5: a group contains what happened to its objects outside of the tree", function()
  local guest = { x = 1 }
  begin()
  history:begin()
  t.n, t.guest = 1, guest
  obs.flush()
  guest.x = 2
  obs.sleep(0)
  t.guest = nil
  obs.sleep(0)
  guest.x = 7
  obs.sleep(0)
  t.guest = guest
  history:commit()
  eq(history:undo(), true)
  eq(t.guest, nil)
  eq(history:redo(), true)
  eq(t.guest.x, 7)
end)
story("X5: begin and commit make one step of several turns", [[
  begin()
  history:begin("typing")
  steps(1, 2)
  history:commit()
  steps(3)
  undo() undo()  --= true 2, true 0
  fails("commit without begin", function() history:commit() end)
]])
story("X5: undo returns to a mark", [[
  begin()
  history:mark("new")
  steps(1)
  history:mark("saved")
  steps(2, 3)
  undo "saved"  --= true 1
  undo "saved"  --= false 1
  undo "new"    --= true 0
  fails("the history has no mark 'save' %(did you mean 'saved'%?%)", history.undo, history, "save")
]])
story("X5: a mark of a step beyond the limit moves to the start of the oldest step", [[
  begin { limit = 2 }
  history:mark("none")
  for i = 1, 3 do
    steps(i)
    history:mark("m" .. i)
  end
  undo "none"           --= false 3
  undo "m1"             --= true 1
  steps(4, 5, 6)
  undo "m1"             --= false 6
  undo() undo() undo()  --= true 5, true 4, false 4
]])
check("X5: no step is made inside a transaction", function()
  begin()
  steps(1)
  for _, name in ipairs { "undo", "redo", "mark", "begin", "commit", "clear" } do
    local ok, message = obs.transaction({ t }, function()
      t.n = 2
      history[name](history, (name == "mark" or name == "begin") and "x" or nil)
    end)
    eq(ok, false)
    has(message, "the method '" .. name .. "' of a history was called inside a transaction")
  end
  obs.flush()
  eq(t.n, 1)
  eq(history:undo(), true)
  eq(history.can_undo, false)
  eq(t.n, 0)
end)
check("X5: a step that no longer fits is reported and dropped", function()
  local inner = { n = 0 }
  begin(nil, { inner = inner })
  inner.n = 1
  end_step()
  t.inner = nil
  end_step()
  inner.n = 7
  history:undo()
  reporting(function()
    eq(history:undo(), false)
    eq(#reports, 1)
    has(reports[1].error, "a step of the history no longer fits, and was dropped: 'n'")
  end)
  eq(inner.n, 7)
end)
story("X5: a history stored in its own object is not part of it", [[
  begin()
  obs.changes(t, function() note "changes" end)
  t.history = history
  t.n = 2  --> changes
  undo()   --= true 0
  eq(history.can_undo, false)
  redo()   --> true 2
]])
story("X5: clear removes all steps, stop ends the history", [[
  begin()
  steps(1)
  history:clear()
  undo()  --= false 1
  steps(2)
  history:stop()
  undo()  --= false 2
  eq(history.can_undo, false)
  eq(obs.observer_count(t, "n"), 0)
  history:stop()
]])
story("X5: an immediate watcher may react to undone writes", [[
  begin()
  steps(1, 2, 3)
  local w = obs.observe(t, "n", function() history:undo() end, { immediate = true, once = true })
  undo()                --= true 1
  eq(w.active, false)
  undo() undo()         --= true 0, false 0
  redo() redo() redo()  --= true 1, true 2, true 3
]])
check("X5: bad input is an error", function()
  fails("option 'limit' takes a number of steps, not 0", obs.history, {}, { limit = 0 })
  fails("option 'group' takes a number of seconds, not 'x'", obs.history, {}, { group = "x" })
  fails("unknown option 'limits'", obs.history, {}, { limits = 1 })
  local history = obs.history({})
  fails("obs.History expected, got no value", history.undo)
  fails("name expected", history.mark, history)
end)
turns("X5: turns within a time are one step", function()
  begin { group = 1 }
  for n, pause in ipairs { 0.5, 0.9, 2, 0 } do
    t.n = n
    obs.sleep(pause)
  end
  history:undo()
  eq(t.n, 3)
  history:undo()
  eq(t.n, 0)
  -- A mark ends the group.
  t.n = 5
  history:mark "five"
  t.n = 6
  obs.sleep(0)
  history:undo()
  eq(t.n, 5)
end)

finish()
