-- Q3: obs.await turns any callback into sequential code.
local obs = require "obs"

local function await(...)
  local results
  local arguments = table.pack(...)
  local task = obs.task(function()
    results = table.pack(pcall(obs.await, table.unpack(arguments, 1, arguments.n)))
  end)
  return function() return results end, task
end

case("it returns the arguments of `done`, also nil", function()
  local call
  local results = await(function(done) call = done end)
  expect_equal(results(), nil)
  call(1, nil, 3, nil)
  expect_equal(results(), nil, "the task goes on in a turn after that")
  advance(0)
  expect_equal(results().n, 5)
  expect_equal(results()[2], 1)
  expect_equal(results()[4], 3)
end)

case("`done` may be called at once", function()
  local results = await(function(done) done("now") end)
  advance(0)
  expect_equal(results()[2], "now")
end)

case("the first call counts", function()
  local call
  local results = await(function(done) call = done end)
  call "first"
  call "second"
  advance(0)
  call "third"
  advance(0)
  expect_equal(results()[2], "first")
end)

case("it returns false after the timeout, and a late call does nothing", function()
  local call
  local results = await(function(done) call = done end, 5)
  advance(4)
  expect_equal(results(), nil)
  advance(1)
  expect_equal(results()[2], false)
  call "late"
  advance(1)
  expect_equal(results()[2], false)
end)

case("a call before the timeout leaves no timer behind", function()
  local call
  local results = await(function(done) call = done end, 1000)
  call "early"
  advance(0)
  expect_equal(results()[2], "early")
end)

case("an error in `start` is raised by await", function()
  local results = await(function() error("no", 0) end)
  expect_equal(results()[1], false)
  expect_equal(results()[2], "no")
end)

case("`done` may be called in a watcher, which cannot wait itself", function()
  local t = { n = 0 }
  local results = await(function(done)
    obs.observe(t, "n", function(o) done(o.n) end, { once = true })
  end)
  t.n = 7
  advance(0)
  expect_equal(results()[2], 7)
end)

case("cancelling the task ends the wait", function()
  local call
  local results, task = await(function(done) call = done end, 10)
  task:cancel()
  call "late"
  advance(20)
  expect_equal(results(), nil)
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
