-- A window and its view, which is created when somebody uses it for the first time, and configured.
-- After it was closed, the next use creates another one. Peeking at it creates nothing.

local obs = require "obs"

-- Stands for something that is expensive to have.
local function new_view(style)
  print("  creates a view, " .. style)
  return { style = style, redraws = 0 }
end

local Window = obs.model("Window", {
  document = obs.none,
  view = obs.lazy {
    create = new_view,
    with = "plain",
    -- Runs once, when the view is stored: here `self.view` can be read already.
    configure = function(self, view, style)
      print("  configures it: " .. self.title)
      view.title = self.title
      -- As long as somebody has that view, it follows the title.
      obs.observe(self, "title", function(self, view)
        view.title, view.redraws = self.title, view.redraws + 1
        print("  draws '" .. self.title .. "'")
      end, { observer = view })
    end,
  },
  -- Tracked: through nil, and to whatever document is there.
  title = obs.computed(function(self)
    local document = self.document
    if not document then return "empty" end
    return document.name .. (document.is_edited and " *" or "")
  end),
  redraw = function(self)
    -- Nothing to redraw where there is no view.
    local view = obs.peek(self, "view")
    print(view and "  redraws" or "  has no view")
  end,
})

local function step(text) print("— " .. text) end

local window = Window {}

step "nothing is created by peeking, by pairs, or by asking what is valid"
window:redraw()
for name in pairs(window) do print(name) end
print(table.concat(obs.invalid_names(window), ", "))

step "the first use"
print(window.view.title, window.view == window.view)
window:redraw()

step "a document is opened, and edited"
window.document = { name = "notes" }
obs.flush()
window.document.is_edited = true
obs.flush()

step "another document, with a name that gives the same title"
window.document = { name = "notes *" }
obs.flush()
print(window.view.redraws)

step "the view is closed: nobody draws"
obs.stop(window, { observer = window.view })
window.view = nil
window.document.name = "letter"
obs.flush()
window:redraw()

step "the next use creates another one"
print(window.view.title, window.view.redraws)
