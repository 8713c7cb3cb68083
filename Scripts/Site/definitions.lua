-- Makes a Markdown page of a file with LuaCATS definitions, and collects its examples.

-- Splits a type from the text behind it. A type ends at a space outside of brackets, unless that
-- follows a colon or a comma.
local function split_type(text)
  local depth, last = 0, ""
  for at = 1, #text do
    local char = text:sub(at, at)
    if char:find "[%(%[{<]" then depth = depth + 1 end
    if char:find "[%)%]}>]" then depth = depth - 1 end
    if char == " " and depth == 0 and not last:find "[:,]" then
      return text:sub(1, at - 1), (text:sub(at):gsub("^[ #]+", ""))
    end
    last = char
  end
  return text, ""
end

local function code(text)
  return "`" .. text .. "`"
end

-- Sorts the lines of a comment: text, examples and tags by their names.
local function parsed(lines)
  local block = { text = {}, example = {}, param = {}, field = {}, ["return"] = {}, overload = {} }
  local in_example = false
  for _, line in ipairs(lines) do
    local tag, rest = line:match "^@([%w]+) ?(.*)"
    if line:find "^```lua" or in_example and line:find "^```" then
      in_example = not in_example
    elseif in_example then
      table.insert(block.example, line)
    elseif not tag then
      table.insert(block.text, line)
    elseif block[tag] and tag ~= "overload" and tag ~= "return" then
      local name, typed = rest:match "^(%[.-%])%s+(.*)"
      if not name then name, typed = rest:match "^(%S+)%s*(.*)" end
      local type, text = split_type(typed)
      table.insert(block[tag], { name = name, type = type, text = text })
    elseif tag == "return" then
      local type, text = split_type(rest)
      table.insert(block[tag], { type = type, text = text })
    elseif tag == "overload" then
      table.insert(block[tag], rest)
    else
      block[tag] = (rest:gsub("^%(exact%) ", ""))
    end
  end
  return block
end

local function signature(name, arguments, block)
  local types, listed, returned = {}, {}, {}
  for _, param in ipairs(block.param) do
    types[param.name:gsub("%?", "")] = (param.name:find "%?" and "?: " or ": ") .. param.type
  end
  for argument in arguments:gmatch "[^,%s]+" do
    listed[#listed + 1] = argument .. (types[argument] or "")
  end
  for _, value in ipairs(block["return"]) do returned[#returned + 1] = value.type end
  local result = #returned > 0 and ": " .. table.concat(returned, ", ") or ""
  local line = name .. "(" .. table.concat(listed, ", ") .. ")" .. result
  if #line <= 80 then return line end
  return name .. "(\n  " .. table.concat(listed, ",\n  ") .. "\n)" .. result
end

-- Returns the page, and a list of functions with their examples.
return function(source, title)
  local page, functions, comment = { "# " .. title, "" }, {}, {}
  local is_banner, is_intro = false, true
  local function put(text) page[#page + 1] = text end

  local function put_text(block)
    put(table.concat(block.text, "\n") .. "\n")
  end

  local function flush(line)
    local block = parsed(comment)
    comment = {}
    local name, arguments = line:match "^function ([%w_.:]+)%((.-)%)"
    name = name or block.type and line:match "^([%w_.]+) ="
    if name then
      put("### " .. code(name) .. "\n")
      if arguments then
        put("```signature\n" .. signature(name, arguments, block))
        for _, overload in ipairs(block.overload) do put((overload:gsub("^fun", name))) end
        put "```\n"
        table.insert(functions, { name = name, example = block.example })
      end
      put_text(block)
      for _, param in ipairs(block.param) do
        if param.text ~= "" then put("- " .. code(param.name) .. ": " .. param.text) end
      end
      for _, value in ipairs(block["return"]) do
        if value.text:find " " then put("- Returns " .. code(value.type) .. " " .. value.text) end
      end
      if #block.example > 0 then
        put("\n```lua\n" .. table.concat(block.example, "\n") .. "\n```\n")
      end
    elseif block.class or block.alias then
      local class, rest = (block.class or block.alias):match "^([%w_.]+):?%s*(.*)"
      local type, note = split_type(rest)
      if #block.text + #block.field == 0 and type == "" then return end
      put("### " .. code(class) .. "\n")
      put_text(block)
      if note ~= "" then put(note .. "\n") end
      if type ~= "" then put("```signature\n" .. type .. "\n```\n") end
      if #block.field > 0 then
        put "| Field | Type | |\n|---|---|---|"
        for _, field in ipairs(block.field) do
          local row = { code(field.name), code(field.type), field.text }
          for i, cell in ipairs(row) do row[i] = cell:gsub("|", "\\|") end
          put("| " .. table.concat(row, " | ") .. " |")
        end
        put ""
      end
    end
  end

  for line in source:gmatch "([^\n]*)\n" do
    local text = line:match "^%-%-%-([^-].*)" or line == "---" and ""
    if line:find "^%-%-%-%-%-" then
      is_banner = not is_banner
    elseif is_banner then
      put("## " .. line:match "^%-%- *(.*)" .. "\n")
    elseif text and not text:find "^@meta" then
      comment[#comment + 1] = text
    elseif is_intro and line:find "^%-%- " then
      put(line:sub(4))
    elseif not text then
      is_intro = false
      put ""
      flush(line)
    end
  end
  return table.concat(page, "\n"), functions
end
