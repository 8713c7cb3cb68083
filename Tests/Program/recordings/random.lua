-- Does everything that a program can do, in an order that random numbers choose, and prints it.
-- Each run has other random numbers.
local obs = require "obs"

local random = math.random
local print = print
local folder = os.tmpname()
os.remove(folder)

local root = { list = obs.array {}, map = obs.dictionary {}, set = obs.set_of {}, n = 0 }
obs.computed(root, "double", { "n" }, function(self) return self.n * 2 end)
local objects, watchers, timers = { root }, {}, {}
local weak = setmetatable({}, { __mode = "k" })
local files, histories, steps = {}, {}, 0

local function any(t) return t[random(#t)] end
local function note(...) print(steps, ...) end

local paths = { "n", "list.*.value", "child.n", "map.@count", "double", "**", "child.child.n" }

local actions = {
  function() any(objects).n = random(5) end,
  function() any(objects).child = random(3) > 1 and any(objects) or nil end,
  function() any(objects).child = { n = random(9) } end,
  function()
    objects[#objects + 1] = { n = random(9), value = random(3) }
    if #objects > 20 then table.remove(objects, random(2, 20)) end
  end,
  function() root.list:append { value = random(9) } end,
  function() if #root.list > 0 then root.list:remove(random(#root.list)) end end,
  function() root.map["k" .. random(9)] = any(objects) end,
  function() root.set:add(any(objects)) end,
  function() root.set:add(obs.array { random(9) }) end,
  function() for element in pairs(root.set) do note("element", element) end end,
  function() for key, element in pairs(root.map) do note("entry", key, element) end end,
  function()
    watchers[#watchers + 1] = obs.changes(any(objects), function(list)
      for i, change in ipairs(list) do note("change", i, change.op, #change.path) end
    end)
  end,
  function()
    if #histories < 3 then histories[#histories + 1] = obs.history(any(objects))
    else note(any(histories)[any { "undo", "redo" }](any(histories))) end
  end,
  function() root.child = any { root.list, root.map, root.set, {} } end,
  function()
    local path, object = any(paths), any(objects)
    if object ~= root and path:find "list" then return end
    watchers[#watchers + 1] = obs.observe(object, path, function(...) note(path, ...) end)
  end,
  function() if #watchers > 10 then table.remove(watchers, random(#watchers)):stop() end end,
  function()
    timers[#timers + 1] = obs.after(random() / 100, function() note("timer", obs.now()) end)
  end,
  function() if #timers > 0 then table.remove(timers, random(#timers)):stop() end end,
  function()
    obs.task(function()
      obs.sleep(random() / 100)
      root.n = root.n + 1
      note("task", os.clock())
      if random(8) == 1 then error { code = random(9) } end
    end)
  end,
  function() obs.next_turn(function() note("next", obs.stats().turns) end) end,
  function()
    local file = assert(io.open(folder .. random(3), any { "w", "a", "r+", "w+" } or "w"))
    for _ = 1, random(3) do file:write(("x"):rep(random(9000)), random(100), "\n") end
    files[#files + 1] = file
  end,
  function() if #files > 0 then table.remove(files, random(#files)):close() end end,
  function()
    local file, message = io.open(folder .. random(4))
    if not file then return note(message) end
    note(#(file:read(random(5000)) or ""), file:read "n", #(file:read "a"), file:seek "set")
    file:close()
  end,
  function()
    for line in io.lines(any { "/proc/self/stat", "/proc/uptime" }) do note(line) end
  end,
  function() note(os.time(), os.clock(), os.date(), os.getenv "HOME", os.tmpname()) end,
  function()
    local process = io.popen("date +%N; exit " .. random(9))
    note(process:read "a", process:close())
  end,
  function() note(os.execute("exit " .. random(9)), os.rename(folder .. 1, folder .. 2)) end,
  function() note(os.remove(folder .. random(3))) end,
  function() note(io.read(random(9))) end,
  function() note(pcall(require, "none" .. random(9))) end,
  function() weak[{ random(99) }] = setmetatable({}, { __gc = function() note "gc" end }) end,
  function() for key in pairs(weak) do note(key) end end,
  function() collectgarbage() note(collectgarbage "count") end,
  function()
    note(obs.transaction(root, function()
      root.n = random(9)
      if random(2) == 1 then obs.abort "no" end
    end))
  end,
  function()
    for name in pairs(any { string, table, io, objects }) do io.write(tostring(name), " ") end
  end,
  function() note(obs.describe(any(objects))) end,
}

for name, value in pairs { files = files, weak = weak } do note(name, value) end
obs.on_error(function(message) note("error", tostring(message)) end)
local main
main = obs.every(0.002, function()
  for _ = 1, random(8) do
    steps = steps + 1
    local ok, message = pcall(any(actions))
    if not ok then note("failed", message) end
  end
  if steps > (tonumber(arg[1]) or 150) then main:stop() end
end)
obs.on_exit(function()
  print(collectgarbage "count", root, root.set, obs.stats().seconds)
  for i = 1, 4 do os.remove(folder .. i) end
end)
