-- The text work of Scripts/checks/mutants:
--
--   mutants.lua choose folder seed count part …   chooses mutants and prints them
--   mutants.lua again folder results              finds mutants of earlier results, prints them
--   mutants.lua apply folder copy mutants         writes the mutated sources of `folder` to `copy`
--   mutants.lua errors mutants output             removes mutants that do not compile
--   mutants.lua report results                    prints the survivors and a table
--
-- A mutant is a line of fields between tabs: its number, the fields below, and in results the
-- verdict. The sign `¿` in the new text is replaced by an expression that tells whether the mutant
-- is on.
local PART, PATH, LINE, KIND, INDEX, OLD, NEW, VERDICT = 1, 2, 3, 4, 5, 6, 7, 8

-- The sources of each part. `@` is a folder, `!` excludes a path, and `ends` names the languages.
local parts = {
  { name = "observables", sources = "Sources/Observables CMainQueue", ends = "swift c" },
  { name = "observers", sources = "Sources/ProtocolObservers", ends = "swift" },
  { name = "c", sources = "CLua CTables CSandbox", ends = "c" },
  { name = "lua", sources = "Sources/Lua", ends = "swift" },
  { name = "bridge", sources = "@ !@/Mirrors", ends = "swift" },
  { name = "prelude", sources = "@/Prelude @/Printing @/Completion !@/Prelude/mirrors.lua",
    ends = "lua" },
  { name = "mirrors", sources = "Sources/TreeMirrors CRedis @/Mirrors @/Prelude/mirrors.lua",
    ends = "swift c lua" },
  { name = "program", sources = "Sources/obs-lua Sources/FixtureChecks CCommandLine \z
    @/Debugging/debugprompt.lua @/Outside/io.lua @/Outside/luv.lua @/Outside/luvloop.lua",
    ends = "swift c lua" },
}

local function set(words)
  local result = {}
  for word in words:gmatch "%S+" do result[word] = true end
  return result
end

-- For each language: the question; the forms that negate a condition, choose between two texts,
-- change the number 1 and leave out a call; patterns of conditions and of the line before a call.
local languages = {
  swift = { asked = "mutant(%d)", branch = "¿ != (%s)", choice = "(¿ ? %s : %s)",
    number = "(¿ ? 0 : 1)", call = "if !¿ { %s }", unequal = "!=", comment = "//", ended = "",
    before_call = "[%w_%)%]}'\";{]$", conditions = { "^(%s*if )(.-) {", "^(%s*} else if )(.-) {",
      "^(%s*guard )(.-) else {", "^(%s*while )(.-) {" } },
  c = { asked = "obs_mutant(%d)", branch = "(¿ != !!%s)", choice = "(¿ ? %s : %s)",
    number = "(¿ ? 0 : 1)", call = "{ if (!¿) %s }", unequal = "!=", comment = "//", ended = ";",
    before_call = "[%w_%)%]}'\";{]$",
    conditions = { "^(%s*if )(%b())", "^(%s*} else if )(%b())", "^(%s*while )(%b())" } },
  -- The program writes `true` or `false` over it when it starts.
  lua = { asked = "mutant_%04d", branch = "¿ == not (%s)", choice = "(¿ and %s or not ¿ and %s)",
    number = "(¿ and 0 or 1)", call = "if not ¿ then %s end", unequal = "~=", comment = "--",
    ended = "", before_call = "[%w_%)%]}'\"]$", conditions = { "^(%s*if )(.-) then",
      "^(%s*elseif )(.-) then", "^(%s*while )(.-) do", "^(%s*until )(.+)" } },
}

local opposite = { ["<"] = "<=", ["<="] = "<", [">"] = ">=", [">="] = ">", ["=="] = "!=",
  ["!="] = "==", ["~="] = "==", ["==="] = "!==", ["!=="] = "===" }
-- Words and signs that may stand before a comparison and after it.
local before = set "&& || = return if while guard , ; ? : and or elseif until { ( in ??"
local after = set "&& || , ; ? : and or then do else { } ) ]"
-- Words in conditions that are more than an expression.
local binding = set "try let case await"
-- Words at the end of a line that continues, and at the beginning of a line that continues another.
local open, joining = set "return and or not", set "and or"
-- Words that look like calls, calls that end the program, and checks that never fail.
local kept = set [[init self.init super.init if while switch for return sizeof defined case catch
  assert clua_assert precondition preconditionFailure assertionFailure fatalError abort exit]]

-- Returns the code of a line, with quotation marks for each letter of texts, or nil.
local function code(text, language)
  if text:find '\\"' then return nil end
  text = text:gsub('"[^"]*"', function(quoted) return ("'"):rep(#quoted) end)
  text = text:sub(1, (text:find(language.comment, 1, true) or 0) - 1)
  if text:find "^%s*[#@*]" or text:find "@inlinable" then return nil end
  return (text:gsub("%s+$", ""))
end

-- Returns where the operand ends that begins at `first`.
local function operand_end(text, first)
  local i = first
  while i <= #text do
    local c = text:sub(i, i)
    if c == "(" or c == "[" then
      local _, close = text:find(c == "(" and "^%b()" or "^%b[]", i)
      if not close then return nil end
      i = close + 1
    elseif text:find("^%->[%w_]", i) then
      i = i + 2
    elseif c:find "[%w_%.%?!':]" and not text:find("^[:%?!]+%f[%s%z]", i) then
      i = i + 1
    else
      break
    end
  end
  return i > first and i - 1 or nil
end

-- Returns where the operand begins that ends at `last`: a reversed text has it at its beginning.
local mirrored = { ["("] = ")", [")"] = "(", ["["] = "]", ["]"] = "[" }
local function operand_start(text, last)
  local back = text:sub(1, last):reverse():gsub("[%(%)%[%]]", mirrored):gsub(">%-", "->")
  local finish = operand_end(back, 1)
  return finish and last - finish + 1
end

-- Calls `add(kind, first, last, form, …)` for each text of a line that can be mutated. The form and
-- the texts in it replace the text from `first` to `last`.
local function places(text, plain, language, previous, next, add)
  for _, pattern in ipairs(language.conditions) do
    local start, condition = plain:match(pattern)
    local flat = condition and condition:gsub("%b()", ""):gsub("%b[]", "")
    local special = false
    for word in (condition or ""):gmatch "%a+" do special = special or binding[word] end
    if flat and not special and not flat:find "[,#{}%(%)]" then
      local first, last = #start + 1, #start + #condition
      add("branch", first, last, language.branch, text:sub(first, last))
    end
    if start then break end
  end

  for at, sign in plain:gmatch "() ([<>=!~]=?=?) " do
    local start, finish = operand_start(plain, at - 1), operand_end(plain, at + #sign + 2)
    if start and finish and opposite[sign] then
      local changed = opposite[sign]:gsub("^!=$", language.unequal)
      local word = plain:sub(1, start - 1):match "(%S+)%s*$" or ""
      local rest = plain:sub(finish + 1)
      if (plain:find("^%(", start - 1)
        or plain:find("^ ", start - 1) and (before[word] or before[word:sub(-1)]))
        and (rest == "" or after[rest:match "^%s*(%p%p?)"] or after[rest:match "^%s*(%p)"]
          or after[rest:match "^%s+(%a+)"])
      then
        local left, right = text:sub(start, at), text:sub(at + #sign + 1, finish)
        add("comparison", start, finish, language.choice, left .. changed .. right,
          left .. sign .. right)
      end
    end
  end

  for at in plain:gmatch "%S &?[%+%-]=? ()1%f[^%w_%.]" do
    if not plain:find("^1[%w_%.]", at) then add("off by one", at, at, language.number) end
  end

  local first = plain:match "^%s+()[%w_]" or #plain + 1
  local start = plain:match("^try ()", first) or first
  local name = plain:match("^[%w_%.:]+", start)
  local last = operand_end(plain, start)
  if name and last and not kept[name] and plain:sub(last) == ")" .. language.ended
    -- It may be a part of an expression in several lines.
    and previous:find(language.before_call) and not open[previous:match "%a+$" or ""]
    and not next:find "^%s*[%.%?:%)%]%+%-%*/&|=<>]" and not joining[next:match "^%s*(%a+)" or ""]
    -- It may be the result of a function.
    and not (next:find "^%s*}" and (previous:find "%->" or previous:find "%f[%w]var "
      or previous:find "get {$"))
  then
    add("call", first, #plain, language.call, text:sub(first, #plain))
  end
end

local function hash(text)
  local value = 0xcbf29ce484222325
  for i = 1, #text do value = (value ~ text:byte(i)) * 0x100000001b3 end
  -- Here the last letters come to affect all bits.
  for _ = 1, 2 do value = (value ~ value >> 31) * 0x9e3779b97f4a7c15 end
  return value ~ value >> 29
end

local function lines(path)
  local result = {}
  for line in io.lines(path) do result[#result + 1] = line end
  return result
end

-- Calls `each(path, language, part)` for the sources of the wanted parts, or of all parts.
local function each_source(folder, wanted, each)
  for _, part in ipairs(parts) do
    if not next(wanted) or wanted[part.name] then
      local names = part.sources:gsub("@", "Sources/LuaObservables"):gsub("!", ":!")
      local list <close> = assert(io.popen(
        ("cd '%s' && git ls-files -- %s"):format(folder, names:gsub("%S+", "'%0'"))))
      for path in list:lines() do
        local ending = path:match "%.(%w+)$"
        if languages[ending] and part.ends:find(ending) then each(path, languages[ending], part) end
      end
    end
  end
end

-- All mutants of these parts, without numbers.
local function all_mutants(folder, wanted)
  local result = {}
  each_source(folder, wanted, function(path, language, part)
    local texts, seen, within, previous = lines(folder .. "/" .. path), {}, false, ""
    for number, text in ipairs(texts) do
      -- Texts and comments of several lines.
      local mark = '"""'
      if language == languages.lua then mark = within and "%]=*%]" or "%[=*%[" end
      local opens = text:find(mark)
      local is_one_line = language == languages.lua and not within and text:find "%]=*%]"
      if opens and not is_one_line then within = not within end
      local plain = not within and not opens and code(text, language)
      if plain and plain ~= "" then
        places(text, plain, language, previous, texts[number + 1] or "",
          function(kind, first, last, form, ...)
            seen[kind .. text] = (seen[kind .. text] or 0) + 1
            result[#result + 1] = { part.name, path, number, kind, seen[kind .. text], text,
              text:sub(1, first - 1) .. form:format(...) .. text:sub(last + 1) }
          end)
        previous = plain
      end
    end
  end)
  return result
end

local function read(path)
  local result = {}
  for line in io.lines(path) do
    local fields = {}
    for field in (line .. "\t"):gmatch "([^\t]*)\t" do fields[#fields + 1] = field end
    result[#result + 1] = { number = tonumber(fields[1]), table.unpack(fields, 2) }
  end
  return result
end

local function print_numbered(list)
  table.sort(list, function(a, b)
    if a[PATH] ~= b[PATH] then return a[PATH] < b[PATH] end
    return a[LINE] < b[LINE]
  end)
  for number, mutant in ipairs(list) do
    print(number .. "\t" .. table.concat(mutant, "\t", 1, NEW))
  end
end

local commands = {}

-- Chooses equally many of each kind in each part, at most one per line, whatever the tests are.
function commands.choose(folder, seed, count, ...)
  local all, left, groups = all_mutants(folder, set(table.concat({ ... }, " "))), {}, 0
  for _, mutant in ipairs(all) do
    mutant.hash = hash(seed .. mutant[PATH] .. mutant[KIND] .. mutant[INDEX] .. mutant[OLD])
    mutant.group, mutant.place = mutant[PART] .. mutant[KIND], mutant[PATH] .. mutant[LINE]
    if not left[mutant.group] then left[mutant.group], groups = 0, groups + 1 end
  end
  for group in pairs(left) do left[group] = math.ceil(count / groups) end
  table.sort(all, function(a, b) return a.hash < b.hash end)
  local chosen, taken = {}, {}
  for _, mutant in ipairs(all) do
    if left[mutant.group] > 0 and not taken[mutant.place] then
      taken[mutant.place], left[mutant.group] = true, left[mutant.group] - 1
      chosen[#chosen + 1] = mutant
    end
  end
  print_numbered(chosen)
end

function commands.again(folder, results)
  local now, found = {}, {}
  local function key(mutant)
    return table.concat({ mutant[PATH], mutant[KIND], mutant[INDEX], mutant[NEW] }, "\t")
  end
  for _, mutant in ipairs(all_mutants(folder, {})) do now[key(mutant)] = mutant end
  for _, old in ipairs(read(results)) do
    found[#found + 1] = now[key(old)]
    if not now[key(old)] then
      io.stderr:write(("vanished: %s:%s %s\n"):format(old[PATH], old[LINE], old[OLD]))
    end
  end
  print_numbered(found)
end

-- Writes a file unless it already has this text, so that only what changed is built.
local function write(path, text)
  local file = io.open(path)
  local old = file and file:read "a"
  if file then file:close() end
  if old == text then return end
  file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
end

function commands.apply(folder, copy, list)
  local of = {}
  for _, mutant in ipairs(read(list)) do
    of[mutant[PATH]] = of[mutant[PATH]] or {}
    table.insert(of[mutant[PATH]], mutant)
  end
  each_source(folder, {}, function(path, language)
    local texts = lines(folder .. "/" .. path)
    for _, mutant in ipairs(of[path] or {}) do
      texts[tonumber(mutant[LINE])] = mutant[NEW]:gsub("¿", language.asked:format(mutant.number))
    end
    if language == languages.c and of[path] then
      table.insert(texts, 1, ('#include "%s/mutants.h"\n#line 1'):format(copy))
    elseif language == languages.swift then
      write(("%s/%s/Mutants.swift"):format(copy, path:match "^Sources/[^/]+"),
        '@_silgen_name("obs_mutant") @usableFromInline func mutant(_ number: CInt) -> Bool\n')
    end
    write(copy .. "/" .. path, table.concat(texts, "\n") .. "\n")
  end)
end

function commands.errors(list, output)
  local mutants, dropped, others = read(list), {}, {}
  for line in io.lines(output) do
    local path, number = line:match "([^%s:]+):(%d+):%d+: error"
    -- The error may be in a line after its cause.
    local cause
    for _, mutant in ipairs(path and mutants or {}) do
      local is_before = tonumber(mutant[LINE]) <= tonumber(number)
      if is_before and path:sub(-#mutant[PATH]) == mutant[PATH] then cause = mutant end
    end
    if cause then dropped[cause] = true else others[#others + 1] = line end
  end
  if not next(dropped) then
    io.stderr:write(table.concat(others, "\n"), "\n")
    os.exit(1)
  end
  local file <close> = assert(io.open(list, "w"))
  for _, mutant in ipairs(mutants) do
    if dropped[mutant] then
      io.stderr:write(("does not compile: %s:%s\n"):format(mutant[PATH], mutant[LINE]))
    else
      file:write(mutant.number, "\t", table.concat(mutant, "\t"), "\n")
    end
  end
end

function commands.report(results)
  local rows, names, list = {}, {}, read(results)
  table.sort(list, function(a, b) return a.number < b.number end)
  for _, mutant in ipairs(list) do
    local verdict = mutant[VERDICT]
    local lives = verdict == "survived" or verdict == "unreached"
    for _, name in ipairs { "all", mutant[PART], mutant[KIND] } do
      if not rows[name] then
        rows[name], names[#names + 1] = { mutants = 0, survived = 0, unreached = 0 }, name
      end
      local row = rows[name]
      row.mutants = row.mutants + 1
      if lives then row.survived = row.survived + 1 end
      if verdict == "unreached" then row.unreached = row.unreached + 1 end
    end
    if lives then
      print(("%s:%s: %s, %s\n- %s\n+ %s"):format(mutant[PATH], mutant[LINE], mutant[KIND], verdict,
        mutant[OLD]:match "^%s*(.*)", mutant[NEW]:match("^%s*(.*)"):gsub("¿", "mutant")))
    end
  end
  print "\n| | Mutants | Killed | Survived | Of these, reached by no test |\n|---|--:|--:|--:|--:|"
  for _, name in ipairs(names) do
    local row = rows[name]
    print(("| %s | %d | %d | %d | %d |"):format(name, row.mutants, row.mutants - row.survived,
      row.survived, row.unreached))
  end
end

commands[arg[1]](table.unpack(arg, 2))
