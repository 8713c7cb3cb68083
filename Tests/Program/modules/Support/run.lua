-- Runs a script that uses C modules: run.lua HOW script [arguments].
--
-- HOW is `plain`, or selects how each table passed to C code is observed, at any depth: `whole`
-- (all of its keys) or `keys` (one key of each, the last one returned by `next`). Scripts pass
-- tables to the global function `O`; with `wrapped-` before HOW the functions of the C modules are
-- wrapped, and observe all tables that they get.
local how, script = arg[1], arg[2]
local is_wrapped = how:find("^wrapped%-") ~= nil
how = how:gsub("^wrapped%-", "")
local arguments = table.move(arg, 3, #arg, 1, { [0] = script })
arg = arguments

local observe
if how == "plain" then
  function observe(value) return value end
else
  local obs = require "obs"
  local function ignore() end
  local function visit(value, seen)
    if type(value) ~= "table" or seen[value] then return end
    seen[value] = true
    local last = nil
    for key, element in next, value do
      local spelled = type(key) ~= "string" or key:sub(1, 2) ~= "__"
      if spelled and key == key then last = key end
      visit(key, seen)
      visit(element, seen)
    end
    if how == "whole" then
      obs.observe(value, "*", ignore)
    elseif last ~= nil then
      obs.observe(value, obs.path(last), ignore)
    end
  end
  function observe(value)
    visit(value, {})
    return value
  end
end
O = observe
FLUSH = how ~= "plain" and require("obs").flush or nil

if is_wrapped then
  local function wrap(f)
    return function(...)
      for i = 1, select("#", ...) do observe((select(i, ...))) end
      -- The tail call keeps the positions in messages.
      return f(...)
    end
  end
  local function wrap_all(t)
    for key, value in next, t do
      if type(value) == "function" and debug.getinfo(value, "S").what == "C" then
        t[key] = wrap(value)
      end
    end
  end
  local function wrap_loader(loader)
    return function(...)
      local module = loader(...)
      if type(module) == "table" then
        wrap_all(module)
        -- The operators of patterns are functions of the patterns' metatable.
        if type(module.P) == "function" then wrap_all(debug.getmetatable(module.P(1))) end
      end
      return module
    end
  end
  for i = 3, 4 do
    local searcher = package.searchers[i]
    package.searchers[i] = function(name)
      local loader, extra = searcher(name)
      if type(loader) ~= "function" then return loader end
      return wrap_loader(loader), extra
    end
  end
end

assert(loadfile(script))(table.unpack(arguments))
