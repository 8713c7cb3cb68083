-- A window and its view, which is created and configured on first use. After it is closed, the next
-- use creates another view. Peeking creates nothing.

local obs = require "obs"

-- In a real program, a view is expensive to create.
local function new_view(style)
  print("  creates a view, " .. style)
  return { style = style, redraws = 0 }
end

local Window = obs.model("Window", {
  document = obs.none,
  view = obs.lazy {
    create = new_view,
    with = "plain",
    -- Runs once, after the view is stored, so `self.view` can be read here.
    configure = function(self, view, style)
      print("  configures it: " .. self.title)
      view.title = self.title
      -- As long as the view is referenced, it follows the title.
      obs.observe(self, "title", function(self, view)
        view.title, view.redraws = self.title, view.redraws + 1
        print("  draws '" .. self.title .. "'")
      end, { observer = view })
    end,
  },
  -- Tracked: follows the current document, also through nil.
  title = obs.computed(function(self)
    local document = self.document
    if not document then return "empty" end
    return document.name .. (document.is_edited and " *" or "")
  end),
  redraw = function(self)
    -- Without a view, there is nothing to redraw.
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

step "the view is closed: no more drawing"
obs.stop(window, { observer = window.view })
window.view = nil
window.document.name = "letter"
obs.flush()
window:redraw()

step "the next use creates another one"
print(window.view.title, window.view.redraws)
