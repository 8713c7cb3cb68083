-- Inverting changes: a slice of the module `obs`.
local core, obs = ...

local extended, raise, trees = core.extended, core.raise, core.trees
local check_list, copied, label, malformed =
  trees.check_list, trees.copied, trees.label, trees.malformed

-- The reference to the same object in the inverse, where "before" and "after" are exchanged.
local function turned(reference)
  if not reference then return nil end
  if reference.after then return copied(reference.after) end
  return { after = copied(reference) }
end

local inverse = { set = "set", insert = "remove", remove = "insert", move = "move" }

function obs.invert(changes)
  check_list(changes, "invert")
  for number = 1, #changes do
    local problem = malformed(changes[number])
    if problem then raise(label(number, changes[number]) .. ": " .. problem) end
  end
  local inverted = {}
  for i = #changes, 1, -1 do
    local change = changes[i]
    local back = {
      path = extended(change.path), kind = inverse[change.kind],
      old = copied(change.new), new = copied(change.old),
      ref = turned(change.old_ref), old_ref = turned(change.ref),
      model = change.model, type = change.type, site = change.site,
    }
    if change.kind == "move" then
      back.from, back.path[#back.path] = change.path[#change.path], change.from
    end
    inverted[#inverted + 1] = back
  end
  return inverted
end

return obs
