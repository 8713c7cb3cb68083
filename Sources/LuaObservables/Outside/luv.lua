-- The module luv: its loop runs inside the host's loop, and its callbacks are ordinary turns.
local core, obs = ...

local ipairs, type = ipairs, type
-- Nil for scripts without this library: then no module is loaded from files.
local package = package

local joined = false

-- Joins the module luv; ignores other modules with this name.
local function meet(module)
  if joined or type(module) ~= "table" or type(module.run) ~= "function"
    or type(module.backend_timeout) ~= "function"
  then
    return
  end
  core.load "luv"
  joined = true
  core.join_luv_loop(module)
end

-- A searcher in front of the others: it returns their result, and joins the module.
local function search(name)
  if name ~= "luv" or type(package.searchers) ~= "table" then return nil end
  for _, searcher in ipairs(package.searchers) do
    local loader, data
    if searcher ~= search then loader, data = searcher(name) end
    if type(loader) == "function" then
      return function(...)
        local module = loader(...)
        if module == nil then module = package.loaded[name] end
        meet(module)
        return module
      end, data
    end
  end
end

if type(package) == "table" then
  if type(package.loaded) == "table" then meet(package.loaded.luv) end
  if type(package.searchers) == "table" and not joined then
    table.insert(package.searchers, 1, search)
  end
end

return obs
