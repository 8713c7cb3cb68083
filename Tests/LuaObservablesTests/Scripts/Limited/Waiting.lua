-- S3, S7: if memory runs out, no scope stays open, no task hangs, and no value is wrong.
--
--   obs-lua --max-memory=4M Waiting.lua
--
-- Memory is filled up to a remainder, which is a little larger in each round.
local obs = require "obs"
local short_of_memory = dofile(arg[0]:match "^.*/" .. "Support/memory.lua")

local function nothing() end

obs.on_error(function(message)
  assert(message:find "not enough memory" , message)
end)

local function check_scope(remainder)
  local outer = obs.scope(function() short_of_memory(remainder, obs.scope, nothing) end)
  outer:stop()
  local task = obs.task(function() obs.sleep(1) end)
  assert(not task.done, "a scope was left open")
  task:cancel()
end

local function check_operators(remainder, is_immediate)
  local root = { list = { { v = 1 }, { v = 2 } } }
  local watcher = obs.observe(root, "list.@sum.v", nothing, { immediate = is_immediate })
  obs.flush()
  short_of_memory(remainder, function()
    root.list[3] = { v = 5 }
    table.insert(root.list, 1, { v = 7 })
    obs.flush()
  end)
  obs.flush()
  local sum = 0
  for _, element in ipairs(root.list) do sum = sum + element.v end
  assert(obs.get(root, "list.@sum.v") == sum, "the sum is wrong")
  watcher:stop()
end

local tasks = {}
local function check_tasks(remainder)
  local finish
  tasks[#tasks + 1] = obs.task(function() obs.await(function(done) finish = done end) end)
  short_of_memory(remainder, finish, 1)
  finish(1)

  local t = { v = 0 }
  tasks[#tasks + 1] = obs.task(function() obs.next_change(t, "v") end)
  t.v = 1
  short_of_memory(remainder, obs.flush)
  t.v = 2
  obs.flush()

  local inner = obs.task(function() obs.await(function(done) finish = done end) end)
  for _ = 1, 3 do tasks[#tasks + 1] = obs.task(function() pcall(inner.await, inner) end) end
  short_of_memory(remainder, inner.cancel, inner)
end

for remainder = 0, 12000, 300 do
  check_scope(remainder)
  check_operators(remainder, false)
  check_operators(remainder, true)
  check_tasks(remainder)
end

obs.after(0, function()
  for i, task in ipairs(tasks) do assert(task.done, "task " .. i .. " hangs") end
end)
