-- Finds what scripts can no longer rely on: scripts.lua OLD NEW [LABEL]
--
-- OLD and NEW are files with definitions, such as Scripts/Definitions/obs.lua at a tag and now.
-- LABEL is how messages name the old file. Prints a line for each function, method, parameter,
-- result, option, field and type that is gone or stricter. Additions are compatible. Overloads, and
-- the texts of which a type consists ("up"|"down"), are not compared. The exit status is 1 if there
-- is a line, as for diff.

local folder = arg[0]:match "^(.*)/[^/]*$" or "."
local annotations = dofile(folder .. "/../../Tests/Installation/annotations.lua")
local old, new = annotations.read(arg[1]), annotations.read(arg[2])
local label = arg[3] or arg[1]
local breaks = {}

local function report(line, ...)
  breaks[#breaks + 1] = { line = line, text = string.format(...) }
end

-- The alternatives of a type as a set, with aliases resolved.
local function alternatives(file, types, found)
  found = found or {}
  for _, name in ipairs(types) do
    local alias = file.aliases[name]
    if alias then alternatives(file, alias.aliasType.types, found) else found[name] = true end
  end
  if found.boolean then found["true"], found["false"] = true, true end
  return found
end

-- The first alternative of `types` in one file, by name, that `others` in the other file lack.
local function lacking(file, types, other_file, others)
  local accepted = alternatives(other_file, others)
  if accepted.any then return nil end
  local first
  for name in pairs(alternatives(file, types)) do
    if not accepted[name] and (not first or name < first) then first = name end
  end
  return first
end

local function compare_parameters(was, now)
  local has_rest = now.names[#now.names] == "..."
  for i, name in ipairs(was.names) do
    local before, after = was.params[i], now.params[i]
    if name == "..." then
      if not has_rest then report(was.line, "%s takes no '...'", was.name) end
    elseif not now.names[i] then
      if not has_rest then report(was.line, "%s has no parameter '%s'", was.name, name) end
    elseif before and after then
      local refused = lacking(old, before.type.types, new, after.type.types)
      if refused then
        report(was.line, "%s takes no %s as '%s'", was.name, refused, name)
      elseif before.isOptional and not after.isOptional and after.name ~= "..." then
        report(was.line, "%s needs the parameter '%s'", was.name, after.name)
      end
    end
  end
  for i = #was.names + 1, #now.names do
    local param = now.params[i]
    if param and not param.isOptional and param.name ~= "..." then
      report(was.line, "%s needs a further parameter, '%s'", was.name, param.name)
    end
  end
end

local function compare_results(was, now)
  for i, result in ipairs(was.returns) do
    local after = now.returns[i]
    if not after then
      report(was.line, "%s has no result %d", was.name, i)
    else
      local further = lacking(new, after.types, old, result.types)
      if further then report(was.line, "%s may return %s as result %d", was.name, further, i) end
    end
  end
end

local functions, values = {}, {}
for _, block in ipairs(new.functions) do functions[block.name] = block end
for _, block in ipairs(new.values) do values[block.value] = block end

for _, was in ipairs(old.functions) do
  local now = functions[was.name]
  if now then
    compare_parameters(was, now)
    compare_results(was, now)
  else
    report(was.line, "%s is gone", was.name)
  end
end
for _, was in ipairs(old.values) do
  if not values[was.value] then report(was.line, "%s is gone", was.value) end
end
for name, was in pairs(old.aliases) do
  if not new.aliases[name] then report(was.line, "the type %s is gone", name) end
end
for name, was in pairs(old.classes) do
  local now = new.classes[name]
  local fields, needed = {}, {}
  for _, field in ipairs(now and now.fields or {}) do
    fields[field.name] = field
    needed[field.name] = not field.isOptional or nil
  end
  if not now then report(was.line, "the type %s is gone", name) end
  local options = #was.fields > 0
  for _, field in ipairs(was.fields) do options = options and field.isOptional end
  for _, field in ipairs(was.fields) do
    local after = fields[field.name]
    local refused = options and after and lacking(old, field.type.types, new, after.type.types)
    if now and not after then
      report(field.line, "%s has no field '%s'", name, field.name)
    elseif after and field.isOptional and not after.isOptional then
      report(field.line, "%s needs the field '%s'", name, field.name)
    elseif refused then
      report(field.line, "%s takes no %s as '%s'", name, refused, field.name)
    end
    needed[field.name] = nil
  end
  -- Scripts make such tables.
  for field in pairs(options and needed or {}) do
    report(was.line, "%s needs a further field, '%s'", name, field)
  end
end

table.sort(breaks, function(a, b)
  return a.line < b.line or a.line == b.line and a.text < b.text
end)
for _, found in ipairs(breaks) do
  print(("%s:%d: %s"):format(label, found.line, found.text))
end
os.exit(#breaks == 0)
