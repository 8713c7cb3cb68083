-- Shows objects, watchers and lazy properties: a slice of the module `obs`.
local core, obs = ...

local rawlen, select, type = rawlen, select, type
local string_format = string.format
local bad_argument, check_observed, describe, graph_of, is_known, is_object =
  core.bad_argument, core.check_observed, core.describe, core.graph, core.is_known, core.is_object
local hint, kind_of = core.hint, core.kind

function obs.describe(observed)
  check_observed(observed, 1, "describe")
  -- Properties that the model declares belong to the object, whether they were used or not.
  core.instantiate(observed)
  return describe(observed)
end

-- The roots that `root` means: a plain list that is not observed means its elements.
local function roots_of(root)
  if type(root) ~= "table" or kind_of(root) or is_known(root) then return { root } end
  local count = rawlen(root)
  local roots = {}
  for i = 1, count do
    if not is_object(root[i]) then return { root } end
    roots[i] = root[i]
  end
  return count > 0 and roots or { root }
end

local formats = { "dot", "json", "mermaid" }

local function check_format(format)
  for i = 1, #formats do
    if format == formats[i] then return end
  end
  if type(format) ~= "string" then
    bad_argument(2, "graph", "name of a format expected, got " .. type(format))
  end
  bad_argument(2, "graph", string_format("unknown format '%s'%s", format,
    hint(format, formats, " (there are 'dot', 'json' and 'mermaid')")))
end

function obs.graph(root, ...)
  if root == nil then
    bad_argument(1, "graph", "table or object of the host program expected, got "
      .. (select("#", ...) == 0 and "no value" or "nil"))
  end
  check_observed(root, 1, "graph")
  local format = ...
  if format == nil then format = "dot" end
  check_format(format)
  local roots = roots_of(root)
  for i = 1, #roots do core.instantiate(roots[i]) end
  return graph_of(nil, format, roots)
end

return obs
