-- Notes other sandboxes' writes below the objects of a sandbox's history or transaction, which
-- takes back only writes of its sandbox: a slice of the module `obs`.
--
-- The *base* of an object is its contents without the sandbox's writes: its contents at the
-- beginning, with the later writes of others. Written keys are set in the base immediately. For
-- lists, inserted and removed elements are noted, and their positions are found when the base is
-- used.
local core, obs = ...

local next, setmetatable, tostring, type = next, setmetatable, tostring, type
local string_format = string.format
local element_count, kind_of, register, report_error, current_sandbox, trees, writer =
  core.element_count, core.kind, core.register, core.report, core.sandbox, core.trees, core.writer
local are_lists, edit_script, has_list, is_element, key_of, same =
  trees.are_lists, trees.edit_script, trees.has_list, trees.is_element, trees.key_of, trees.same

local each_edit, each_write = { "*", kind = "each edit" }, { "*", kind = "each write" }

-- Counts of values; any value but nil can be counted.
local Counts = {}
Counts.__index = Counts

function Counts:add(value)
  local key = key_of(value)
  self[key] = (self[key] or 0) + 1
end

--- Removes one count of a value; false if it has none.
function Counts:take(value)
  local key = key_of(value)
  local count = value ~= nil and self[key]
  if not count then return false end
  self[key] = count > 1 and count - 1 or nil
  return true
end

local function counts(others)
  local self = setmetatable({}, Counts)
  for key, count in next, others or {} do self[key] = count end
  return self
end

-- Lists ------------------------------------------------------------------------------------------

-- Takes back a sandbox's writes to a list that has the `present` contents. Without the elements
-- that others inserted and removed, the result would be `wanted`. Returns the list, its length, and
-- whether an element of others stays in place of an element of the sandbox.
local function merged(present, wanted, inserted, removed)
  local replaced, dropped, added, shift = {}, {}, {}, 0
  local function add(at, value)
    added[at] = added[at] or {}
    added[at][#added[at] + 1] = value
  end
  edit_script(present.map, present.n, wanted.map, wanted.n, function(kind, at, old, new)
    if kind == "insert" then
      add(at - shift, wanted.map[new])
      shift = shift + 1
    elseif kind == "remove" then
      dropped[old] = true
      shift = shift - 1
    else
      replaced[old] = new
    end
  end)
  local list, n, is_conflict = {}, 0, false
  local function put(value)
    n = n + 1
    list[n] = value
  end
  for i = 1, present.n + 1 do
    for _, value in next, added[i] or {} do
      if not removed:take(value) then put(value) end
    end
    local value = present.map[i]
    if i > present.n then break end
    if dropped[i] then
      if inserted:take(value) then put(value) end
    elseif replaced[i] then
      local former = wanted.map[replaced[i]]
      local stays = inserted:take(value)
      if stays then put(value) end
      if not removed:take(former) then
        if stays and next(removed) ~= nil then
          -- Others have replaced an element that the sandbox had put here.
          is_conflict = true
          removed[next(removed)] = nil
        else
          put(former)
        end
      end
    else
      put(value)
    end
  end
  return list, n, is_conflict
end

-- A copy of `made` with another list.
local function with_list(made, list, n)
  local map = {}
  for key, value in next, made.map do
    if not is_element(key, made.n) then map[key] = value end
  end
  for i = 1, n do map[i] = list[i] end
  return { kind = made.kind, map = map, n = n, model = made.model, sparse = made.sparse,
    is_host = made.is_host }
end

--- The contents for an object with the contents `present` that goes back from `from` to `to`. Keys
--- that differ from `from` were written by others, and stay. Also returns one of these keys.
function trees.rebased(present, from, to)
  local list, n, kept = nil, nil, nil
  if has_list(present) and are_lists(from, to) then
    local inserted, removed = counts(), counts()
    edit_script(from.map, from.n, present.map, present.n, function(kind, _, old, new)
      if kind ~= "insert" then removed:add(from.map[old]) end
      if kind ~= "remove" then inserted:add(present.map[new]) end
    end)
    local is_conflict
    list, n, is_conflict = merged(present, to, inserted, removed)
    if is_conflict then kept = n end
  else
    list, n = present.map, present.n
  end
  local target = with_list(present, list, n)
  local longest = from.n > to.n and from.n or to.n
  if n > longest then longest = n end
  local function go_back(key, value)
    if is_element(key, longest) or same(from.map[key], value) then return end
    if same(present.map[key], from.map[key]) then
      target.map[key] = value
    else
      kept = key
    end
  end
  for key in next, from.map do go_back(key, to.map[key]) end
  for key, value in next, to.map do go_back(key, value) end
  return target, kept
end

-- Noting -----------------------------------------------------------------------------------------

local Others = {}
Others.__index = Others

--- Notes writes to objects by sandboxes other than the running one; `state` has the contents of the
--- objects at the beginning.
function trees.others(state)
  local self = setmetatable({ state = state, sandbox = current_sandbox(), wires = {} }, Others)
  self:forget()
  function self.note(object, told, change)
    if writer() == self.sandbox then return end
    if change then return self:adopt(object, change.key, change.old, change.new) end
    -- The edits of one operation arrive after all of them were made.
    local after, count = {}, type(object) == "table" and element_count(object) or #object
    for i = #told, 1, -1 do
      local kind = told[i].kind
      after[i] = count
      if is_element(told[i].at, count + 1) then
        count = count + (kind == "remove" and 1 or kind == "insert" and -1 or 0)
      end
    end
    for i = 1, #told do self:adopt_edit(object, told[i], after[i]) end
  end
  return self
end

--- Forgets all noted writes.
function Others:forget() self.bases, self.inserted, self.removed, self.kept = {}, {}, {}, {} end

function Others:watch(object)
  if self.wires[object] then return end
  local is_model = type(object) == "userdata" and not kind_of(object)
  self.wires[object] = register(object, is_model and each_write or each_edit, self.note,
    { name = "others" })
end

function Others:leave(object)
  if self.wires[object] then self.wires[object]:stop() end
  self.wires[object] = nil
end

function Others:stop()
  for _, wire in next, self.wires do wire:stop() end
  self.wires = {}
end

-- The base of an object; nil for an unknown object.
function Others:base(object)
  local base, made = self.bases[object], self.state[object]
  if not base and made then
    base = with_list(made, made.map, made.n)
    self.bases[object] = base
    self.inserted[object], self.removed[object] = counts(), counts()
  end
  return base
end

-- Notes a key that others have written.
function Others:adopt(object, key, old, new)
  local base = self:base(object)
  if not base then return end
  if not same(base.map[key], old) then self.kept[object] = key end
  base.map[key] = new
end

-- `count`: the length of the list after the edit.
function Others:adopt_edit(object, edit, count)
  local base = self:base(object)
  if not base then return end
  local kind, at = edit.kind, edit.at
  if base.kind == "set" then
    return self:adopt(object, at, kind == "remove" or nil, kind == "insert" or nil)
  end
  if not (has_list(base) and is_element(at, count + 1)) then
    return self:adopt(object, at, edit.old, edit.new)
  end
  local inserted, removed = self.inserted[object], self.removed[object]
  if kind == "move" then return end
  if kind ~= "insert" and not inserted:take(edit.old) then removed:add(edit.old) end
  if kind ~= "remove" then inserted:add(edit.new) end
end

--- The contents of an object after the sandbox's writes are taken back.
function Others:wanted(object, present)
  local base = self.bases[object]
  if not base then return self.state[object] end
  if not has_list(base) then return base end
  -- `merged` uses up the counts, so pass copies: a limit may stop it.
  local inserted, removed = counts(self.inserted[object]), counts(self.removed[object])
  local list, n, is_conflict = merged(present, base, inserted, removed)
  if is_conflict then self.kept[object] = n end
  self.inserted[object], self.removed[object] = counts(), counts()
  local wanted = with_list(base, list, n)
  self.bases[object] = wanted
  return wanted
end

--- Reports writes of others that stay although the sandbox had written the same keys before; `kept`
--- has one key for each object, and `writer` says who they are.
function trees.report_kept(kept, what, site, writer)
  local object, key = next(kept)
  if object == nil then return end
  local more = next(kept, object) ~= nil and ", among others" or ""
  local text = string_format("%s has written '%s' of %s since, so its value stays%s",
    writer or "another script", tostring(key), trees.shown(object), more)
  report_error(text, "", "watcher", what, site)
end

function Others:report(what, site) trees.report_kept(self.kept, what, site) end

return obs
