local lfs, show = require "lfs", require "show"

local folder = arg[1]
assert(lfs.mkdir(folder .. "/sub"))
for _, name in ipairs { "one", "two" } do
  local file <close> = assert(io.open(folder .. "/" .. name, "w"))
  file:write(name)
end

local into = O { mode = "before", size = -1, other = "stays" }
local returned = assert(lfs.attributes(folder .. "/one", into))
show("into a table", returned == into, into.mode, into.size, into.nlink, into.other)
show("other keys", type(into.modification), type(into.permissions), into.blksize ~= nil)
lfs.attributes(folder .. "/sub", into)
show("again", into.mode, into.other)
local keys = {}
for key in pairs(into) do keys[#keys + 1] = key end
table.sort(keys)
show("keys", keys)
local empty = O {}
lfs.attributes(folder .. "/two", empty)
show("into an empty one", empty.mode, empty.size, next(empty) ~= nil)
local names = O {}
for name in lfs.dir(folder) do if not name:find("^%.") then names[#names + 1] = name end end
table.sort(names)
show("folder", names)
local is_touched = lfs.touch(folder .. "/one", 1000, 2000)
show("times", is_touched, lfs.attributes(folder .. "/one").modification)
