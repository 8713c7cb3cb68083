-- Writes the documentation as plain HTML that needs no server: pages of the repository, the script
-- API, the Swift API, and an index for the search. In the repository's folder:
-- lua5.4 Scripts/Site/build.lua ARCHIVES SITE EXAMPLES
--
-- Pages lie where their sources lie, so that relative links lead to the same places.

local folder = arg[0]:match "^(.*)/"
package.path = folder .. "/?.lua;" .. package.path
local cjson = require "cjson"
local site = require "site"
local read_definitions = require "definitions"
local read_swift = require "swift"
local archives, output, examples = table.unpack(arg)
local escape = site.escape

local faults = 0
local function fault(format, ...)
  io.stderr:write("✘ ", format:format(...), "\n")
  faults = faults + 1
end

local function exists(path)
  local file = io.open(path)
  return file and file:close()
end

----------------------------------------------------------------------------------------------------
-- The pages
----------------------------------------------------------------------------------------------------

-- Pages about the project itself; the other pages in Documentation are the guide.
local project = "CONTRIBUTING.md CHANGELOG.md Documentation/Architecture.md Documentation/Map.md "
  .. "Documentation/Style.md"

-- The groups of the navigation. The pages in `order` come first, the others follow by their titles.
local groups = {
  { title = "Guide", sources = "README.md Documentation/*.md", without = project,
    order = "README Installation Platforms Scripts Prompt Collections Lazy Changes Outside Modules "
      .. "Fixtures Differences Bugs Sandbox Semantics Embedding ScriptableApp Models Observers "
      .. "Threads Records" },
  { title = "Script API", sources = "Scripts/Definitions/*.lua", order = "obs obs.io" },
  { title = "Swift API", sources = "", order = "" },
  { title = "Examples", order = "",
    sources = "Examples/README.md Examples/*/README.md Benchmarks/*.md" },
  { title = "Project", sources = project, order = "CONTRIBUTING" },
  { title = "Decisions", sources = "Documentation/Decisions/*.md", order = "", is_folded = true },
}
local titles = { ["obs.lua"] = "Module obs", ["obs.io.lua"] = "Module obs.io",
  ["fixtures.lua"] = "Globals of tests", ["records.lua"] = "Stores of records" }

local pages, page_of = {}, {}

local function add(page, group)
  pages[#pages + 1] = page
  page_of[page.source or page.file] = page
  page.title = page.title or page.body:match "<h1>(.-)</h1>" or page.source
  page.title = site.unescape(page.title:gsub("<[^>]*>", ""))
  if group then table.insert(group, page) end
end

local function convert(text)
  local name = os.tmpname()
  site.write(name, text)
  local html = site.output("cmark-gfm --unsafe -e table -e strikethrough -e autolink " .. name)
  os.remove(name)
  return html
end

-- In an example, '-->' comes before each line that it prints.
local function write_example(name, lines)
  local expected = {}
  for _, line in ipairs(lines) do
    for text in (line:match "%-%->.*" or ""):gsub("%-%->", "\0"):gmatch "\0 ([^\0]*)" do
      expected[#expected + 1] = text:gsub(" +$", "") .. "\n"
    end
  end
  local base = examples .. "/" .. name:gsub(":", ".")
  site.write(base .. ".lua", 'local obs = require "obs"\n' .. table.concat(lines, "\n") .. "\n")
  site.write(base .. ".expected", table.concat(expected))
end

local function definitions(source)
  local name = source:match "[^/]*$"
  local text, functions = read_definitions(site.read(source), titles[name] or name)
  for _, entry in ipairs(functions) do
    if #entry.example > 0 then
      write_example(entry.name, entry.example)
    elseif name == "obs.lua" then
      fault("%s: '%s' has no example", source, entry.name)
    end
  end
  return text
end

local function add_source(source, group)
  if group.without and group.without:find(source, 1, true) then return end
  local is_api = source:find "%.lua$"
  local text = is_api and definitions(source) or site.read(source)
  local file = source == "README.md" and "index.html" or source:gsub("%.%w+$", ".html")
  add({ source = source, file = file, body = convert(text), is_api = is_api }, group)
end

for _, group in ipairs(groups) do
  local list = "for file in %s; do [ ! -f $file ] || echo $file; done"
  for source in site.output(list:format(group.sources)):gmatch "[^\n]+" do
    add_source(source, group)
  end
  if group.title == "Swift API" then
    for _, page in ipairs(read_swift(archives)) do add(page, page.is_module and group) end
  end
  local rank, count = {}, 0
  for name in group.order:gmatch "%S+" do
    count = count + 1
    rank[name] = count
  end
  local function key(page)
    local name = (page.source or page.file):match "([^/]*)%.%w+$"
    return ("%03d %s"):format(rank[name] or 999, page.title:lower())
  end
  table.sort(group, function(a, b) return key(a) < key(b) end)
end

----------------------------------------------------------------------------------------------------
-- Links and headings
----------------------------------------------------------------------------------------------------

-- Copies a file of the repository. All but pictures get the suffix .txt: browsers show them then.
local function copy(path)
  local target = path:find "%.svg$" and path or path .. ".txt"
  site.write(output .. "/" .. target, site.read(path))
  return target
end

-- Adds a page that lists the files of a folder.
local function add_folder(path)
  local items = {}
  local list = "find '%s' -maxdepth 1 -type f -printf '%%f\n' | sort"
  for name in site.output(list:format(path)):gmatch "[^\n]+" do
    local listed = page_of[path .. "/" .. name]
    items[#items + 1] = ('<li><a href="%s">%s</a></li>\n'):format(escape(name),
      escape(listed and listed.title or name))
  end
  local body = ("<h1>%s</h1>\n<ul>\n%s</ul>\n"):format(path, table.concat(items))
  add { source = path .. "/", file = path .. "/index.html", body = body }
end

-- The new address of a link; nil if the old one stays.
local function address(page, link)
  local path, anchor = site.unescape(link):match "^([^#]*)(.*)$"
  if path == "" or path:find "^%a[%w+.-]*:" then return nil end
  path = site.resolve(page.source, site.decode(path))
  if not path then return nil end
  local module, article = path:match "^Sources/(%w+)/%w+%.docc/(%w+)%.md$"
  local swift = module and ("Swift/" .. module .. "/" .. article .. ".html"):lower()
  swift = swift and swift:gsub("^swift", "Swift")
  local target = page_of[path] or page_of[path .. "/README.md"] or page_of[swift or ""]
  if not target and os.execute("test -d '" .. path .. "'") then
    if not page_of[path .. "/"] then add_folder(path) end
    target = page_of[path .. "/"]
  end
  if target then return site.root(page.file) .. target.file .. anchor end
  return exists(path) and site.root(page.file) .. copy(path) or nil
end

local function with_links(page)
  local function replace(before, link) return before .. escape(address(page, link) or link) end
  local body = page.body:gsub('(<a href=")([^"]*)', replace)
  return (body:gsub('(<img src=")([^"]*)', replace))
end

-- The anchor that GitHub gives to a heading.
local function slug(text)
  text = text:lower():gsub("[\xC2\xE2-\xEF][\x80-\xBF]+", ""):gsub("[%p]", function(char)
    return (char == "-" or char == "_") and char or ""
  end)
  return (text:gsub(" ", "-"))
end

-- Gives headings their ids, and notes them in page.headings.
local function with_anchors(page)
  local taken = {}
  for id in page.body:gmatch '<h%d id="([^"]*)"' do taken[id] = true end
  page.headings = {}
  return (page.body:gsub("<h(%d)( ?[^>]*)>(.-)</h%1>", function(level, attributes, html)
    local text = site.unescape(html:gsub("<[^>]*>", ""))
    local id = attributes:match 'id="([^"]*)"'
    if not id then
      local name = page.is_api and html:match "^<code>(.*)</code>$" or escape(slug(text))
      id = name
      local count = 0
      while taken[id] do
        count = count + 1
        id = name .. "-" .. count
      end
      taken[id] = true
    end
    table.insert(page.headings, { level = tonumber(level), id = id, text = text,
      is_member = page.is_swift and level == "3" and attributes ~= "" })
    return ('<h%s id="%s">%s</h%s>'):format(level, id, html, level)
  end))
end

-- In the script API, types in signatures and tables and names in sentences lead to their entries.
local function with_types(page)
  local known = {}
  for _, heading in ipairs(page.headings) do known[heading.id] = true end
  local function linked(name)
    return known[name] and ('<a href="#%s">%s</a>'):format(name, name)
  end
  local body = page.body:gsub("(<[^>]*>)(<code[^>]*>)([^<]*)", function(before, tag, code)
    if before:find "^<h" or tag:find "language%-lua" then return nil end
    return before .. tag .. code:gsub("obs%.%u%w*", linked)
  end)
  return (body:gsub("([^>]<code>)([%w_.:]+)%f[<]", function(before, name)
    return before .. (linked(name) or name)
  end))
end

----------------------------------------------------------------------------------------------------
-- The index of the search, and the frame around the pages
----------------------------------------------------------------------------------------------------

local index = {}

-- Notes each part of a page that begins with a heading: page, heading, address, text.
local function note(page)
  local starts = {}
  for at, stop in page.body:gmatch "()<h%d id=\"[^\"]*\">.-</h%d>()" do
    starts[#starts + 1] = { at = at, stop = stop }
  end
  for i, heading in ipairs(page.headings) do
    local stop = starts[i + 1] and starts[i + 1].at - 1 or #page.body
    local text = page.body:sub(starts[i].stop, stop):gsub("<[^>]*>", " "):gsub("%s+", " ")
    local title, name = page.title, heading.text
    if heading.is_member then
      title, name = page.module, page.title .. "." .. name
    elseif page.is_swift and not page.is_module then
      title = page.module .. " › " .. title
    end
    local link = page.file .. (i > 1 and "#" .. site.unescape(heading.id) or "")
    index[#index + 1] = { title, name, link, site.unescape(text) }
  end
end

local function navigation(page)
  local root, parts = site.root(page.file), {}
  for _, group in ipairs(groups) do
    local holds = group.title == "Swift API" and page.is_swift
    for _, member in ipairs(group) do holds = holds or member == page end
    table.insert(parts, ("<details%s><summary>%s</summary>\n<ul>\n"):format(
      (holds or not group.is_folded) and " open" or "", group.title))
    for _, member in ipairs(group) do
      table.insert(parts, ('<li><a href="%s%s"%s>%s</a>'):format(root, escape(member.file),
        member == page and ' aria-current="page"' or "", escape(member.title)))
      if member == page then
        table.insert(parts, "\n<ul>\n")
        for _, heading in ipairs(page.headings) do
          if heading.level == 2 then
            table.insert(parts, ('<li><a href="#%s">%s</a></li>\n'):format(heading.id,
              escape(heading.text)))
          end
        end
        table.insert(parts, "</ul>\n")
      end
      table.insert(parts, "</li>\n")
    end
    table.insert(parts, "</ul>\n</details>\n")
  end
  return table.concat(parts)
end

local frame = site.read(folder .. "/page.html")
local function write_page(page)
  local values = {
    title = page.title == "obs-lua" and page.title or escape(page.title) .. " · obs-lua",
    root = site.root(page.file), navigation = navigation(page), body = page.body,
  }
  site.write(output .. "/" .. page.file, (frame:gsub("{(%l+)}", values)))
end

for _, page in ipairs(pages) do
  if page.source then page.body = with_links(page) end
  page.body = with_anchors(page)
  if page.is_api then page.body = with_types(page) end
  note(page)
  page.body = page.body:gsub("<table>", '<div class="scroll"><table>')
    :gsub("</table>", "</table></div>")
  write_page(page)
end
write_page {
  title = "Search", file = "search.html", headings = {},
  body = '<h1>Search</h1>\n<div id="results">Type words into the field above.</div>\n'
    .. '<script src="search-index.js"></script>\n<script src="search.js"></script>\n',
}

local lines = {}
for i, entry in ipairs(index) do lines[i] = cjson.encode(entry) end
lines = table.concat(lines, ",\n")
site.write(output .. "/search-index.js", "const index = [\n" .. lines .. "\n];\n")
for _, name in ipairs { "site.css", "search.js" } do
  site.write(output .. "/" .. name, site.read(folder .. "/" .. name))
end
print(("%d pages, %d headings"):format(#pages + 1, #index))
os.exit(faults == 0)
