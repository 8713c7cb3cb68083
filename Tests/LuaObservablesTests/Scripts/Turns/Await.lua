-- Q3: obs.await turns any callback into sequential code.
local obs = require "obs"

-- Starts a task that waits. Returns a function that returns the results of `pcall(obs.await, …)` as
-- text, "waiting" before that, and the task.
local function await(...)
  local results = "waiting"
  local arguments = table.pack(...)
  local task = obs.task(function()
    local found = table.pack(pcall(obs.await, table.unpack(arguments, 1, arguments.n)))
    for i = 1, found.n do found[i] = tostring(found[i]) end
    results = table.concat(found, " ")
  end)
  return function() return results end, task
end

-- The timeout, or false; then steps. Each has a time to wait, a value with which `done` is called
-- before, or nil, and the expected results afterwards.
for sentence, steps in pairs {
  ["the first call counts, and ends the wait in a turn after that"] = {
    false, { 0, "first", "true first" }, { 0, "second", "true first" },
  },
  ["it returns false after the timeout, and a late call does nothing"] = {
    5, { 4, nil, "waiting" }, { 1, nil, "true false" }, { 1, "late", "true false" },
  },
  ["a call before the timeout leaves no timer behind"] = {
    1000, { 0, "early", "true early" }, { 2000, nil, "true early" },
  },
} do
  case(sentence, function()
    local call
    local results = await(function(done) call = done end, steps[1] or nil)
    for i = 2, #steps do
      local seconds, value, expected = table.unpack(steps[i], 1, 3)
      local before = results()
      if value then call(value) end
      expect_equal(results(), before)
      advance(seconds)
      expect_equal(results(), expected)
    end
  end)
end
case("it returns the arguments of `done`, also nil, and also if it is called at once", function()
  local results = await(function(done) done(1, nil, 3, nil) end)
  advance(0)
  expect_equal(results(), "true 1 nil 3 nil")
end)
case("an error in `start` is raised by await", function()
  local results = await(function() error("no", 0) end)
  expect_equal(results(), "false no")
end)
case("`done` may be called in a watcher, which cannot wait itself", function()
  local t = { n = 0 }
  local results = await(function(done)
    obs.observe(t, "n", function(o) done(o.n) end, { once = true })
  end)
  t.n = 7
  advance(0)
  expect_equal(results(), "true 7")
end)
case("cancelling the task ends the wait", function()
  local call
  local results, task = await(function(done) call = done end, 10)
  task:cancel()
  call "late"
  advance(20)
  expect_equal(results(), "waiting")
end)
case("outside of a task, and with wrong arguments, it is an error", function()
  expect_error(function() obs.await(function() end) end, "outside a task")
  obs.task(function()
    expect_error(function() obs.await(1) end, "bad argument #1 to 'await'")
    expect_error(function() obs.await(function() end, "1") end, "bad argument #2 to 'await'")
  end)
end)
case("T10: an error of a task is reported if no task awaits it any more", function()
  local reported = {}
  obs.on_error(function(message) reported[#reported + 1] = message:match "%a+$" end)
  local function failing(word)
    return obs.task(function()
      obs.sleep(2)
      error(word, 0)
    end)
  end
  local late, cancelled, awaited = failing "late", failing "cancelled", failing "awaited"
  obs.task(function() late:await(1) end)
  local waiting = obs.task(function() cancelled:await() end)
  obs.task(function() pcall(awaited.await, awaited) end)
  waiting:cancel()
  advance(3)
  -- A task that fails at once, and whose only waiter is cancelled before it reads the error.
  local go
  local failed = obs.task(function()
    obs.await(function(done) go = done end)
    error("unread", 0)
  end)
  local reader = obs.task(function() failed:await() end)
  go()
  while not failed.done do advance(0) end
  reader:cancel()
  advance(0)
  obs.on_error(nil)
  expect_equal(table.concat(reported, " "), "late cancelled unread")
end)
