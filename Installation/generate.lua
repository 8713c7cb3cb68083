-- Writes the manual page and the completions of shells from the program's `--help`, so that all of
-- them have the same options, with the same words:
-- obs-lua Installation/generate.lua PROGRAM FOLDER DATA DOCUMENTATION
--
-- DATA is the folder of the installed definitions and settings, DOCUMENTATION the folder of the
-- guide.

local program, folder, data, documentation = arg[1], arg[2], arg[3], arg[4]
local own = arg[0]:match "^(.*)/[^/]*$" or "."

local function output(option)
  local pipe = assert(io.popen("'" .. program .. "' " .. option))
  local text = pipe:read "a"
  assert(pipe:close(), "'" .. program .. " " .. option .. "' failed")
  return text
end

local function write(name, text)
  local file <close> = assert(io.open(folder .. "/" .. name, "w"))
  assert(file:write(text))
end

-- Options ----------------------------------------------------------------------------------------

-- Each option has a name, such as "-e" or "--error", perhaps a value, and a summary.
local options = {}
for line in output("--help"):gmatch "[^\n]+" do
  local usage, summary = line:match "^  (%-%S* ?%S*)%s%s+(.+)$"
  if usage then
    usage = usage:match "^(.-)%s*$"
    local name, rest = usage:match "^(%-%-?[%a-]*)(.*)$"
    local value = rest:match "^%[=(.*)%]$" or rest:match "^=(.+)$" or rest:match "^ (.+)$"
    options[#options + 1] = {
      name = name, value = value, summary = summary, isOptional = rest:sub(1, 1) == "[",
      isLong = name:match "^%-%-%a" ~= nil, isWord = name:match "%a" ~= nil,
      -- The value belongs to the same argument.
      isJoined = value ~= nil and rest:sub(1, 1) ~= " ",
    }
  end
end
assert(#options > 8, "the options in '--help' are not understood")

-- Returns how to complete the value: "words" with a list, "folder" with a list of further words,
-- "file", or "text".
local function kind(option)
  local words, folder = {}, false
  for word in (option.value or ""):gmatch "[^|]+" do
    if word == "FOLDER" then folder = true else words[#words + 1] = word end
  end
  if folder then return "folder", words end
  if #words > 1 or option.isJoined and words[1]:find "^%l+$" then return "words", words end
  if (option.value or ""):find "^FILE" or (option.value or ""):find "^PATH" then
    return "file", words
  end
  return "text", words
end

local function replaced(name, texts)
  local file <close> = assert(io.open(own .. "/" .. name))
  local text = file:read("a"):gsub("@(%u+)@", texts)
  return text
end

-- The manual -------------------------------------------------------------------------------------

local function roff(text)
  return (text:gsub("\\", "\\e"):gsub("%-", "\\-"):gsub("^['.]", "\\&%0"))
end

local function manual(is_long)
  local lines = {}
  for _, option in ipairs(options) do
    if option.isLong == is_long then
      local kind, words = kind(option)
      local item = ".It Fl"
      if option.name ~= "-" then item = item .. " " .. roff(option.name:sub(2)) end
      local value = option.value and "Ar " .. roff(option.value:match "^[^|]*")
      if kind == "folder" and words[1] then
        value = value .. " Ns | Ns Cm " .. table.concat(words, " Ns | Ns Cm ")
      end
      if kind == "words" then value = "Cm " .. table.concat(words, " Ns | Ns Cm ") end
      if value and option.isOptional then
        item = item .. " Ns Oo Ns = Ns " .. value .. " Oc"
      elseif option.isJoined then
        item = item .. " Ns = Ns " .. value
      elseif value then
        item = item .. " " .. value
      end
      lines[#lines + 1] = item
      lines[#lines + 1] = roff(option.summary:gsub("^%l", string.upper)) .. "."
    end
  end
  return table.concat(lines, "\n")
end

write("obs-lua.1", replaced("obs-lua.1.in", {
  LUA = manual(false), OWN = manual(true), DATA = roff(data), DOC = roff(documentation),
}))

-- Shells -----------------------------------------------------------------------------------------

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

local function bash()
  local names, cases, known = {}, {}, {}
  for _, option in ipairs(options) do
    local kind, words = kind(option)
    if option.isWord then
      local ending = option.isJoined and not option.isOptional and "=" or ""
      local name = option.name .. ending
      if not known[name] then names[#names + 1] = name end
      known[name] = true
    end
    if option.isJoined then
      local action = ":"
      if kind == "words" then
        action = 'COMPREPLY=($(compgen -W ' .. quoted(table.concat(words, " ")) .. ' -- "$value"))'
      elseif kind ~= "text" then
        action = '_obs_lua_files ' .. (kind == "folder" and "-d" or "-f") .. ' "$value"'
        if kind == "folder" and words[1] then
          action = action .. '; COMPREPLY+=($(compgen -W ' .. quoted(table.concat(words, " "))
            .. ' -- "$value"))'
        end
      end
      cases[#cases + 1] = ("      %s) %s ;;"):format(option.name, action)
    end
  end
  return { NAMES = table.concat(names, " "), CASES = table.concat(cases, "\n") }
end
write("obs-lua.bash", replaced("obs-lua.bash.in", bash()))

local function zsh()
  local lines, known = {}, {}
  for _, option in ipairs(options) do
    if option.isWord and not known[option.name] then
      known[option.name] = true
      local kind, words = kind(option)
      local text = option.name
      if option.isJoined then text = text .. "=-" end
      text = text .. "[" .. option.summary:gsub("[%[%]:\\]", "\\%0") .. "]"
      if option.value then
        local name = kind == "words" and "value" or option.value:gsub("[:=]", " ")
        local action = kind == "words" and "(" .. table.concat(words, " ") .. ")"
          or kind == "folder" and (words[1]
            and "{ compadd " .. table.concat(words, " ") .. "; _files -/ }" or "_files -/")
          or kind == "file" and "_files" or " "
        text = text .. (option.isOptional and "::" or ":") .. name .. ":" .. action
      end
      lines[#lines + 1] = ("  %s \\"):format(quoted((option.isLong and "" or "*") .. text))
    end
  end
  return { OPTIONS = table.concat(lines, "\n") }
end
write("_obs-lua", replaced("obs-lua.zsh.in", zsh()))

local function fish()
  local lines, known = {}, {}
  for _, option in ipairs(options) do
    if option.isWord and not known[option.name] then
      known[option.name] = true
      local kind, words = kind(option)
      local line = ("complete -c obs-lua -n __obs_lua_takes_options -%s %s"):format(
        option.isLong and "l" or "s", option.name:match "[%a].*")
      if kind == "words" then
        line = line .. " -a " .. quoted(table.concat(words, " "))
      elseif kind == "folder" then
        line = line .. " -a '(__fish_complete_directories)"
          .. (words[1] and " " .. table.concat(words, " ") or "") .. "'"
      elseif kind == "file" then
        line = line .. " -F"
      end
      if option.value and not option.isOptional then
        -- A value must follow: any, or with -x no name of a file.
        line = line .. ((kind == "words" or kind == "text") and " -x" or " -r")
      end
      lines[#lines + 1] = line .. " -d " .. quoted(option.summary)
    end
  end
  return { OPTIONS = table.concat(lines, "\n") }
end
write("obs-lua.fish", replaced("obs-lua.fish.in", fish()))
