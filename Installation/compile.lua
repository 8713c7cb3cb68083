-- Writes a source in C with the bytecode of the files in Lua that CScripts/scripts.c lists:
-- lua5.4 compile.lua ROOT > compiled.c
local root = arg[1]
local put = io.write

-- Leaves out the names of variables, because scripts never see them and the program then starts
-- faster. Lines stay, because they distinguish errors in this code from errors in scripts.
-- Everything else in a function is copied unchanged.
local function without_names(code)
  local place, kept, start = 1, {}, 1
  local function number()
    local value, byte = 0, nil
    repeat
      byte, place = code:byte(place), place + 1
      value = value << 7 | byte & 0x7f
    until byte & 0x80 ~= 0
    return value
  end
  local function skip(bytes) place = place + bytes end
  local function text() skip(math.max(number() - 1, 0)) end
  local function each(body) for _ = 1, number() do body() end end
  local function constant()
    local kind = code:byte(place)
    skip(1)
    if kind == 0x03 or kind == 0x13 then skip(8) elseif kind & 0x0f == 0x04 then text() end
  end
  local function pair() number() number() end
  local function name() text() pair() end
  -- Writes an empty list in place of this one.
  local function drop_list(body)
    kept[#kept + 1] = code:sub(start, place - 1) .. "\x80"
    each(body)
    start = place
  end
  local function func()
    text()
    pair()
    skip(3)
    skip(4 * number())
    each(constant)
    skip(3 * number())
    each(func)
    skip(number())
    each(pair)
    drop_list(name)
    drop_list(text)
  end
  -- The header, and the number of upvalues.
  skip(32)
  func()
  assert(place == #code + 1, "the bytecode of this release of Lua has another form")
  return table.concat(kept)
end

put [[
#include "cscripts.h"
#include "clua.h"

static const cscripts_chunk chunks[] = {
]]
local file = assert(io.open(root .. "/CScripts/scripts.c"))
local count = 0
local entry = '{"(%w+)", "(=[^"]*)", 0, [^\n]*\n#embed "([^"]+)"'
for name, source, path in file:read "a":gmatch(entry) do
  local text = assert(io.open(root .. "/CScripts/" .. path)):read "a"
  local code = without_names(string.dump(assert(load(text, source))))
  put(('  {"%s", "%s", %d, "'):format(name, source, #code))
  put((code:gsub(".", function(byte) return ("\\%03o"):format(byte:byte()) end)))
  put "\"},\n"
  count = count + 1
end
assert(count > 0, "CScripts/scripts.c lists no file")
put [[
  {0},
};

const cscripts_compiled obs_lua_compiled = {LUA_COPYRIGHT, chunks};
]]
