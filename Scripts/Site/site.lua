-- Functions for files, paths and HTML that all parts of the generator use.

local site = {}

function site.read(path)
  local file <close> = assert(io.open(path))
  return (assert(file:read("a")))
end

local folders = {}
function site.write(path, text)
  local folder = path:match "^(.*)/"
  if not folders[folder] then
    assert(os.execute("mkdir -p '" .. folder .. "'"))
    folders[folder] = true
  end
  local file <close> = assert(io.open(path, "w"))
  assert(file:write(text))
end

function site.output(command)
  local pipe <close> = assert(io.popen(command))
  return (assert(pipe:read("a")))
end

local entities = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }
function site.escape(text)
  return (text:gsub('[&<>"]', entities))
end

function site.unescape(text)
  text = text:gsub("&lt;", "<"):gsub("&gt;", ">"):gsub("&quot;", '"'):gsub("&#39;", "'")
  return (text:gsub("&amp;", "&"))
end

-- Removes the percent encoding of a URL.
function site.decode(url)
  return (url:gsub("%%(%x%x)", function(digits) return string.char(tonumber(digits, 16)) end))
end

-- Resolves a relative path against the folder of a file; nil if it leaves the root.
function site.resolve(file, path)
  local parts = {}
  for part in (file:gsub("[^/]*$", "") .. path):gmatch "[^/]+" do
    if part ~= ".." then
      if part ~= "." then parts[#parts + 1] = part end
    elseif not table.remove(parts) then
      return nil
    end
  end
  return table.concat(parts, "/")
end

-- The prefix that leads from a file of the site to the root of the site.
function site.root(file)
  return (file:gsub("[^/]*$", ""):gsub("[^/]+/", "../"))
end

return site
