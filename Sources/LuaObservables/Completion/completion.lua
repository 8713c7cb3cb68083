-- Tab completion at a prompt: the names that can continue the text before the cursor.
--
-- The text is not run: values are looked up raw, and only in tables. So no script code runs, and no
-- getter.
local core, obs = ...

local rawget, select, type = rawget, select, type
local find, gsub, match, sub = string.find, string.gsub, string.match, string.sub
local is_valid, model_of, next, peek, math_integer =
  core.is_valid, core.model_of, core.next, core.peek, core.printing.math_integer
local metatable, operators, path_beginning, sort_names =
  core.printing.metatable, core.printing.operators(), core.printing.path_beginning,
  core.printing.sort_names

local MOST_NAMES, MOST_STEPS, MOST_LEVELS = 1000, 100000, 100

local NAME = "^[%a_][%w_]*$"

local keywords = {
  "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in",
  "local", "nil", "not", "or", "repeat", "return", "then", "true", "until", "while",
}

local is_keyword = {}
for i = 1, #keywords do is_keyword[keywords[i]] = true end

-- Values -----------------------------------------------------------------------------------------

-- The table that a value inherits fields from; nil if a function looks them up.
local function parent(value)
  local meta = metatable(value)
  local index = meta and rawget(meta, "__index")
  if type(index) == "table" and index ~= value then return index end
  local record = type(value) == "table" and model_of(value)
  return record and record.class or nil
end

-- The field of a value, as far as it can be found without running code.
local function field(value, key)
  for _ = 1, MOST_LEVELS do
    if type(value) == "table" then
      if core.derived_keys(value)[key] then
        return is_valid(value, key) and peek(value, key) or nil
      end
      local own = rawget(value, key)
      if own ~= nil then return own end
    end
    value = parent(value)
    if value == nil then return nil end
  end
end

-- Calls `visit` with each name and value of a value's fields, inherited fields included.
local function each_field(value, visit)
  local steps = 0
  for _ = 1, MOST_LEVELS do
    if type(value) == "table" then
      local derived, record = core.derived_keys(value), model_of(value)
      for key in next, derived do visit(key, nil) end
      if record then
        for key in next, record.declared do visit(key, nil) end
      end
      for key, content in next, value do
        steps = steps + 1
        if steps > MOST_STEPS then return end
        if not derived[key] then visit(key, content) end
      end
    end
    value = parent(value)
    if value == nil then return end
  end
end

local function is_callable(value)
  if type(value) == "function" then return true end
  local meta = type(value) == "table" and metatable(value)
  return meta and rawget(meta, "__call") ~= nil
end

-- Candidates -------------------------------------------------------------------------------------

-- An empty list, and a function that adds a name to it if the name begins with `beginning` and is
-- new.
local function candidates(beginning)
  local list, seen = {}, {}
  local function add(name)
    if type(name) ~= "string" or seen[name] or sub(name, 1, #beginning) ~= beginning then return end
    if #list >= MOST_NAMES then return end
    seen[name] = true
    list[#list + 1] = name
  end
  return list, add
end

local function field_names(value, beginning, is_method)
  local list, add = candidates(beginning)
  each_field(value, function(key, content)
    if type(key) ~= "string" or not find(key, NAME) or is_keyword[key] then return end
    -- Names with two underscores belong to Lua: they are offered only after two underscores.
    if sub(key, 1, 2) == "__" and sub(beginning, 1, 2) ~= "__" then return end
    if not is_method or is_callable(content) then add(key) end
  end)
  return list
end

-- Expressions ------------------------------------------------------------------------------------

-- The value of a chain of names and constant keys such as `a.b[1]["c"]`, and whether the text is
-- such a chain.
local function evaluate(text, environment)
  local name, position = match(text, "^([%a_][%w_]*)()")
  if not name then return nil, false end
  local value = field(environment, name)
  while position <= #text do
    local key, after = match(text, "^%.([%a_][%w_]*)()", position)
    if not key then
      key, after = match(text, "^%[(%d+)%]()", position)
      key = math_integer(key)
    end
    if not key then
      key, after = select(2, match(text, "^%[([\"'])([^\"'\\]*)%1%]()", position))
    end
    if not key then return nil, false end
    value, position = field(value, key), after
  end
  return value, true
end

-- The longest chain at the end of a text, and its position.
local function chain_at_end(text)
  local start = find(text, "[%w_%.%[%]\"']*$")
  while start <= #text do
    local before = start > 1 and sub(text, start - 1, start - 1) or ""
    local chain = sub(text, start)
    if not find(before, "[%w_%.:%)%]]") and find(chain, "^[%a_]") then
      if select(2, evaluate(chain, {})) then return chain, start end
    end
    start = start + 1
  end
end

local function complete_name(text, environment)
  local start = find(text, "[%w_]*$")
  local beginning = sub(text, start)
  local mark = sub(text, start - 1, start - 1)
  if start > 1 and (mark == "." or mark == ":") and sub(text, start - 2, start - 1) ~= ".." then
    local chain = chain_at_end(sub(text, 1, start - 2))
    if not chain then
      -- Methods of a constant string.
      local is_string = mark == ":" and find(text, "[\"']%)?:[%w_]*$")
      return start, is_string and field_names("", beginning, true) or {}
    end
    local value, is_known = evaluate(chain, environment)
    return start, is_known and value ~= nil and field_names(value, beginning, mark == ":") or {}
  end
  if find(beginning, "^%d") then return start, {} end
  local list = field_names(environment, beginning, false)
  if beginning ~= "" then
    for i = 1, #keywords do
      if sub(keywords[i], 1, #beginning) == beginning then list[#list + 1] = keywords[i] end
    end
  end
  return start, list
end

-- Key paths --------------------------------------------------------------------------------------

-- The object that a path reaches through a key.
local function through(value, key)
  if key then return field(value, key) end
  -- The next key belongs to the elements.
  if type(value) ~= "table" then return nil end
  local element = rawget(value, 1)
  if element ~= nil then return element end
  local _, content = next(value)
  return content
end

local function complete_path(value, text, start)
  -- Undo the escapes of Lua's quotes.
  local path = gsub(text, "\\([\\\"'])", "%1")
  local last, keys = path_beginning(path)
  local beginning = last and sub(path, last + 1)
  -- Candidates are names without escapes, so a beginning with a backslash or a quote has no
  -- candidates.
  if not last or find(beginning, "[\\\"']") then return start, {} end
  for i = 1, #keys do value = through(value, keys[i]) end
  local list, add = candidates(beginning)
  if sub(beginning, 1, 1) == "@" then
    for i = 1, #operators do add(operators[i]) end
  elseif value ~= nil then
    each_field(value, function(key, content)
      -- Methods are not properties.
      if type(key) == "string" and find(key, NAME) and sub(key, 1, 2) ~= "__"
        and not is_callable(content) then add(key) end
    end)
  end
  return start + #text - #beginning, list
end

-- Whether a chain names a function of the module `obs`.
local function is_of_module(chain, environment)
  local called = evaluate(chain, environment)
  if type(called) ~= "function" then return false end
  for _, value in next, obs do
    if value == called then return true end
  end
  return false
end

-- The object whose properties the strings of a call name; nil if the call is not one of `obs`.
local function path_object(before, environment)
  local head = match(before, "^(.*)%([^()]*$")
  if not head then return nil end
  local arguments = sub(before, #head + 2)
  local owner, method = match(head, "^(.*):([%a_][%w_]*)%s*$")
  if owner then
    local chain = chain_at_end(owner)
    local value = chain and evaluate(chain, environment)
    local declared = type(value) == "table" and find(method, "^observe")
    return declared and value or nil
  end
  local chain = chain_at_end(match(head, "^(.-)%s*$"))
  if not chain or not is_of_module(chain, environment) then return nil end
  local first = match(arguments, "^%s*([%a_][%w_%.%[%]\"']*)%s*,")
  if not first then return nil end
  return (evaluate(first, environment))
end

-- Files ------------------------------------------------------------------------------------------

local function complete_file(text, start, list_folder)
  local folder, beginning = match(text, "^(.-)([^/]*)$")
  local list, add = candidates(beginning)
  local names = list_folder(folder == "" and "." or folder) or {}
  for i = 1, #names do
    if sub(names[i], 1, 1) ~= "." or sub(beginning, 1, 1) == "." then add(names[i]) end
  end
  return start + #folder, list
end

-- Adds the modules that a path template finds in a folder.
local function add_modules(template, folder, add, list_folder)
  local before, after = match(template, "^([^?]*)%?([^?]*)$")
  if not before then return end
  local place = match(before .. folder, "^(.*)/") or "."
  local stem = sub(before .. folder, #place + 2)
  local names = list_folder(place == "" and "/" or place) or {}
  for i = 1, #names do
    local name = names[i]
    local is_folder = sub(name, -1) == "/"
    local own = sub(name, #stem + 1, is_folder and -2 or -1)
    if sub(name, 1, #stem) ~= stem or sub(name, 1, 1) == "." then
      -- A hidden file or a name with dots is not a module name.
    elseif is_folder then
      if sub(after, 1, 1) == "/" then
        local contents = list_folder(place .. "/" .. name) or {}
        for j = 1, #contents do
          if contents[j] == sub(after, 2) then add(own) end
        end
      elseif find(own, NAME) then
        add(own .. ".")
      end
    elseif #own > #after and sub(own, -#after) == after then
      local module = sub(own, 1, -#after - 1)
      if not find(module, "%.") then add(module) end
    end
  end
end

local function complete_module(text, start, environment, list_folder)
  local folder, beginning = match(text, "^(.-)([^%.]*)$")
  local list, add = candidates(beginning)
  local package = field(environment, "package")
  if type(package) ~= "table" then return start + #folder, list end
  for _, name in next, { "preload", "loaded" } do
    local modules = rawget(package, name)
    for module in next, type(modules) == "table" and modules or {} do
      if type(module) == "string" and sub(module, 1, #folder) == folder then
        add(sub(module, #folder + 1))
      end
    end
  end
  for _, name in next, { "path", "cpath" } do
    local path = rawget(package, name)
    for template in string.gmatch(type(path) == "string" and path or "", "[^;]+") do
      add_modules(template, (gsub(folder, "%.", "/")), add, list_folder)
    end
  end
  return start + #folder, list
end

-- Text -------------------------------------------------------------------------------------------

-- The kind of text at the cursor: "code", "comment", or "string" and its position.
local function place_of_cursor(line)
  local position = 1
  while true do
    local start, _, mark = find(line, "([\"'%-%[])", position)
    if not start then return "code" end
    local level = match(line, "^%[(=*)%[", start)
    if sub(line, start, start + 1) == "--" then
      level = match(line, "^%[(=*)%[", start + 2)
      if not level then return "comment" end
      start = start + 2
    end
    if level then
      local _, last = find(line, "]" .. level .. "]", start, true)
      if not last then return "comment" end
      position = last + 1
    elseif mark == '"' or mark == "'" then
      local last = start
      repeat
        last = find(line, "[\\" .. mark .. "]", last + 1)
        local is_escape = last and sub(line, last, last) == "\\"
        if is_escape then last = last + 1 end
      until not is_escape
      if not last then return "string", start end
      position = last + 1
    else
      position = start + 1
    end
  end
end

local function complete_string(line, quote, environment, list_folder)
  local before, text = sub(line, 1, quote - 1), sub(line, quote + 1)
  local start = quote + 1
  local called = match(before, "([%a_][%w_%.]*)%s*%(?%s*$")
  if called == "require" then return complete_module(text, start, environment, list_folder) end
  if called == "dofile" or called == "loadfile" or called == "io.open" or called == "io.lines" then
    return complete_file(text, start, list_folder)
  end
  local object = path_object(before, environment)
  if object ~= nil then return complete_path(object, text, start) end
  return start, {}
end

-- (text before the cursor, environment, function that lists a folder) -> the number of bytes before
-- the word to complete, sorted candidates
return function(line, environment, list_folder)
  local place, quote = place_of_cursor(line)
  if place == "comment" then return #line, {} end
  local start, list
  if place == "string" then
    start, list = complete_string(line, quote, environment, list_folder)
  else
    start, list = complete_name(line, environment)
  end
  sort_names(list)
  return start - 1, list
end
