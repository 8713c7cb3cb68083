-- A failed transaction leaves no trace (S8): a random program has the same log with and without
-- such transactions.
--
--   obs-lua RandomUndone.lua [first seed [count]]
--
-- A program that differs is shortened as far as possible, and shown with both logs.
local obs = require "obs"

local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local programs = dofile(folder .. "Support/programs.lua")
local generate = dofile(folder .. "Model/generate.lua")
local worlds = dofile(folder .. "Model/world.lua")
local shrink = dofile(folder .. "Model/shrink.lua")

-- Operations whose effects remain visible, or may: immediate calls, validity, and writes to
-- inherited objects, which are not below the roots.
local TELLS = { valid = true, trigger = true, later = true, inherit = true }

local function tells(n)
  -- A new copy is another object.
  return TELLS[n.operation] or n.operation == "declare" and n.what == "copy_of"
end

local function without_tellers(statements)
  local kept = {}
  for _, n in ipairs(statements) do
    if not tells(n) then
      kept[#kept + 1] = n
      if n.body then n.body = without_tellers(n.body) end
      local options = n.options or {}
      for i = #options, 1, -1 do
        if options[i] == "immediate = true" then table.remove(options, i) end
      end
    end
  end
  return kept
end

local function program_of(seed)
  local program = without_tellers(generate.program(seed))
  local made = 0
  for i, n in ipairs(program) do if n.operation == "make" then made = i end end
  for _ = 1, math.random(2) do
    table.insert(program, math.random(made + 1, #program + 1), generate.failing_transaction())
  end
  return program
end

local function texts_of(program, has_transactions)
  local texts = generate.texts(program)
  for i, n in ipairs(program) do
    if n.operation == "transaction" and not has_transactions then texts[i] = "local _ = nil" end
  end
  return texts
end

-- Removes from a log the events inside of transactions, and events that depend on the time when
-- paths are followed.
local function without_insides(world, program)
  local log, is_inside = {}, false
  for _, line in ipairs(world.log) do
    if type(line) == "string" then
      local number = line:match "^%-%- (%d+)$"
      if number then
        is_inside = program[tonumber(number)].operation == "transaction"
      elseif line == "turn" or line == "collect" or line == "end" then
        is_inside = false
      end
      if not is_inside then log[#log + 1] = line end
    elseif not is_inside and not line.failures and line.text ~= "observed" then
      if line.ids then line.open = {} end
      log[#log + 1] = line
    end
  end
  world.log = log
  return world
end

-- Calls `done` with the difference, or false.
local function compare(program, done)
  worlds.real(texts_of(program, true), "stopped", function(with)
    obs.next_turn(function()
      worlds.real(texts_of(program, false), "stopped", function(without)
        done(worlds.difference(without_insides(with, program), without_insides(without, program))
          or false)
      end)
    end)
  end)
end

local function difference(program)
  return programs.await(function(done) compare(program, done) end)
end

local function is_whole(program)
  local made = 0
  for _, n in ipairs(program) do if n.operation == "make" then made = made + 1 end end
  return made == 10
end

programs.in_turns(function()
  local first, last = programs.named_seeds(1000)
  for seed = first, last do
    local program = program_of(seed)
    if difference(program) then
      program = shrink(program, function(shorter)
        return is_whole(shorter) and difference(shorter)
      end)
      error(("seed %d\n%s\n%s"):format(
        seed, table.concat(texts_of(program, true), "\n"), difference(program)), 0)
    end
    if seed % 20 == 0 then collectgarbage() end
  end
end)
