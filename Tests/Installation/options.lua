-- Finds misspelt options where scripts write them in a call, by the definitions alone:
-- obs-lua Tests/Installation/options.lua DEFINITIONS SCRIPT…
--
-- This shows that the exact classes of the definitions suffice to find them, and that the examples
-- contain none.

local folder = arg[0]:match "^(.*)/[^/]*$" or "."
local annotations = dofile(folder .. "/annotations.lua")
local defined = annotations.read(arg[1])

local functions = {}
for _, block in ipairs(defined.functions) do functions[block.name] = block end

-- The options that a type names, if all its classes are exact; nil for other tables.
local function options_of(type)
  for _, name in ipairs(type and type.names or {}) do
    local class = defined.classes[name]
    if class and class.isExact then
      local fields = {}
      for _, field in ipairs(class.fields) do fields[field.name] = true end
      return fields, name
    end
  end
end

-- The type of an argument. In the body of a model the target is omitted.
local function parameter(block, position, count)
  if count == 1 and block.overloads[1] then return block.overloads[#block.overloads] end
  local param = block.params[position]
  return param and param.type
end

-- Tokens -----------------------------------------------------------------------------------------

local function tokens(text)
  local list, at, line = {}, 1, 1
  while at <= #text do
    local from, to = text:find("^%s+", at)
    local kind
    if not from then
      local level = text:match("^%-%-%[(=*)%[", at) or text:match("^%[(=*)%[", at)
      if level then
        from, to, kind = at, select(2, text:find("]" .. level .. "]", at, true)), "string"
      elseif text:find("^%-%-", at) then
        from, to = text:find("^%-%-[^\n]*", at)
      elseif text:find("^[%a_]", at) then
        from, to = text:find("^[%w_]+", at)
        kind = "word"
      elseif text:find("^[\"']", at) then
        local quote = text:sub(at, at)
        from, to, kind = at, at + 1, "string"
        while text:sub(to, to) ~= quote do to = to + (text:sub(to, to) == "\\" and 2 or 1) end
      else
        from, to = text:find("^[=~<>]=", at)
        from, to, kind = at, to or at, "sign"
      end
      if kind == "string" and text:find("^%-%-", at) then kind = nil end
    end
    local token = text:sub(from, to)
    if kind then list[#list + 1] = { kind = kind, text = token, line = line } end
    line = line + select(2, token:gsub("\n", ""))
    at = to + 1
  end
  return list
end

local opening = { ["("] = 1, ["{"] = 1, ["["] = 1, ["function"] = 1, ["if"] = 1, ["do"] = 1,
  ["repeat"] = 1, [")"] = -1, ["}"] = -1, ["]"] = -1, ["end"] = -1, ["until"] = -1 }

-- The index of the token that ends the group starting at `first`.
local function ending(list, first)
  local depth = 0
  for i = first, #list do
    if list[i].kind ~= "string" then depth = depth + (opening[list[i].text] or 0) end
    if depth == 0 then return i end
  end
  return #list
end

-- The arguments of the call whose first token after the name is at `first`: { from, to } each.
local function arguments(list, first)
  local open = list[first] and list[first].text
  if open == "{" then return { { first, ending(list, first) } } end
  if open ~= "(" then return {} end
  local last, found, i = ending(list, first), {}, first + 1
  local from = i
  while i <= last do
    if i == last or list[i].text == "," and list[i].kind == "sign" then
      if i > from then found[#found + 1] = { from, i - 1 } end
      from = i + 1
    elseif list[i].kind ~= "string" and opening[list[i].text] == 1 then
      i = ending(list, i)
    end
    i = i + 1
  end
  return found
end

local faults = 0

local function check_literal(list, from, fields, class, path)
  local i, last = from + 1, ending(list, from)
  while i < last do
    local token, previous = list[i], list[i - 1].text
    if token.kind == "word" and list[i + 1].text == "=" and (previous == "{" or previous == ","
      or previous == ";") and not fields[token.text] then
      faults = faults + 1
      io.stderr:write(("✘ %s:%d: %s has no '%s'\n"):format(path, token.line, class, token.text))
    elseif token.kind ~= "string" and opening[token.text] == 1 then
      i = ending(list, i)
    end
    i = i + 1
  end
end

local checked = 0
for position = 2, #arg do
  local file <close> = assert(io.open(arg[position]))
  local list = tokens(file:read "a")
  for i = 1, #list - 3 do
    local block = list[i].text == "obs" and list[i + 1].text == "."
      and functions["obs." .. list[i + 2].text]
    local given = block and arguments(list, i + 3) or {}
    for number, range in ipairs(given) do
      local fields, class = options_of(parameter(block, number, #given))
      if fields and list[range[1]].text == "{" then
        checked = checked + 1
        check_literal(list, range[1], fields, class, arg[position])
      end
    end
  end
end
if faults > 0 then os.exit(1) end
assert(checked > 0, "no options were found")
print(("✔ %d tables of options"):format(checked))
