-- H3: chunks that put their module's table in random places. After each reload, every place leads
-- to the same table as before, with the contents of the newest chunk.
local obs = require "obs"
local reloads = {}

local NAME = "a reloaded module"
local loader

-- The module is whatever `loader` returns.
table.insert(package.searchers, 1, function(name)
  return name == NAME and function() return loader() end or nil
end)

-- Each place keeps the table `M` under a number, and returns a function that finds it there.
local places = {
  {"a global", function(M, n)
    _G["G" .. n] = M
    return function() return _G["G" .. n] end
  end},
  {"a global function", function(M, n)
    _G["F" .. n] = function() return M end
    return function() return _G["F" .. n]() end
  end},
  {"below a global table", function(M, n)
    _G["T" .. n] = {below = {M}}
    return function() return _G["T" .. n].below[1] end
  end},
  {"a function in a state", function(M, n)
    obs.state("s" .. n).f = function() return M.self() end
    return function() return obs.state("s" .. n).f() end
  end},
  {"a loaded module", function(M, n)
    package.loaded["p" .. n] = {m = M}
    return function() return package.loaded["p" .. n].m end
  end},
  {"a coroutine", function(M, n, keeper)
    local thread = coroutine.wrap(function() while true do coroutine.yield(M) end end)
    keeper["c" .. n] = thread
    return thread
  end},
  {"a metatable", function(M, n, keeper)
    keeper[n] = setmetatable({}, {__index = M, __call = function() return M end})
    return function() return keeper[n]() end
  end},
}

-- A program is a list of chunks, each a list of {place, number}.
function reloads.program(seed)
  math.randomseed(seed)
  local program = {}
  for i = 1, 7 do
    program[i] = {}
    for k = 1, math.random(4) do program[i][k] = {math.random(#places), math.random(3)} end
  end
  return program
end

-- nil, or the difference.
function reloads.check(program)
  local ways, keeper = {}, {}
  local function load_chunk(version)
    loader = function()
      local M = {version = version, fresh = {n = version}}
      function M.self() return M end
      for _, place in ipairs(program[version]) do
        ways[#ways + 1] = {places[place[1]][1], places[place[1]][2](M, place[2], keeper)}
      end
      return M
    end
    if version > 1 then return obs.reload(NAME) end
    package.loaded[NAME] = nil
    return require(NAME)
  end
  local ok, message = pcall(function()
    local m, fresh
    for version = 1, #program do
      local loaded, problem = load_chunk(version)
      assert(loaded, problem)
      m = m or loaded
      fresh = fresh or m.fresh
      for i, way in ipairs(ways) do
        local found = way[2]()
        assert(found == m and found.version == version and found.fresh == fresh, way[1])
        found.written = i
        assert(m.written == i and m.fresh.n == version, way[1])
      end
    end
  end)
  for n = 1, 3 do
    _G["G" .. n], _G["F" .. n], _G["T" .. n], package.loaded["p" .. n] = nil, nil, nil, nil
    obs.state("s" .. n).f = nil
  end
  return not ok and tostring(message) or nil
end

-- Shorter: without chunks and without their last places.
function reloads.shrunk(program)
  local function without(list, i)
    local shorter = table.move(list, 1, #list, 1, {})
    table.remove(shorter, i)
    return shorter
  end
  local is_shorter
  repeat
    is_shorter = false
    for i = #program, 1, -1 do
      local candidates = {without(program, i)}
      for k = 1, #program[i] do
        local shorter = table.move(program, 1, #program, 1, {})
        shorter[i] = without(program[i], k)
        candidates[#candidates + 1] = shorter
      end
      for _, shorter in ipairs(candidates) do
        if not is_shorter and #shorter > 0 and reloads.check(shorter) then
          program, is_shorter = shorter, true
        end
      end
    end
  until not is_shorter
  return program
end

function reloads.text(program)
  local lines = {}
  for i, chunk in ipairs(program) do
    local texts = {}
    for k, place in ipairs(chunk) do texts[k] = places[place[1]][1] .. " " .. place[2] end
    lines[i] = "chunk " .. i .. ": " .. table.concat(texts, ", ")
  end
  return table.concat(lines, "\n")
end

return reloads
