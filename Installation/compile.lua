-- Writes a source in C with the bytecode of the files in Lua that CScripts/scripts.c lists:
-- lua5.4 compile.lua ROOT > compiled.c
local root = arg[1]
local put = io.write

local walk = assert(loadfile(root .. "/Sources/obs-lua/Testing/coverage.lua"))

-- Leaves out the names of variables, because scripts never see them and the program then starts
-- faster. Lines stay, because they distinguish errors in this code from errors in scripts.
local function without_names(code)
  local _, names = walk(nil, code)
  local kept, start = {}, 1
  for _, list in ipairs(names) do
    -- An empty list takes its place.
    kept[#kept + 1] = code:sub(start, list[1] - 1) .. "\x80"
    start = list[2] + 1
  end
  return table.concat(kept) .. code:sub(start)
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
