-- The operations of `instructions.lua` with the signals of another library, for
-- `Scripts/instructions --peer FOLDER`, the folder of alien-signals-lua.
--
--   obs-lua peer.lua folder operation count
package.path = arg[1] .. "/?.lua;" .. arg[1] .. "/?/init.lua;" .. package.path
local signals = require "alien-signals"
local signal, computed, effect = signals.signal, signals.computed, signals.effect

local keep = {}

local function keeping(operation)
  return function(n)
    collectgarbage "stop"
    operation(n)
    collectgarbage()
  end
end

local operations = {}

operations.observe = keeping(function(n)
  for i = 1, n do
    local v = signal(i)
    keep[i] = { v, effect(function() v() end) }
  end
end)

function operations.deliver(n)
  local v = signal(0)
  effect(function() v() end)
  for i = 1, n do v(i) end
end

function operations.register(n)
  local v = signal(0)
  effect(function() v() end)
  for _ = 1, n do effect(function() v() end)() end
end

function operations.replace(n)
  local a = signal { b = signal { c = signal(0) } }
  effect(function() a().b().c() end)
  for i = 1, n do a { b = signal { c = signal(i) } } end
end

function operations.chain(n)
  local first = signal(0)
  local last = first
  for _ = 1, 100 do
    local source = last
    last = computed(function() return source() + 1 end)
  end
  effect(function() last() end)
  for i = 1, n do first(i) end
end

operations.computed = keeping(function(n)
  for i = 1, n do
    local v = signal(i)
    local w = computed(function() return v() + 1 end)
    assert(w() == i + 1)
    keep[i] = { v, w }
  end
end)
operations.instance = operations.computed

collectgarbage()
operations[arg[2]](math.tointeger(arg[3]))
os.exit(true, false)
