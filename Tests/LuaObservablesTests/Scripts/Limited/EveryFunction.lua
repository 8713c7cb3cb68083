-- S3: everything that the functions of `obs` leave behind is garbage and is collected in time:
-- memory stays constant over any number of turns.
--
--   obs-lua --max-memory=16M EveryFunction.lua [turns [size [name]]]
--
-- Calls each function, or only `name`, once in each of `turns` turns, with inputs of the given
-- size. Fails if memory runs out, or if a function has no call in `calls.lua`. With a name, the
-- process is assumed to run nothing else: on Linux, its resident memory must not keep growing.
local obs = require "obs"
local calls = dofile(arg[0]:match "^.*/" .. "../Support/calls.lua")
local turns = tonumber(arg[1]) or 400
local size = tonumber(arg[2]) or 20
local names = arg[3] and {arg[3]} or calls.names()
assert(calls.calls[names[1]], "unknown function: " .. names[1])

-- Bytes of resident memory, or 0 if the system does not report them.
local function resident()
  local file = io.open "/proc/self/statm"
  if not file then return 0 end
  local pages = file:read("a"):match "^%d+ (%d+)"
  file:close()
  return pages * 4096
end

local position, turn = 1, 0
local before = 0

-- One call can leave more memory before the next one than the first calls leave.
local settled, slack = turns // 4, 8 << 20

local function next_turn()
  local name = names[position]
  turn = turn + 1
  local ok, message = pcall(calls.calls[name], size)
  if not ok then
    assert(calls.kept[name] and message:find "not enough memory", name .. ": " .. tostring(message))
    turn = turns
  end
  if turn == settled then before = resident() end
  if turn >= turns then
    if arg[3] then
      local grown = resident() - before
      assert(calls.kept[name] or grown < slack, ("%s: %d bytes more"):format(name, grown))
      print(("%s: %d turns, %d bytes more"):format(name, turns, grown))
    end
    position, turn = position + 1, 0
    if not names[position] then return end
  end
  obs.next_turn(next_turn)
end

next_turn()
