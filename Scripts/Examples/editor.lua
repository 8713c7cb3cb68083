-- Undo in a text editor: typing is one step, and so is each command.

local obs = require "obs"

local document = { title = "Untitled", lines = { "Hello" } }
local history = obs.history(document)

obs.observe(history, { "can_undo", "can_redo" }, function(h)
  print(("  undo: %s, redo: %s"):format(h.can_undo, h.can_redo))
end)

local function show(what)
  print(what .. ": " .. document.title .. ": " .. table.concat(document.lines, " / "))
end

obs.task(function()
  -- These turns are one step.
  history:begin()
  for _, text in ipairs { "Hello W", "Hello Wor", "Hello World" } do
    document.lines[1] = text
    obs.sleep(0)
  end
  history:commit()
  show "typed"

  history:mark "saved"
  table.insert(document.lines, 1, "# Greeting")
  obs.sleep(0)
  document.title = "Greeting"
  obs.sleep(0)
  show "edited"

  history:undo()
  show "undo"
  history:redo()
  show "redo"
  history:undo "saved"
  show "as saved"
  history:undo()
  show "before typing"
end)
