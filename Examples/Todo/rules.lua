-- The user's customizations of the app.
local obs = require "obs"

-- An exclamation mark at the end makes a todo urgent.
obs.observe_edits(list.todos, function(todos, edits)
  for _, edit in ipairs(edits) do
    local todo = edit.kind == "insert" and edit.new
    if todo and todo.title:find "!$" then
      todo.title = todo.title:gsub("!+$", "")
      todo.isUrgent = true
    end
  end
end)

-- The status line.
obs.observe(list, "todos.*.isDone", function(list)
  local left = 0
  for _, todo in ipairs(list.todos) do if not todo.isDone then left = left + 1 end end
  list.status = left == 0 and "all done" or left .. " left"
end)

-- A task waits until everything is done, and adds another todo.
obs.task(function()
  repeat obs.next_change(list, "status") until list.status == "all done"
  list:add "celebrate!"
end)

-- The user's own commands.
function commands.sweep()
  for i = #list.todos, 1, -1 do
    if list.todos[i].isDone then list.todos:remove(i) end
  end
end

-- The last line has an error, which the app reports.
function commands.urgent(text)
  local todo = list.todos[math.tointeger(tonumber(text))]
  todo.isUrgnt = true
end
