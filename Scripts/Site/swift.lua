-- Makes plain HTML pages of the JSON in DocC archives. DocC's own pages load this JSON with fetch,
-- which browsers refuse for files, and docc of Swift 6.3 has no option that changes this: with
-- static hosting its pages still need a server. The site keeps them for readers who have one.

local cjson = require "cjson"
local site = require "site"
local escape = site.escape

-- The JSON of all pages, by their paths: "observables/path/init(_:)".
local data = {}

local function parent(path)
  return path:match "^(.*)/"
end

-- Modules, their symbols and articles, and types within types have pages; members are sections.
local function has_page(path)
  local json = data[path]
  if not json or json.metadata.role == "collectionGroup" then return false end
  local container = parent(path)
  return not container or not parent(container) or json.topicSections ~= nil
end

local function path_of(reference)
  local path = reference and reference.url and reference.url:match "^/documentation/(.*)"
  return path and data[path] and path
end

local function file_of(path)
  return "Swift/" .. path .. ".html"
end

local function address(root, path)
  if has_page(path) then return root .. file_of(path) end
  local page = parent(path)
  while not has_page(page) do page = parent(page) end
  return root .. file_of(page) .. "#" .. path:match "[^/]*$"
end

-- Writes the HTML of one page: `references` change with the symbol that is written.
local function renderer(root)
  local inline, blocks
  local references

  local function link(identifier, text)
    local path = path_of(references[identifier])
    if not path then return text end
    return ('<a href="%s">%s</a>'):format(escape(address(root, path)), text)
  end

  local function each(list, f)
    local results = {}
    for i, item in ipairs(list or {}) do results[i] = f(item) end
    return table.concat(results)
  end

  local inlines = {
    text = function(item) return escape(item.text) end,
    codeVoice = function(item) return "<code>" .. escape(item.code) .. "</code>" end,
    emphasis = function(item) return "<em>" .. inline(item.inlineContent) .. "</em>" end,
    strong = function(item) return "<strong>" .. inline(item.inlineContent) .. "</strong>" end,
    reference = function(item)
      local target = references[item.identifier] or {}
      local text = escape(target.title or item.identifier)
      if target.type == "link" then
        return ('<a href="%s">%s</a>'):format(escape(target.url), text)
      end
      if target.kind == "symbol" then text = "<code>" .. text .. "</code>" end
      return link(item.identifier, text)
    end,
  }
  function inline(list)
    return each(list, function(item)
      local render = inlines[item.type] or error("swift.lua: no rule for '" .. item.type .. "'")
      return render(item)
    end)
  end

  local function list(tag)
    return function(block)
      local items = each(block.items, function(item)
        return "<li>" .. blocks(item.content) .. "</li>\n"
      end)
      return ("<%s>\n%s</%s>\n"):format(tag, items, tag)
    end
  end

  local rules = {
    paragraph = function(block) return "<p>" .. inline(block.inlineContent) .. "</p>\n" end,
    heading = function(block)
      if block.text == "Overview" or block.text == "Discussion" then return "" end
      return ("<h%d>%s</h%d>\n"):format(block.level, escape(block.text), block.level)
    end,
    codeListing = function(block)
      return "<pre><code>" .. escape(table.concat(block.code, "\n")) .. "</code></pre>\n"
    end,
    aside = function(block)
      local name = escape(block.name or block.style)
      return ("<aside><strong>%s</strong>\n%s</aside>\n"):format(name, blocks(block.content))
    end,
    table = function(block)
      return "<table>\n" .. each(block.rows, function(row)
        return "<tr>" .. each(row, function(cell)
          return "<td>" .. blocks(cell) .. "</td>"
        end) .. "</tr>\n"
      end) .. "</table>\n"
    end,
    unorderedList = list "ul",
    orderedList = list "ol",
  }
  function blocks(content)
    return each(content, function(block)
      local render = rules[block.type] or error("swift.lua: no rule for '" .. block.type .. "'")
      return render(block)
    end)
  end

  local sections = {
    declarations = function(section)
      return each(section.declarations, function(declaration)
        return '<pre><code class="language-signature">' .. each(declaration.tokens, function(token)
          return link(token.identifier or "", escape(token.text))
        end) .. "</code></pre>\n"
      end)
    end,
    parameters = function(section)
      return "<dl>\n" .. each(section.parameters, function(parameter)
        local name = escape(parameter.name)
        return ("<dt><code>%s</code></dt>\n<dd>%s</dd>\n"):format(name, blocks(parameter.content))
      end) .. "</dl>\n"
    end,
    content = function(section) return blocks(section.content) end,
  }

  local seen = {}
  local topics

  local function symbol(path, level)
    local json = data[path]
    references = json.references
    local id = path:match "[^/]*$"
    local name = escape(json.metadata.title)
    local kind = escape(json.metadata.roleHeading or "")
    local parts = {
      ('<h%d id="%s">%s</h%d>\n'):format(level, escape(id), name, level),
      kind ~= "" and ('<p class="kind">%s</p>\n'):format(kind) or "",
      json.abstract and "<p>" .. inline(json.abstract) .. "</p>\n" or "",
      each(json.primaryContentSections, function(section)
        return sections[section.kind] and sections[section.kind](section) or ""
      end),
    }
    for _, relation in ipairs(json.relationshipsSections or {}) do
      local names = {}
      for i, identifier in ipairs(relation.identifiers) do
        names[i] = link(identifier, escape(references[identifier].title))
      end
      table.insert(parts, ("<p>%s: %s</p>\n"):format(relation.title, table.concat(names, ", ")))
    end
    table.insert(parts, topics(json, level + 1))
    return table.concat(parts)
  end

  function topics(json, level)
    return each(json.topicSections, function(section)
      local heading = escape(section.title)
      if level == 2 then heading = ("<h2>%s</h2>\n"):format(heading) else heading = "" end
      return heading .. each(section.identifiers, function(identifier)
        references = json.references
        local target = references[identifier]
        local path = path_of(target)
        if not path or seen[path] then return "" end
        if has_page(path) then
          local text = link(identifier, "<code>" .. escape(target.title) .. "</code>")
          return ('<p class="entry">%s %s</p>\n'):format(text, inline(target.abstract))
        end
        seen[path] = true
        return symbol(path, 3)
      end)
    end)
  end

  return symbol
end

-- Returns pages: { file, title, body, module }.
return function(archives)
  for file in site.output("find " .. archives .. " -path '*/data/*.json'"):gmatch "[^\n]+" do
    local json = cjson.decode(site.read(file))
    local path = json.variants[1].paths[1]:match "^/documentation/(.*)"
    if path then data[path] = json end
  end
  local pages = {}
  for path, json in pairs(data) do
    if has_page(path) then
      local file = file_of(path)
      local trail = ""
      local container = parent(path)
      while container do
        local name = escape(data[container].metadata.title)
        local href = escape(address(site.root(file), container))
        trail = ('<a href="%s">%s</a> › '):format(href, name) .. trail
        container = parent(container)
      end
      if trail ~= "" then trail = "<p>" .. trail .. "</p>\n" end
      table.insert(pages, {
        file = file, title = json.metadata.title, is_swift = true, is_module = not parent(path),
        module = json.metadata.modules and json.metadata.modules[1].name,
        body = trail .. renderer(site.root(file))(path, 1),
      })
    end
  end
  table.sort(pages, function(a, b) return a.file < b.file end)
  return pages
end
