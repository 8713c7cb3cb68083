-- An editor's settings: defaults < user < project < buffer. Any layer can appear, be replaced or
-- removed; the users of a setting watch only this setting. The output is the same on every machine.

local obs = require "obs"

local editor = {
  defaults = { theme = "light", tab_width = 8, font = { family = "Mono", size = 12 } },
  user = {},
  project = nil,  -- { name, settings } while a project is open
  buffer = nil,   -- { name, settings } while a buffer has the focus
  settings = {},  -- the result: made from the layers above, and read by all other code
}

local function say(...) print(string.format(...)) end

-- The cascade ------------------------------------------------------------------------------------

local layers = { "defaults", "user", "project.settings", "buffer.settings" }

local function merged()
  local result = {}
  for _, layer in ipairs(layers) do
    for name, value in pairs(obs.get(editor, layer) or {}) do result[name] = value end
  end
  return result
end

-- One watcher for all layers: one call per turn, even if the user opens a project with twenty
-- settings, and a buffer in it. Settings that keep their values call no watcher.
obs.observe(editor, { "defaults.*", "user.*", "project.settings.*", "buffer.settings.*" },
  function(editor)
    local result = merged()
    for name in pairs(editor.settings) do
      if result[name] == nil then editor.settings[name] = nil end
    end
    for name, value in pairs(result) do editor.settings[name] = value end
  end, { name = "cascade", initial = true })

-- The users of settings --------------------------------------------------------------------------

obs.observe(editor, "settings.theme", function(editor)
  say("theme      %s", editor.settings.theme)
end, { name = "theme" })

-- The font is a nested table: this watcher is called for a new size as well as for a new font.
obs.observe(editor, "settings.font.*", function(editor)
  local font = editor.settings.font
  say("font       %s %d", font.family, font.size)
end, { name = "font" })

local function shown(value) return type(value) == "table" and "{…}" or tostring(value) end

-- An immediate watcher is called inside each write, with the old value.
obs.observe(editor, "user.*", function(_, _, change)
  say("journal    %s: %s → %s", change.key, shown(change.old), shown(change.new))
end, { name = "journal", immediate = true })

obs.observe(editor, "project", function(editor)
  say("tip        settings of %s are in its file 'editor.settings'", editor.project.name)
end, { name = "tip", once = true })

-- The ruler is a copy of two settings, kept equal.
local ruler = {}
obs.bind(ruler, editor.settings, { "tab_width", "line_length" })
obs.observe(ruler, { "tab_width", "line_length" }, function(ruler)
  say("ruler      every %s, ends at %s", ruler.tab_width, ruler.line_length or "the window")
end, { name = "ruler" })

-- The preview is redrawn as long as it is referenced: a watcher keeps neither its observer nor its
-- observed table alive.
local preview = { title = "preview" }
obs.observe(editor, "settings.theme", function(editor, preview)
  say("%s    redraws in %s", preview.title, editor.settings.theme)
end, { name = "preview", observer = preview })

-- A story ----------------------------------------------------------------------------------------

local function step(text, action)
  say("\n— %s", text)
  action()
  obs.flush()
end

step("the editor starts", function() end)

step("the user changes the theme twice, and the tab width", function()
  editor.user.theme = "grey"
  editor.user.theme = "dark"
  editor.user.tab_width = 4
end)

step("a project is opened: it overrides the tab width and adds a line length", function()
  editor.project = { name = "obs-lua", settings = { tab_width = 2, line_length = 100 } }
end)

step("the default tab width changes: no editor shows it", function()
  editor.defaults.tab_width = 3
end)

step("another project takes its place, with the same line length", function()
  editor.project = { name = "kernel", settings = { tab_width = 8, line_length = 100 } }
end)

step("a buffer gets the focus: a Makefile with its own font", function()
  editor.buffer = { name = "Makefile", settings = { font = { family = "Mono", size = 14 } } }
end)

step("that font grows", function()
  editor.buffer.settings.font.size = 18
end)

step("the buffer loses the focus, the preview is closed, the project too", function()
  editor.buffer, editor.project = nil, nil
  preview = nil
  collectgarbage()
  collectgarbage()
end)

step("the user takes all of it back", function()
  editor.user = {}
end)

-- The rest happens in later turns: a task waits, while the loop goes on.
obs.task(function()
  say("\n— a task waits for the theme")
  obs.next_change(editor, "settings.theme")
  say("task       the theme is %s now", editor.settings.theme)
  if obs.next_change(editor, "settings.theme", 0.05) == false then
    say("task       and stays so")
  end
  say("\nwatchers of the theme: %d", obs.observer_count(editor.settings, "theme"))
end)

obs.after(0.02, function() editor.defaults.theme = "sepia" end)
