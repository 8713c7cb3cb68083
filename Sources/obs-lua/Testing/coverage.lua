-- Returns the lines of a Lua file that can run. The library only tells the lines of functions that
-- exist, so this reads the compiled chunk, in the format of Lua 5.4. Call it with a
-- path, or with nil and bytecode. The second result lists where the names of variables are in the
-- bytecode: { first byte, last byte }.
local path, code = ...
code = code or string.dump(assert(loadfile(path)))
-- The position after the header and the number of upvalues.
local at = 33

local function byte()
  at = at + 1
  return code:byte(at - 1)
end

local function number()
  local value = 0
  repeat
    local bits = byte()
    value = value << 7 | bits & 0x7f
  until bits & 0x80 ~= 0
  return value
end

local function skip(count) at = at + count end

local function skip_text() skip(math.max(number() - 1, 0)) end

local INTEGER, FLOAT, SHORT_TEXT, LONG_TEXT = 3, 19, 4, 20

local function skip_constant()
  local kind = byte()
  if kind == INTEGER or kind == FLOAT then skip(8) end
  if kind == SHORT_TEXT or kind == LONG_TEXT then skip_text() end
end

local is_line, names = {}, {}

-- Skips a list of variables, with their names.
local function skip_names(skip_rest)
  local first = at
  for _ = 1, number() do
    skip_text()
    if skip_rest then skip_rest() end
  end
  names[#names + 1] = { first, at - 1 }
end

local function skip_scope()
  number()
  number()
end

local function read_function()
  skip_text()
  local line = number()
  number()
  byte()
  local first = byte() == 0 and 0 or 1  -- the first instruction only prepares `...`
  byte()
  skip(4 * number())
  for _ = 1, number() do skip_constant() end
  skip(3 * number())
  for _ = 1, number() do read_function() end
  local count = number()
  local steps = at
  skip(count)
  local lines = {}
  for _ = 1, number() do
    local instruction = number()
    lines[instruction] = number()
  end
  -- The last instruction is the return at `end`, which may never run.
  for instruction = 0, count - 2 do
    local step = string.unpack("b", code, steps + instruction)
    line = lines[instruction] or line + step
    if instruction >= first then is_line[line] = true end
  end
  skip_names(skip_scope)
  skip_names()
end

read_function()
assert(at == #code + 1, "the bytecode of this release of Lua has another form")
local found = {}
for line in pairs(is_line) do found[#found + 1] = line end
table.sort(found)
return found, names
