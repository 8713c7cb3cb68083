-- Reads definition files (LuaCATS): classes, aliases and functions with their types.
--
-- The parser follows language servers: text without a type here has none there.

local annotations = {}

local builtin = {}
for name in ([[any nil boolean true false string number integer table function userdata thread
  lightuserdata unknown self file*]]):gmatch "%S+" do
  builtin[name] = true
end

-- Types ------------------------------------------------------------------------------------------

local Parser = {}
Parser.__index = Parser

function Parser:skip() self.at = self.text:find("%S", self.at) or #self.text + 1 end

-- Takes `pattern` if it is next, and returns its captures.
function Parser:take(pattern)
  self:skip()
  local from, to, capture = self.text:find("^" .. pattern, self.at)
  if not from then return nil end
  self.at = to + 1
  return capture or self.text:sub(from, to)
end

function Parser:need(pattern, what)
  local found = self:take(pattern)
  if not found then
    error { message = ("%s expected in '%s' at '%s'"):format(what, self.text,
      self.text:sub(self.at)) }
  end
  return found
end

function Parser:name(type) self.names[#self.names + 1] = type end

function Parser:parameter()
  if not self:take "%.%.%." then self:need("[%a_][%w_]*", "a parameter") end
  self:take "%?"
  self:need(":", "the type of a parameter")
  self:union()
end

-- Results of a function type: "type, type" or "...: type".
function Parser:results()
  repeat
    self:take "%.%.%.:"
    self:union()
  until not self:take ","
end

function Parser:primary()
  if self:take "%(" then
    self:union()
    self:need("%)", "')'")
  elseif self:take "fun%(" then
    if not self:take "%)" then
      repeat self:parameter() until not self:take ","
      self:need("%)", "')'")
    end
    if self:take ":" then self:results() end
    return "function"
  elseif self:take "{" then
    self.hasLiteral = true
    repeat
      if self:take "%[" then
        self:union()
        self:need("%]", "']'")
      else
        self.hasNames = true
        self:need("[%a_][%w_]*", "a field")
      end
      self:take "%?"
      self:need(":", "the type of a field")
      self:union()
    until not self:take ","
    self:need("}", "'}'")
    return "table"
  elseif self:take '"[^"]*"' then
    return "string"
  elseif self:take "%-?%d+" then
    return "integer"
  else
    local name = self:need("[%a_][%w_.]*%*?", "a type")
    self:name(name)
    if self:take "<" then
      repeat self:union() until not self:take ","
      self:need(">", "'>'")
    end
    return name
  end
end

-- The alternatives of a type written here, such as { "string", "obs.Path[]" }.
function Parser:union()
  local types = {}
  repeat
    local type = self:primary()
    while self:take "%[%]" do type = "table" end
    if self:take "%?" then types[#types + 1] = "nil" end
    types[#types + 1] = type
  until not self:take "|"
  return types
end

local function parser(text)
  return setmetatable({ text = text, at = 1, names = {} }, Parser)
end

local function parse_type(text)
  local parser = parser(text)
  local ok, types = pcall(parser.union, parser)
  if not ok then
    if type(types) ~= "table" then error(types, 0) end
    return { problem = types.message, names = {}, types = {} }
  end
  return {
    types = types, names = parser.names, rest = text:sub(parser.at),
    isAnonymous = parser.hasLiteral and parser.hasNames,
  }
end

-- Files ------------------------------------------------------------------------------------------

local tags = {}

function tags.param(block, text)
  local name, optional, rest = text:match "^(%.%.%.)(%??)%s+(.*)"
  if not name then name, optional, rest = text:match "^([%a_][%w_]*)(%??)%s+(.*)" end
  if not name then return "a parameter has no type: " .. text end
  block.params[#block.params + 1] =
    { name = name, isOptional = optional ~= "", type = parse_type(rest) }
end

function tags.field(block, text)
  local name, optional, rest = text:match "^([%a_][%w_]*)(%??)%s+(.*)"
  if not name then
    local key, value = text:match "^%[(.-)%]%s+(.*)"
    if not key then return "a field has no type: " .. text end
    block.hasIndex = true
    name, optional, rest = key, "?", value
  end
  block.fields[#block.fields + 1] =
    { name = name, isOptional = optional ~= "", type = parse_type(rest), line = block.last }
end

tags["return"] = function(block, text)
  local type = parse_type(text)
  block.returns[#block.returns + 1] = type
  -- "type ..." is any number of results.
  type.isMany = (type.rest or ""):match "^%s*%.%.%." ~= nil
end

function tags.class(block, text)
  local exact, name, parents = text:match "^(%(?e?x?a?c?t?%)?)%s*([%a_][%w_.]*)%s*:?%s*(.*)"
  block.class, block.isExact = name, exact == "(exact)"
  for parent in (parents:match "^[^#]*" or ""):gmatch "[%a_][%w_.]*" do
    block.parents[#block.parents + 1] = parent
  end
end

function tags.alias(block, text)
  local name, type = text:match "^([%a_][%w_.]*)%s+(.+)"
  if not name then return "an alias has no type: " .. text end
  block.alias, block.aliasType = name, parse_type(type)
end

function tags.generic(block, text)
  for part in text:gmatch "[^,]+" do
    local name, bound = part:match "^%s*([%a_][%w_]*)%s*:?%s*(.*)"
    block.generics[name] = true
    if bound ~= "" then block.others[#block.others + 1] = parse_type(bound) end
  end
end

function tags.overload(block, text)
  local type = parse_type(text)
  type.text = text
  block.overloads[#block.overloads + 1] = type
end

function tags.type(block, text) block.type = parse_type(text) end

function tags.meta() end

local function new_block(line)
  return {
    line = line, params = {}, fields = {}, returns = {}, parents = {}, generics = {},
    overloads = {}, others = {},
  }
end

--- Reads a file: { functions, values, classes, aliases, problems }. Functions have the name by
--- which scripts call them, such as "obs.observe", or "obs.Watcher:stop" for the method of a class.
function annotations.read(path)
  local result =
    { functions = {}, values = {}, classes = {}, aliases = {}, blocks = {}, problems = {} }
  local variables = {}
  local block, number = nil, 0

  local function problem(text)
    result.problems[#result.problems + 1] = ("%s:%d: %s"):format(path, number, text)
  end

  local function finish()
    if not block then return end
    block.path = path
    result.blocks[#result.blocks + 1] = block
    if block.class then result.classes[block.class] = block end
    if block.alias then result.aliases[block.alias] = block end
    block = nil
  end

  for line in io.lines(path) do
    number = number + 1
    local comment = line:match "^%-%-%-(.*)"
    if comment then
      block = block or new_block(number)
      block.last = number
      local tag, text = comment:match "^@(%a+)%s*(.*)"
      if tag then
        local complaint = "unknown annotation @" .. tag
        if tags[tag] then complaint = tags[tag](block, text) end
        if complaint then problem(complaint) end
      end
    else
      local name, params = line:match "^function%s+([%w_.:]+)%((.-)%)%s+end"
      local variable = line:match "^local%s+([%w_]+)%s*=%s*{}"
      local value = line:match "^([%a_][%w_.]*)%s*=%s*nil"
      if name then
        block = block or new_block(number)
        local owner, separator, rest = name:match "^([%w_]+)([.:])(.+)"
        if owner then
          if not variables[owner] then problem("'" .. owner .. "' has no @class") end
          name = (variables[owner] or owner) .. separator .. rest
        end
        block.name, block.line, block.names = name, number, {}
        for param in params:gmatch "[^,%s]+" do block.names[#block.names + 1] = param end
        result.functions[#result.functions + 1] = block
      elseif variable then
        variables[variable] = block and block.class
      elseif value then
        block = block or new_block(number)
        block.value = value
        result.values[#result.values + 1] = block
      elseif not line:match "^%s*$" and not line:match "^%-%-" and not line:match "^return" then
        problem("the file has code that declares nothing: " .. line)
      end
      finish()
    end
  end
  finish()
  return result
end

--- Whether a type of this name is known to language servers without a declaration.
function annotations.is_builtin(name) return builtin[name] == true end

return annotations
