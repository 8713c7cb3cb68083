-- Writes a source in C with the bytecode of the files in Lua that CScripts/scripts.c lists:
-- lua5.4 compile.lua ROOT > compiled.c
local root = arg[1]
local put = io.write

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
  local code = string.dump(assert(load(text, source)))
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
