-- The cases of collections, with each kind: tables in place, `obs.array` and its relatives, Swift
-- collections used by scripts, and Swift arrays that Swift code changes and observes.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local running = dofile(folder .. "Support/running.lua")

local cases = {
  [{ "slots", "elements", "wholes", "members", "turns", "operators", "edits" }] = {
    "plain", "array", "bridged", "swift",
  },
  [{ "dictionaries" }] = { "map", "dictionary", "bridged_dictionary" },
  [{ "sets" }] = { "set", "bridged_set" },
}
-- Only the host of the Swift tests has Swift collections.
local needs_swift = { bridged = true, swift = true, bridged_dictionary = true, bridged_set = true }

for files, kinds in pairs(cases) do
  for _, kind in ipairs(kinds) do
    if swift_new or not needs_swift[kind] then
      local adapter = running.adapters[kind]
      if type(adapter) == "function" then adapter = adapter() end
      running.run(adapter, table.unpack(files))
    end
  end
end
finish()
