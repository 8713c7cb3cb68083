-- Recordings of a run: what is in the lines, and that a reader can rebuild the state from them.
local obs = require "obs"
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
dofile(folder .. "../Support/checking.lua")
local recordings = dofile(folder .. "Support/recordings.lua")

local function record(options, body)
  local path = os.tmpname()
  os.remove(path)
  local recording = assert(obs.start_recording(path, options))
  body(recording)
  obs.flush()
  recording:stop()
  local read = recordings.read(path)
  os.remove(path)
  return read
end

check("D3: a recording has a line for each step", function()
  local t = { n = 1, list = { 1, 2 } }
  local watcher = obs.observe(t, "n", function() t.m = t.n end, { name = "copier" })
  local read = record(nil, function()
    t.n = 2
    t.n = 2
  end)
  eq(read.header["obs-lua"], "recording")
  eq(read.header.version, 1)
  local write = read:first "write"
  eq(write.key, "n")
  eq(write.old, 1)
  eq(write.new, 2)
  assert(write.place:find "Recordings.lua:%d+$")
  local call = read:first "call"
  eq(call.name, "copier")
  eq(call.causes[1], write.number)
  eq(read:first "equal".count, 1)
  eq(read:first "equal".key, "n")
  watcher:stop()
end)

check("D3: a recording has computed properties, tasks, timers and ended watchers", function()
  local t = { a = 1 }
  obs.computed(t, "double", { "a" }, function(self) return 2 * self.a end)
  local watcher = obs.observe(t, "double", function() end)
  local read = record(nil, function()
    t.a = 2
    obs.flush()
    obs.task(function() end)
    obs.after(1000, function() end):stop()
    watcher:stop()
  end)
  local compute = read:first "compute"
  eq(compute.name, "double")
  eq(compute.old, 2)
  eq(compute.new, 4)
  eq(read:first "invalid".write, read:first "write".number)
  assert(read:first "task" and read:first "taskend")
  assert(read:first "timer" and read:first "timerend")
  assert(read:first "stop")
end)

check("D4: values are short, whole, or not recorded, and keys can be hidden", function()
  local long = ("x"):rep(100)
  local function value_of(options, value, key)
    local t = {}
    local watcher = obs.observe(t, "*", function() end)
    local read = record(options, function() t[key or "k"] = value end)
    watcher:stop()
    return read:first "write".new
  end
  eq(value_of(nil, long), ("x"):rep(60) .. "…")
  eq(value_of({ values = "all" }, long), long)
  eq(value_of({ values = false }, 1), recordings.unknown)
  eq(value_of({ hide = { "password" } }, "secret", "password"), recordings.hidden)
  eq(value_of({ hide = { "password" } }, "open", "name"), "open")
  eq(value_of(nil, 0 / 0), recordings.nan)
  eq(value_of(nil, -1 / 0), -1 / 0)
  eq(value_of(nil, 1.5), 1.5)
  eq(value_of(nil, "\"\\\n\0\127é"), "\"\\\n\0\127é")
  eq(value_of(nil, "\xff\xfe!"), "\xff\xfe!")
end)

check("D4: values of computed properties and equal writes are hidden, too", function()
  local t = { a = 1 }
  obs.computed(t, "secret", { "a" }, function(self) return self.a * 1111 end)
  obs.computed(t, "open", { "a" }, function(self) return self.a end)
  local watcher = obs.observe(t, { "secret", "open" }, function() end)
  local read = record({ hide = { x = "secret" } }, function()
    t.a = 2
    t.secret = 7777
    obs.flush()
    t.a = 3
  end)
  for _, compute in ipairs(read:all "compute") do
    local isHidden = compute.name == "secret"
    eq(compute.new == recordings.hidden, isHidden)
    eq(compute.old == recordings.hidden, isHidden)
  end
  assert(not read.text:find "7777" and not read.text:find "2222" and not read.text:find "3333")
  watcher:stop()
end)
check("an error has one line", function()
  local t = { n = 0 }
  local watcher = obs.observe(t, "n", function() error "once" end)
  obs.on_error(function() end)
  local read = record(nil, function() t.n = 1 end)
  obs.on_error(nil)
  eq(#read:all "error", 1)
  watcher:stop()
end)
check("D3: the state can be rebuilt from a recording, whatever the program did", function()
  for seed = 1, tonumber(os.getenv "OBS_SEEDS") or 60 do
    local random = recordings.random(seed)
    local root = { list = {}, map = {}, array = obs.array {}, n = 0 }
    local watcher = obs.observe(root, "**", function() end)
    local function object()
      local kind = random(4)
      if kind == 1 then return { n = random(9) } end
      if kind == 2 then return { random(9), random(9) } end
      if kind == 3 then return obs.array { random(9) } end
      return { inner = { random(9) } }
    end
    local function value() return random(3) == 1 and object() or random(5) end
    local read = record(nil, function()
      for _ = 1, 40 do
        local list = random(2) == 1 and root.list or root.array
        local choice = random(12)
        if choice == 1 then
          table.insert(list, random(#list + 1), value())
        elseif choice == 2 and #list > 0 then
          table.remove(list, random(#list))
        elseif choice == 3 then
          root.map["k" .. random(4)] = random(3) > 1 and value() or nil
        elseif choice == 4 and #list > 0 then
          list[random(#list)] = value()
        elseif choice == 5 then
          root.list = object()
        elseif choice == 6 then
          root.array:append(value())
        elseif choice == 7 and #root.array > 1 then
          root.array:move(random(#root.array), random(#root.array))
        elseif choice == 8 then
          root.array:sort(function(a, b)
            return (tonumber(a) or 10) < (tonumber(b) or 10)
          end)
        elseif choice == 9 and #root.array > 1 then
          root.array:swap(random(#root.array), random(#root.array))
        elseif choice == 10 then
          if random(8) == 1 then root.array:clear() end
        elseif choice == 11 then
          obs.flush()
        else
          root.n = random(9)
        end
      end
    end)
    local rebuilt = read:state(obs.describe(root):match "#(%d+)")
    local same, where = recordings.same(rebuilt, root)
    assert(same, "seed " .. seed .. " differs at " .. tostring(where))
    watcher:stop()
  end
end)

check("bad input of start_recording is an error that names it", function()
  fails("file name expected, got no value", function() obs.start_recording() end)
  fails("unknown option 'value' %(did you mean 'values'%?%)", function()
    obs.start_recording("x", { value = 1 })
  end)
  fails("option 'values' takes true, false or \"all\", not \"some\"", function()
    obs.start_recording("x", { values = "some" })
  end)
  fails("option 'last' takes a number of turns, not 0", function()
    obs.start_recording("x", { last = 0 })
  end)
  fails("option 'last' takes a number of turns, not inf", function()
    obs.start_recording("x", { last = math.huge })
  end)
  fails("option 'hide' takes a list of keys, not of numbers", function()
    obs.start_recording("x", { hide = { 1 } })
  end)
  local recording, message = obs.start_recording "/nonexistent/file"
  eq(recording, nil)
  eq(message, "cannot record to '/nonexistent/file': No such file or directory")
  local path = os.tmpname()
  local file = io.open(path, "w")
  file:write "precious"
  file:close()
  recording, message = obs.start_recording(path)
  eq(recording, nil)
  eq(message, "cannot record to '" .. path .. "': the file exists, and is not a recording")
  eq(io.open(path):read "a", "precious")
  os.remove(path)
end)

check("D4: recordings at the same time hide what one of them hides", function()
  local t = {}
  local watcher = obs.observe(t, "*", function() end)
  local second
  local first = record(nil, function()
    t.open = 1
    second = record({ hide = { "password" } }, function() t.password = "secret" end)
  end)
  eq(first:first("write").new, 1)
  eq(first:all("write")[2].new, recordings.hidden)
  eq(second:first("write").new, recordings.hidden)
  watcher:stop()
end)
check("two recordings can run at the same time, and each ends by itself", function()
  local t = { n = 1 }
  local watcher = obs.observe(t, "n", function() end)
  local second
  local first = record(nil, function(recording)
    assert(recording:is_active())
    second = record(nil, function() t.n = 2 end)
    assert(recording:is_active())
    t.n = 3
  end)
  eq(#second:all "write", 1)
  eq(#first:all "write", 2)
  watcher:stop()
end)
finish()
