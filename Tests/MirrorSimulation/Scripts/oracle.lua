-- The processes of `Simulation`, and the contents that their trees must have. These follow from
-- what each turn has done to the named part, and from the order of the batches on the server
-- (A2–A4).
local replica, script = ...
local obs = require "obs"

oracle = {}

-- Each turn writes a text into the tree. `turns` has the effects of a turn by its text, `texts` the
-- texts of each process, and `may_lack` tells whether a text may be missing in the stream.
local turns, texts, may_lack = {}, {}, {}
local processes = {}

local function note(process, text, done)
  turns[text], texts[process] = done, texts[process] or {}
  -- A batch with `check` is refused if it was made before other batches arrived, and a mirror that
  -- has failed takes no writes.
  may_lack[text] = processes[process].checks or processes[process].mirror.failure
  table.insert(texts[process], text)
  return text
end

--- Notes a turn; returns a text that its batch must have.
function oracle.note_turn(process, done)
  return note(process, ("<%d.%d>"):format(process, #(texts[process] or {}) + 1), done)
end

--- Notes a turn that only adds a number; returns the number, whose bytes its batch has.
function oracle.note_sum(process)
  local amount = (process << 20) + #(texts[process] or {}) + 1
  note(process, string.pack("<Bi8", 3, amount), { { "sum", amount } })
  return amount
end

local last_name = 0

--- A name that no other element has.
function oracle.new_name(process)
  last_name = last_name + 1
  return ("e%d-%d"):format(process, last_name)
end

local function sorted(map, show)
  local parts = {}
  for key, value in pairs(map) do parts[#parts + 1] = show(key, value) end
  table.sort(parts)
  return table.concat(parts, " ")
end

--- The text of a named part: each element with its list and its field, the values, and the sum.
function oracle.text(found)
  return sorted(found.places, function(name, place)
    return ("%s in %d with %s"):format(name, place, tostring(found.fields[name]))
  end) .. " | " .. sorted(found.values, function(key, value) return key .. "=" .. value end)
    .. " | " .. found.sum
end

function oracle.counts_text(counts)
  return sorted(counts, function(value, count) return value .. "=" .. count end)
end

local make = {
  remove = function(tree, name, from)
    if tree.places[name] == from then tree.places[name], tree.fields[name] = nil, nil end
  end,
  move = function(tree, name, from, to)
    if tree.places[name] == from then tree.places[name] = to end
  end,
  insert = function(tree, name, to, field)
    tree.places[name], tree.fields[name] = to, field
  end,
  field = function(tree, name, value)
    if tree.places[name] then tree.fields[name] = value end
  end,
  value = function(tree, key, value) tree.values[key] = value end,
  -- Of values in lists, only the least number is known.
  less = function(tree, value, count) tree.counts[value] = (tree.counts[value] or 0) - count end,
  sum = function(tree, amount) tree.sum = tree.sum + amount end,
  assign = function(tree, sum) tree.sum = sum end,
}

-- The named part when the tree was published.
local base = { places = {}, fields = {}, values = {}, counts = { 2, 2, 1, 1 }, sum = 0 }

--- Returns the expected text of the named part, the least number of each value in the last list,
--- and the problems of the batches.
function oracle.fold(...)
  local tree, found, problems = base, {}, {}
  for version = 1, select("#", ...) do
    local batch = select(version, ...)
    local text = batch:match "<%d+%.%d+>"
    if not text then
      for other in pairs(turns) do
        if #other == 9 and batch:find(other, 1, true) then text = other end
      end
    end
    if text then
      if found[text] then problems[#problems + 1] = ("%q was made twice"):format(text) end
      found[text] = version
      for _, done in ipairs(turns[text] or {}) do make[done[1]](tree, table.unpack(done, 2, 4)) end
    end
  end
  for _, texts in pairs(texts) do
    local last = 0
    for _, text in ipairs(texts) do
      if not found[text] and not may_lack[text] then
        problems[#problems + 1] = ("%q is lost"):format(text)
      elseif (found[text] or last) < last then
        problems[#problems + 1] = ("%q was made too early"):format(text)
      end
      last = found[text] or last
    end
  end
  return oracle.text(tree), oracle.counts_text(tree.counts), table.concat(problems, "; ")
end

-- The processes ---------------------------------------------------------------------------------

--- Starts a process, whose globals are its own.
function start(process, options, more)
  local env = setmetatable({}, { __index = _G })
  processes[process], env.checks, env.options = env, options.check or nil, options
  options.root = {
    a = { 1, 2, 3 }, b = { n = 0 }, sum = 0, tag = "", values = {},
    lists = { {}, {}, obs.array {}, { 1, 2, 3, 4, 1, 2 } },
  }
  assert(load(replica, "=replica.lua", "t", env))("tree", options.url, options)
  assert(load(script, "=process.lua", "t", env))(process, more)
  env.first = #(texts[process] or {}) + 1
end

--- Stops a process. Batches that it has not sent are lost, unless it has a journal that the server
--- can continue.
function stop(process, has_journal)
  local env, texts = processes[process], texts[process] or {}
  local first = env.first
  if env.mirror.state ~= "connecting" and not env.mirror.failure then
    first = has_journal and #texts + 1 or math.max(first, #texts + 1 - env.mirror.pending)
  end
  for i = first, #texts do may_lack[texts[i]] = true end
  env.mirror:stop()
  processes[process] = nil
end

--- Starts a new mirror for the tree of a process whose mirror has failed; it publishes the tree if
--- the server has none (`is_published` is false). Returns false if no mirror has failed.
function mirror_again(is_published)
  for process, env in pairs(processes) do
    if env.mirror.failure then
      for _, text in ipairs(texts[process] or {}) do may_lack[text] = true end
      if not is_published then base = env.census() end
      env.mirror:stop()
      if env.options.journal then os.remove(env.options.journal) end
      env.mirror = obs.mirror(env.root, "tree", env.options)
      return true
    end
  end
  return false
end

--- Notes that the server has lost batches.
function lose(...)
  for _, batch in ipairs { ... } do
    for text in pairs(turns) do
      if batch:find(text, 1, true) then may_lack[text] = true end
    end
  end
end

--- Calls a function of a process.
function call(process, name, ...) return processes[process][name](...) end

--- Whether all processes have the version of the server, and everything is acknowledged, except
--- where a mirror has failed.
function is_quiet(version)
  for _, env in pairs(processes) do
    local state, pending, own_version = env.status()
    local is_equal = state == "live" and pending == 0 and own_version == version
    if not is_equal and state ~= "failed" then return false end
  end
  return true
end

--- Compares all trees with the batches of the server; the result is empty if they agree.
function verdict(...)
  local named, least, problem = oracle.fold(...)
  local dump
  for process, env in pairs(processes) do
    dump = dump or env.dump()
    local found = {}
    for value, count in env.counts():gmatch "(%d+)=(%d+)" do found[value] = tonumber(count) end
    for value, count in least:gmatch "(%d+)=(%d+)" do
      if (found[value] or 0) < tonumber(count) then
        problem = problem .. ("\n%d lacks a %s: %s"):format(process, value, env.counts())
      end
    end
    if env.dump() ~= dump then
      problem = problem .. ("\n%d has %s\nand others have %s"):format(process, env.dump(), dump)
    end
    if env.named() ~= named then
      problem = problem .. ("\n%d has %s\n and not %s"):format(process, env.named(), named)
    end
    if env.mirror.failure then
      problem = problem .. ("\n%d has failed: %s"):format(process, env.mirror.failure)
    end
    local wrong = env.wrong()
    if wrong ~= "" then problem = problem .. ("\n%d: %s"):format(process, wrong) end
  end
  return problem
end

--- The memory of all processes without garbage.
function size()
  collectgarbage()
  collectgarbage()
  return collectgarbage "count" * 1024 // 1 | 0
end

--- The states of all processes, for messages.
function states()
  local texts = {}
  for process, env in pairs(processes) do
    texts[#texts + 1] = process .. ": " .. table.concat({ env.status() }, " ")
  end
  return table.concat(texts, ", ")
end
