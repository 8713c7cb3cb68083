-- Readable texts of values for prompts.
--
-- A value is read raw: no getter runs, and of the scripts' code only `__tostring`, as in `print`.
-- The output is limited by depth, by entries per table, and by total entries, so that the text of
-- any value is short; at most MOST_STEPS keys of a table are visited. A text that is shown in pages
-- has more entries.
local core = ...

local pcall, rawget, rawlen, select, tostring, type =
  pcall, rawget, rawlen, select, tostring, type
local concat, math_type, pack, sort = table.concat, core.printing.math_type, table.pack, table.sort
local byte, find, format, gsub, rep, sub =
  string.byte, string.find, string.format, string.gsub, string.rep, string.sub
local classes, is_valid, kind_of, model_of, record_of, next, peek =
  core.classes, core.is_valid, core.kind, core.model_of, core.model_record, core.next, core.peek
local definition, metatable, watched_keys =
  core.printing.definition, core.printing.metatable, core.printing.watched_keys

local MOST_DEPTH, MOST_STEPS = 5, 1000000
-- Entries of the outermost table, of an inner table, and of all tables together; and the same for
-- pages.
local MOST_ENTRIES, MOST_INNER, MOST_ALL = 100, 20, 500
local MOST_PAGED, MOST_ALL_PAGED = 10000, 50000
-- Columns of a list element that shares a line with others.
local MOST_SHORT = 16
-- Bytes of a string that is a result, and of a string in a table.
local MOST_TEXT, MOST_INNER_TEXT = 20000, 200

local colours = { string = "32", number = "36", word = "35", mark = "2" }

local keywords = {}
for word in string.gmatch([[and break do else elseif end false for function goto if in local nil not
  or repeat return then true until while]], "%a+") do
  keywords[word] = true
end

local function paint(context, kind, text)
  if not context.colours then return text end
  return "\27[" .. colours[kind] .. "m" .. text .. "\27[0m"
end

-- Strings ----------------------------------------------------------------------------------------

-- Escape sequences of characters in a quoted string.
local escapes = {
  ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t",
}

local function escaped(character)
  return escapes[character] or format("\\x%02X", byte(character))
end

local function escaped_all(bytes) return (gsub(bytes, ".", escaped)) end

local TAIL = "[\x80-\xBF]"
-- Patterns for characters of several bytes, by the number of bytes.
local sequences = { "^[\xC2-\xDF]" .. TAIL, "^[\xE0-\xEF]" .. TAIL .. TAIL,
  "^[\xF0-\xF4]" .. TAIL .. TAIL .. TAIL }

-- Whether a whole text is valid UTF-8.
local function is_utf8(text)
  local position = find(text, "[\x80-\xFF]")
  while position do
    local last
    for i = 1, #sequences do
      last = last or select(2, find(text, sequences[i], position))
    end
    if not last then return false end
    position = find(text, "[\x80-\xFF]", last + 1)
  end
  return true
end

-- Escapes invisible characters, and characters that would move the cursor.
local function safe(text, pattern)
  if not find(text, "[\x80-\xFF]") then return (gsub(text, pattern, escaped)) end
  if not is_utf8(text) then return (gsub(gsub(text, pattern, escaped), "[\x80-\xFF]", escaped)) end
  text = gsub(gsub(text, pattern, escaped), "\xC2[\x80-\x9F]", escaped_all)
  -- These characters separate lines, or change the direction of the text after them.
  text = gsub(text, "\xE2\x80[\x8E\x8F\xA8-\xAE]", escaped_all)
  return (gsub(text, "\xE2\x81[\xA6-\xA9]", escaped_all))
end

-- The first bytes of a long text, without splitting a character.
local function cut(text, most)
  if #text <= most then return text, "" end
  local last = most
  while last > most - 4 and find(sub(text, last + 1, last + 1), TAIL) do last = last - 1 end
  return sub(text, 1, last), format("… (%d bytes)", #text)
end

local function quoted(text, most)
  local start, rest = cut(text, most)
  return '"' .. safe(start, '[%c"\\\127]') .. '"' .. rest
end

-- A result of several lines is shown as several lines.
local function long_quoted(text)
  local level = ""
  while find(text, "]" .. level .. "]", 1, true) or sub(text, -#level - 1) == "]" .. level do
    level = level .. "="
  end
  return "[" .. level .. "[\n" .. text .. "]" .. level .. "]"
end

local function is_readable(text)
  return #text <= MOST_TEXT and find(text, "\n", 1, true) and not find(text, "[^%C\n\t]")
    and is_utf8(text) and not find(text, "\xC2[\x80-\x9F]")
end

local function string_text(text, is_result)
  if is_result and is_readable(text) then return long_quoted(text) end
  return quoted(text, is_result and MOST_TEXT or MOST_INNER_TEXT)
end

-- The columns of a text without colours. Continuation bytes take none. East Asian characters and
-- pictures take two; the pattern matches their first bytes, with few exceptions.
local function width(text)
  if not find(text, "[\x80-\xFF]") then return #text end
  local _, tails = gsub(text, TAIL, "")
  local _, wide = gsub(text, "[\xE3-\xED\xF0]" .. TAIL, "")
  return #text - tails + wide
end

-- Values other than tables -----------------------------------------------------------------------

local function address(value) return type(value) .. ": " .. format("%p", value) end

-- The text that `print` would show; an error in `__tostring` is shown in its place.
local function plain_text(value)
  local ok, text = pcall(tostring, value)
  if ok then
    local start, rest = cut(text, MOST_TEXT)
    return start .. rest
  end
  if type(text) ~= "string" then text = "a " .. type(text) .. " value" end
  return format("<error in __tostring: %s>", (cut(safe(text, "%c"), MOST_INNER_TEXT)))
end

local function function_text(value)
  local place = definition(value)
  local text = plain_text(value)
  if place and find(place, "^obs:%d") then place = nil end
  return place and format("%s (%s)", text, place) or text
end

local function key_text(context, key)
  local kind = type(key)
  if kind == "string" then
    local is_name = #key <= MOST_INNER_TEXT and find(key, "^[%a_][%w_]*$")
    if is_name and not keywords[key] then return key, #key end
    local text = quoted(key, MOST_INNER_TEXT)
    return "[" .. paint(context, "string", text) .. "]", width(text) + 2
  end
  local text = (kind == "number" or kind == "boolean") and format("%s", key) or address(key)
  return "[" .. text .. "]", #text + 2
end

-- Keys -------------------------------------------------------------------------------------------

local function with_length(digits) return format("%03d%s", #digits, digits) end

-- The texts that are compared instead of names, while names are being sorted.
local sortables = {}

-- A text in which the length precedes each number, so that texts are in the order of the numbers.
local function sortable(name)
  local text = sortables[name]
  if not text then
    text = find(name, "%d") and gsub(name, "0*(%d+)", with_length) or name
    sortables[name] = text
  end
  return text
end

local function is_name_before(a, b)
  local x, y = sortable(a), sortable(b)
  if x == y then return a < b end
  return x < y
end

--- Sorts names, with numbers in them in the order of their values.
function core.printing.sort_names(names)
  sort(names, is_name_before)
  sortables = {}
end

local ranks = { number = 1, string = 2, boolean = 3 }

local function is_before(a, b)
  local kind, other = type(a), type(b)
  local rank, other_rank = ranks[kind] or 4, ranks[other] or 4
  if rank ~= other_rank then return rank < other_rank end
  if rank == 1 then return a < b end
  if rank == 2 then return is_name_before(a, b) end
  if rank == 3 then return not a and b end
  return address(a) < address(b)
end

-- The names under which a table is observed; nil if it is not observed.
local function observed_names(value)
  local ok, names = pcall(watched_keys, value)
  if not ok or rawlen(names) == 0 then return nil end
  local set = {}
  for i = 1, rawlen(names) do set[names[i]] = true end
  return set
end

-- The special properties of a key, in words.
local function mark(names, derived, key)
  local words = derived[key] and "computed" or nil
  if not names then return words end
  local is_observed = names["*"] or names["**"] or type(key) == "string" and names[key]
    or math_type(key) == "integer" and names["#" .. key]
  if not is_observed then return words end
  return words and words .. ", observed" or "observed"
end

-- The first `most` of the keys outside the list part, sorted; the number of keys, and whether there
-- may be more.
local function other_keys(value, length, derived, most)
  local keys, held, count, steps = {}, 0, 0, 0
  local most_held, last = 2 * most + 100, nil
  -- The list is repeatedly cut, so that a large table is not sorted as a whole. After a cut, keys
  -- behind the last remaining one are skipped.
  local function add(key)
    count = count + 1
    if last ~= nil and not is_before(key, last) then
      sortables[key] = nil
      return
    end
    held = held + 1
    keys[held] = key
    if held < most_held then return end
    sort(keys, is_before)
    for i = most + 1, held do
      sortables[keys[i]] = nil
      keys[i] = nil
    end
    held, last = most, keys[most]
  end
  for key in next, value do
    steps = steps + 1
    if steps > MOST_STEPS then break end
    local is_element = math_type(key) == "integer" and key >= 1 and key <= length
    if not is_element and not derived[key] then add(key) end
  end
  for key in next, derived do add(key) end
  sort(keys, is_before)
  sortables = {}
  return keys, count, steps > MOST_STEPS
end

local none = {}

-- Tables -----------------------------------------------------------------------------------------

local value_text

-- The text before the brace; false if the table is shown as `print` shows it.
local function title(value)
  local kind = kind_of(value)
  local meta = metatable(value)
  if record_of(value) then return false end
  if meta then
    if rawget(meta, "__tostring") ~= nil then return false end
    for i = 1, #classes do
      if classes[i] == meta then return false end
    end
  end
  if kind then return kind == "set" and "obs.set_of" or "obs." .. kind end
  local record = model_of(value)
  if record then return record.name end
  local name = meta and rawget(meta, "__name")
  return type(name) == "string" and safe(cut(name, MOST_INNER_TEXT), "%c") or ""
end

-- Adds an entry to a table's entries: its text, its width, and its mark.
local function add(entries, text, columns, word)
  entries.count = entries.count + 1
  entries[entries.count] = { text = text, mark = word, width = columns }
  entries.width = entries.width + columns + 2
  if word or find(text, "\n", 1, true) then entries.is_tall = true end
end

local function is_full(context, entries)
  return entries.count >= entries.most or context.left <= 0
end

local function add_elements(context, entries, value, length, names)
  for i = 1, length do
    if is_full(context, entries) then
      return add(entries, format("… %d more", length - i + 1), 12)
    end
    context.left = context.left - 1
    local text = value_text(context, rawget(value, i), entries.depth, 0)
    add(entries, text, context.width, mark(names, none, i))
  end
end

local function add_keyed(context, entries, value, length, names)
  local derived = core.derived_keys(value)
  local most = entries.most - entries.count
  if most > context.left then most = context.left end
  if most < 0 then most = 0 end
  local keys, count, is_cut = other_keys(value, length, derived, most)
  local is_set = kind_of(value) == "set"
  for i = 1, count do
    if is_full(context, entries) then
      local more = is_cut and "… many more" or format("… %d more", count - i + 1)
      return add(entries, more, 12)
    end
    context.left = context.left - 1
    local key = keys[i]
    if is_set then
      add(entries, value_text(context, key, entries.depth, 0), context.width)
    else
      local name, columns = key_text(context, key)
      local text, text_width
      if not derived[key] then
        text = value_text(context, rawget(value, key), entries.depth, columns + 3)
        text_width = context.width
      elseif is_valid(value, key) then
        text = value_text(context, peek(value, key), entries.depth, columns + 3)
        text_width = context.width
      else
        text, text_width = paint(context, "mark", "<stale>"), 7
      end
      add(entries, name .. " = " .. text, columns + 3 + text_width, mark(names, derived, key))
    end
  end
  if is_cut then add(entries, "… many more", 11) end
end

local function joined(context, value, entries, start, before)
  local indent = rep("  ", entries.depth - 1)
  -- Leave room for a comma or the end of an outer table.
  local room = context.columns - #indent - before - 2
  local columns = width(start) + entries.width
  if not entries.is_tall and columns <= room then
    local texts = {}
    for i = 1, entries.count do texts[i] = entries[i].text end
    context.width = columns
    return start .. "{" .. concat(texts, ", ") .. "}"
  end
  local lines = { start .. "{" }
  local line, used = nil, 0
  for i = 1, entries.count do
    local entry = entries[i]
    local is_short = i <= entries.elements and not entry.mark and entry.width <= MOST_SHORT
    -- Short elements of a list share lines.
    if is_short and line and used + entry.width + 2 <= room then
      line, used = line .. " " .. entry.text .. ",", used + entry.width + 2
    else
      lines[#lines + 1] = line
      line, used = indent .. "  " .. entry.text .. ",", is_short and entry.width + 1 or room
    end
    if entry.mark then line = line .. "  " .. paint(context, "mark", "-- " .. entry.mark) end
  end
  lines[#lines + 1] = line
  lines[#lines + 1] = indent .. "}"
  context.width = context.columns
  -- A table of several lines is shown only once.
  context.shown[value] = true
  return concat(lines, "\n")
end

local function table_text(context, value, depth, before)
  local outer = context.ancestors[value]
  if outer then
    local levels = depth - outer
    return levels == 1 and "<cycle: the table itself>"
      or levels == 2 and "<cycle: the table that holds this one>"
      or format("<cycle: the table %d levels up>", levels - 1)
  end
  local start = title(value)
  if not start then return plain_text(value) end
  if start ~= "" then start = start .. " " end
  local length = kind_of(value) == "set" and 0 or rawlen(value)
  if context.shown[value] then return start .. "{…}" end
  if depth > MOST_DEPTH and (length > 0 or next(value) ~= nil) then return start .. "{…}" end
  context.ancestors[value] = depth
  local entries = {
    depth = depth, count = 0, elements = 0, width = 0,
    most = depth == 1 and context.most or MOST_INNER,
  }
  local names = observed_names(value)
  add_elements(context, entries, value, length, names)
  entries.elements = entries.count
  if not is_full(context, entries) or length == 0 then
    add_keyed(context, entries, value, length, names)
  end
  context.ancestors[value] = nil
  return joined(context, value, entries, start, before)
end

-- The text of a value at a depth, after `before` columns of its line. Sets the text's width if it
-- is one line.
function value_text(context, value, depth, before)
  local kind = type(value)
  if kind == "table" then
    context.width = nil
    local text = table_text(context, value, depth + 1, before)
    context.width = context.width or width(text)
    return text
  end
  local text, colour
  if kind == "string" then
    text, colour = string_text(value, depth == 0), "string"
  elseif kind == "function" then
    text = function_text(value)
  elseif kind == "nil" or kind == "boolean" then
    text, colour = tostring(value), "word"
  else
    text, colour = plain_text(value), kind == "number" and "number" or nil
  end
  context.width = width(text)
  return colour and paint(context, colour, text) or text
end

-- (columns, whether colours are used, whether the text is shown in pages, number of left-out
-- values, values…) -> text
return function(columns, is_coloured, is_paged, more, ...)
  local values, texts, is_tall = pack(...), {}, false
  local context = {
    columns = columns, colours = is_coloured, most = is_paged and MOST_PAGED or MOST_ENTRIES,
    left = is_paged and MOST_ALL_PAGED or MOST_ALL, ancestors = {}, shown = {}, width = 0,
  }
  for i = 1, values.n do
    texts[i] = value_text(context, values[i], 0, 0)
    is_tall = is_tall or find(texts[i], "\n", 1, true) ~= nil
  end
  if more > 0 then texts[#texts + 1] = format("… %d more values", more) end
  return concat(texts, is_tall and "\n" or "\t")
end
