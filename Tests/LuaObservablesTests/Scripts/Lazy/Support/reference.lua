-- The expected values of the nodes of a graph, computed from scratch each time.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)"
local operations = dofile(folder .. "operations.lua")

local reference = {}

local Node = {}
Node.__index = Node

function reference.new(operation, source)
  return setmetatable({
    operation = operation, source = source,
    -- "declared" if declared paths count as dependencies, "tracked" if reads do.
    way = "declared",
    -- The value that overrides the node, or nil.
    override = nil,
  }, Node)
end

-- One look at a whole graph computes each value once.
local Look = {}
Look.__index = Look

function reference.look() return setmetatable({values = {}, traces = {}, views = {}}, Look) end

local function list_text(node)
  if not node.inputs then return "none" end
  local texts = {tostring(node.inputs)}
  for i, other in ipairs(node.inputs) do texts[i + 1] = tostring(other) end
  return table.concat(texts, " ")
end

local function note(trace, node, key, value) trace[#trace + 1] = {node, key, value} end

-- The node as a getter sees it; `trace` notes its reads.
function Look:view(node, trace)
  local look = self
  return setmetatable({}, {__index = function(_, key)
    if key == "value" then
      local result = look:result(node)
      note(trace, node, key, result.text)
      if result.failure then error(result.failure, 0) end
      return result.value
    elseif key == "source" then
      note(trace, node, key, node.source)
      return node.source
    elseif key == "inputs" then
      note(trace, node, key, list_text(node))
      if not node.inputs then return nil end
      local views = {}
      for i, other in ipairs(node.inputs) do views[i] = look:view(other, trace) end
      return views
    end
    note(trace, node, key, node[key] or false)
    return node[key] and look:view(node[key], trace)
  end})
end

local function evaluated(body, view)
  local ok, value = pcall(body, view)
  if ok then return {value = value, text = value} end
  return {failure = value, text = "error: " .. tostring(value)}
end

-- The stored elements and the values on the declared paths.
function Look:declared(node)
  local trace = {}
  note(trace, node, "source", node.source)
  for _, key in ipairs {"left", "right"} do
    local other = node[key]
    note(trace, node, key, other or false)
    if other then note(trace, other, "value", self:result(other).text) end
  end
  note(trace, node, "inputs", list_text(node))
  for _, other in ipairs(node.inputs or {}) do
    note(trace, other, "value", self:result(other).text)
  end
  return trace
end

-- {value} or {failure}, and `text`, which is equal for equal results.
function Look:result(node)
  local result = self.values[node]
  if result then return result end
  local trace = {}
  result = evaluated(operations[node.operation], self:view(node, trace))
  self.traces[node] = node.way == "declared" and self:declared(node) or trace
  if node.override then
    -- The node depends on the elements that its last computation read.
    self.traces[node] = node.way == "declared" and self.traces[node] or self:again(node.read)
    self.computed = self.computed or {}
    self.computed[node] = result
    result = {value = node.override, text = node.override}
  end
  self.values[node] = result
  return result
end

-- The elements of an older trace with their current values.
function Look:again(trace)
  local now = {}
  for i, entry in ipairs(trace or {}) do
    local node, key = entry[1], entry[2]
    local value
    if key == "value" then value = self:result(node).text
    elseif key == "inputs" then value = list_text(node)
    elseif key == "source" then value = node.source
    else value = node[key] or false end
    now[i] = {node, key, value}
  end
  return now
end

-- What a node depends on, directly or through other nodes: the entries of their traces, the nodes,
-- and whether one of them fails.
function Look:sources(node, found)
  found = found or {entries = {}, nodes = {}, has_failure = false}
  if found.nodes[node] then return found end
  found.nodes[node] = true
  local result = self:result(node)
  local computed = node.override and self.computed[node] or result
  found.has_failure = found.has_failure or computed.failure ~= nil
  for _, entry in ipairs(self.traces[node]) do
    found.entries[#found.entries + 1] = entry
    if entry[2] == "value" then self:sources(entry[1], found) end
  end
  return found
end

-- Whether some of these entries have other values now.
function Look:differs(entries)
  for i, now in ipairs(self:again(entries)) do
    if now[3] ~= entries[i][3] then return true end
  end
  return false
end

-- Errors are not compared: each one is a change.
function reference.same_trace(a, b)
  if #a ~= #b then return false end
  for i = 1, #a do
    if tostring(b[i][3]):find "^error" then return false end
    for k = 1, 3 do if a[i][k] ~= b[i][k] then return false end end
  end
  return true
end

-- All nodes that a node can reach, including itself.
function reference.reachable(node, into)
  into = into or {}
  if into[node] then return into end
  into[node] = true
  for _, key in ipairs {"left", "right"} do
    if node[key] then reference.reachable(node[key], into) end
  end
  for _, other in ipairs(node.inputs or {}) do reference.reachable(other, into) end
  return into
end

return reference
