-- Stories about changes of trees.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
dofile(folder .. "../../Support/stories.lua")
local obs = require "obs"

-- The text of plain data, with the keys in order.
text = dofile(folder .. "texts.lua")

local function path_text(path)
  local parts = {}
  for i, key in ipairs(path) do parts[i] = tostring(key) end
  return table.concat(parts, ".")
end

-- A value, or a reference: @path for an object that existed before, @@path for one that exists
-- after the changes.
local function side(value, ref)
  if not ref then return text(value) end
  return ref.after and "@@" .. path_text(ref.after) or "@" .. path_text(ref)
end

-- A change in short: "set a.b 1>2", "insert list.3 5", "remove tags x", "move list.1 from 3". A new
-- collection or instance has its type or model behind it.
local function spelled(change)
  local what = change.kind .. " " .. path_text(change.path) .. " "
  local old, new = side(change.old, change.old_ref), side(change.new, change.ref)
  local class = change.type or change.model
  if class then new = new .. " as " .. class end
  if change.kind == "set" then return what .. old .. ">" .. new end
  if change.kind == "move" then return what .. "from " .. change.from end
  return what .. (change.kind == "insert" and new or old)
end

-- A list of changes in short.
function spell(changes)
  local texts = {}
  for i, change in ipairs(changes) do texts[i] = spelled(change) end
  return table.concat(texts, ", ")
end

-- Watches a tree: each change of a delivery is an entry of the log, and so are its origins, if it
-- has some. Returns the watcher.
function changes_of(t, options)
  return obs.changes(t, function(observed, changes, _, delivery)
    assert(rawequal(observed, t))
    for _, change in ipairs(changes) do note(spelled(change)) end
    if #delivery.origins > 0 then note("from " .. text(delivery.origins)) end
  end, options)
end

-- Watches a tree and returns it, and the watcher.
function watched(t, options) return t, changes_of(t, options) end

-- A change for `obs.apply`.
function set(path, old, new) return { path = path, kind = "set", old = old, new = new } end
