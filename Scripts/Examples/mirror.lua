-- Two copies of a document are kept equal in both directions. Each copy applies the changes of the
-- other, and does not send them back.

local obs = require "obs"

local here = { title = "Shopping", items = { "tea", "milk" } }
local there = { title = "Shopping", items = { "tea", "milk" } }

local function connect(from, to, name, other)
  obs.changes(from, function(_, changes)
    for _, change in ipairs(changes) do
      print(("  %s: %s %s %s"):format(name, change.kind, table.concat(change.path, "."), change.new))
    end
    obs.apply(to, changes, { origin = name })
  end, { skip = other })
end

connect(here, there, "here", "there")
connect(there, here, "there", "here")

local function show()
  for _, copy in ipairs { here, there } do
    print(("%s: %s"):format(copy.title, table.concat(copy.items, ", ")))
  end
end

obs.task(function()
  table.insert(here.items, "bread")
  obs.sleep(0)
  show()

  there.items[2] = "oat milk"
  here.title = "Friday"
  obs.sleep(0)
  show()
end)
