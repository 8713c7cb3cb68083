-- Damages a recording at random, COUNT times, and reads each one:
-- PROGRAM damage.lua PROGRAM RECORDING FIRST COUNT
--
-- Prints each seed with which the program crashes, hangs, shows the secret, or writes a file.
-- Run it in a folder with a file `secret`, whose text no output may have, and a FIFO `fifo`.
local program, recording, first, count = arg[1], arg[2], tonumber(arg[3]), tonumber(arg[4])

local function read(name)
  local file <close> = io.open(name, "rb")
  return file and file:read "a" or ""
end

local original = {}
for line in io.lines(recording) do original[#original + 1] = line end

local secret = read("secret"):match "%S+"
local random = math.random
io.stdout:setvbuf "line"

local function any(list) return list[random(#list)] end

local numbers = {
  "-1", "0", "1", "255", "256", "2147483647", "-2147483648", "4294967296", "9223372036854775807",
  "-9223372036854775808", "99999999999999999999", "1e308", "0.5", "null", "true",
}
local texts = {
  '""', '"secret"', '"secret:1"', '"fifo"', '"fifo:1"', '"/proc/self/environ:1"', '"/dev/tty:1"',
  '"#1"', '"#99"', '"\\u0000"', '"\\ud800"', '"\\u00"', '"\\', '{"b":"////"}', '{"b":"="}', "[]",
  '"../../secret"', '"' .. ("x"):rep(70000) .. '"', ("["):rep(500), '{"o":"200000000000","t":"x"}',
}
local lines_to_add = {
  '["input","fopen","secret",5]',
  '["input","text","secret",1,0,5]', '["input","dlopen","secret",1]', '["cannot","\\u001b[2J"]',
  '["input","popen","cat secret",5]', '["input","setlocale","6 ",0,0,"../../secret"]',
}
local words = {
  '"--record=stolen"', '"--report=stolen"', '"--coverage=stolen"', '"-i"', '"-lsecret"', '"secret"',
  '"-e os.exit(0)"', '"-"', '"fifo"', '"--sandbox=/"', '"--sandbox=strict"', '"--inspect"', '"-W"',
}

-- Replaces one of the places that match a pattern.
local function replace_one(line, pattern, replacement)
  local places, at = {}, 1
  while true do
    local from, to = line:find(pattern, at)
    if not from then break end
    places[#places + 1] = { from, to }
    at = to + 1
  end
  if #places == 0 then return line end
  local from, to = table.unpack(any(places))
  return line:sub(1, from - 1) .. replacement .. line:sub(to + 1)
end

local damages = {
  function(lines, i) lines[i] = replace_one(lines[i], "%f[%d%-]%-?%d+", any(numbers)) end,
  function(lines, i) lines[i] = replace_one(lines[i], '"[^"\\]*"', any(texts)) end,
  function(lines, i) lines[i] = lines[i]:sub(1, random(#lines[i])) end,
  function(lines, i) table.remove(lines, i) end,
  function(lines, i) table.insert(lines, i, any(lines)) end,
  function(lines, i) lines[i] = any(lines) end,
  function(lines, i) table.insert(lines, i, any(lines_to_add)) end,
  function(lines, i)
    local at = random(#lines[i])
    lines[i] = lines[i]:sub(1, at - 1) .. string.char(random(0, 255)) .. lines[i]:sub(at + 1)
  end,
  -- The kind of another line, with the values of this one.
  function(lines, i)
    local kind = any(lines):match '^%["input","%l+"' or any(lines):match '^%["%l+"'
    if kind then lines[i] = lines[i]:gsub('^%["%l+"', function() return kind end) end
  end,
  function(lines)
    local command = '"command":["x",' .. any(words) .. ","
    lines[1] = replace_one(lines[1], '"command":%[', command)
  end,
}

local function damaged()
  local lines = table.move(original, 1, #original, 1, {})
  for _ = 1, random(3) do
    -- The first line says most.
    local i = random(8) == 1 and 1 or random(#lines)
    any(damages)(lines, i)
    if #lines == 0 then lines[1] = "" end
  end
  table.move({ '["text",998,"secret:1"]', '["text",999,"fifo:1"]' }, 1, 2, #lines + 1, lines)
  return table.concat(lines, "\n") .. (random(9) > 1 and "\n" or "")
end

local readers = {
  "--report=page.html damaged", "--trace=trace.json damaged", "--replay=damaged",
  "--replay=damaged --until=3", "--replay=damaged --bisect='#tostring(t.n) > 0'",
  "--replay=damaged --trust",
}

for seed = first, first + count - 1 do
  math.randomseed(seed)
  local file <close> = io.open("damaged", "wb")
  file:write(damaged()):close()
  for i, reader in ipairs(readers) do
    -- Both pages, and one of the replays.
    if i < 3 or i % 4 == seed % 4 then
      os.remove "page.html"
      os.remove "trace.json"
      local _, how, status = os.execute(
        ("exec timeout 60 %s %s >out 2>err </dev/null"):format(program, reader))
      local shown = read "out" .. read "err" .. read "page.html" .. read "trace.json"
      local fault = how == "signal" and "ended by signal " .. status
        or status == 124 and "did not end"
        or shown:find(secret, 1, true) and "shows a file of this machine"
        or read "stolen" ~= "" and "wrote a file"
      if fault then print(("seed %d, %s: %s"):format(seed, reader, fault)) end
    end
  end
end
