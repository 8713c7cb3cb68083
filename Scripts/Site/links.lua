-- Fails, naming page and link, where a relative link or an anchor of the site leads nowhere, or an
-- id is there twice: lua5.4 Scripts/Site/links.lua SITE. DocC's own pages need a server: left out.

package.path = arg[0]:match "^(.*)/" .. "/?.lua;" .. package.path
local site = require "site"
local folder = arg[1]
local files, pages, faults, count = {}, {}, 0, 0

local function fault(format, ...)
  io.stderr:write("✘ ", format:format(...), "\n")
  faults = faults + 1
end

for path in site.output("cd " .. folder .. " && find . -path ./docc -prune -o -type f -print")
  :gmatch "%./([^\n]+)" do
  files[path] = true
  if path:find "%.html$" then
    local html = site.read(folder .. "/" .. path)
    pages[path] = { html = html, ids = {} }
    for id in html:gmatch '<[^>]* id="([^"]*)"' do
      id = site.unescape(id)
      if pages[path].ids[id] then fault("%s: two elements have the id '%s'", path, id) end
      pages[path].ids[id] = true
    end
  end
end

local function check(path, page, link)
  local target, anchor = site.unescape(link):match "^([^#?]*)%??[^#]*#?(.*)$"
  if target:find "^%a[%w+.-]*:" then return end
  count = count + 1
  local file = target == "" and path or site.resolve(path, site.decode(target))
  if not file or not files[file] then
    fault("%s: broken link '%s'", path, link)
  elseif anchor ~= "" and not (pages[file] and pages[file].ids[site.decode(anchor)]) then
    fault("%s: broken link '%s': no such heading", path, link)
  end
end

for path, page in pairs(pages) do
  for _, attribute in ipairs { "href", "src", "action" } do
    for link in page.html:gmatch("<[^>]* " .. attribute .. '="([^"]*)"') do
      check(path, page, link)
    end
  end
end
-- The addresses in the search index.
for line in io.lines(folder .. "/search-index.js") do
  local entry = line:match "^(%[.*%]),?$"
  if entry then
    local link = require "cjson".decode(entry)[3]
    check("search-index.js", nil, site.escape(link))
  end
end
if faults > 0 then os.exit(1) end
print(("✔ site: %d links"):format(count))
