-- Writes a source in C with the bytecode of the files in Lua that CScripts/scripts.c lists:
-- lua5.4 compile.lua ROOT > compiled.c
local root = arg[1]
local put = io.write

-- Leaves out the lines and the names of variables, because scripts never see them and the program
-- then starts faster. The name of the source is needed, so it is put back behind the header and the
-- number of upvalues.
local function compile(text, source)
  local code = string.dump(assert(load(text, source)), true)
  local header = 32
  -- A length is stored plus one; this bit marks its last byte.
  assert(code:byte(header + 1) == 0x80, "the bytecode of this release of Lua has another form")
  return code:sub(1, header) .. string.char(0x80 | #source + 1) .. source .. code:sub(header + 2)
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
  local code = compile(text, source)
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
