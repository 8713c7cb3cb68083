-- Writes pages of the documentation into the folder where they are installed, beside the examples:
-- obs-lua Installation/pages.lua DOCUMENTATION FOLDER PAGE …
--
-- Links to files that are not installed become plain text.

local documentation, folder = arg[1], arg[2]

local is_installed = {}
for i = 3, #arg do is_installed[arg[i]] = true end

local function replaced(text, target)
  local definitions = target:match "^%.%./Scripts/Definitions/(.+)$"
  if definitions then return ("[%s](../../obs-lua/definitions/%s)"):format(text, definitions) end
  local example = target:match "^%.%./Scripts/Examples(.*)$"
  if example then return ("[%s](examples%s)"):format(text, example) end
  local page = target:match "^([%w/-]+)%.md"
  if page and is_installed[page] then return nil end
  if page or target:find "^%.%./" then return text end
  return nil
end

for i = 3, #arg do
  local name = arg[i] .. ".md"
  local source <close> = assert(io.open(documentation .. "/" .. name))
  local page <close> = assert(io.open(folder .. "/" .. name, "w"))
  assert(page:write((source:read("a"):gsub("%[([^%]]*)%]%(([^%s()]+)%)", replaced))))
end
