-- One interface for graphs of lazy properties in tables, in Swift models and in both, so that the
-- same cases run with each of them.
--
-- Every node has the properties `value` (computed by its operation), `deep` (the source of the left
-- of its left), `total` (the sum of the values of its inputs), `double` (twice its value, not kept)
-- and `kept` (its source at the time of the computation, until invalidated). Only its adapter knows
-- the type of a node.
local folder = debug.getinfo(1, "S").source:match "^@(.*/)"
local obs = require "obs"
local operations = dofile(folder .. "operations.lua")

local getters = {}
function getters.deep(self)
  local left = self.left
  local far = left and left.left
  return far and far.source or 0
end
function getters.total(self)
  local sum = 0
  for _, node in ipairs(self.inputs or {}) do sum = sum + node.value end
  return sum
end
function getters.double(self) return self.value * 2 end
function getters.kept(self) return self.source end

-- node → the number of computations of each property.
local runs = setmetatable({}, {__mode = "k"})
local function count(node, name)
  local counts = runs[node]
  if not counts then
    counts = {}
    runs[node] = counts
  end
  counts[name] = (counts[name] or 0) + 1
end
local function counted(name, get)
  return function(self)
    count(self, name)
    return get(self)
  end
end

-- Nodes that a script reads and writes as tables, or as objects with the same syntax.
local function common(adapter)
  function adapter.write(node, value) node.source = value end
  function adapter.link(node, key, other) node[key] = other end
  function adapter.list(node, others)
    node.inputs = others and adapter.make_list(others) or nil
  end
  function adapter.insert(node, i, other) table.insert(node.inputs, i, other) end
  function adapter.remove(node, i) table.remove(node.inputs, i) end
  function adapter.read(node, name) return node[name] end
  function adapter.set(node, name, value) node[name] = value end
  function adapter.runs(node, name) return runs[node] and runs[node][name] or 0 end
  function adapter.observe(node, path, callback, options)
    return obs.observe(node, path, callback, options)
  end
  adapter.peek, adapter.invalidate, adapter.is_valid = obs.peek, obs.invalidate, obs.is_valid
  adapter.force, adapter.batch = obs.force, obs.batch
  function adapter.release() end
  function adapter.way_of() return adapter.way end
  -- Returns a function that tells later whether the node still exists.
  function adapter.witness(node)
    local weak = setmetatable({node}, {__mode = "v"})
    return function() return weak[1] ~= nil end
  end
  return adapter
end

local function copy(list) return table.move(list, 1, #list, 1, {}) end

local VALUE_DEPS = {"source", "left.value", "right.value", "inputs.*.value"}

-- Tables ------------------------------------------------------------------------------------------

local function declare(node, operation, is_tracked)
  local function computed(name, deps, get)
    if is_tracked then obs.computed(node, name, counted(name, get)) return end
    obs.computed(node, name, deps, counted(name, get))
  end
  computed("value", VALUE_DEPS, operations[operation])
  computed("deep", {"left.left.source"}, getters.deep)
  computed("total", {"inputs.@sum.value"}, getters.total)
  obs.lazy(node, "double",
    {get = counted("double", getters.double), deps = {"value"}, cached = false})
  obs.lazy(node, "kept", counted("kept", getters.kept))
end

local function tables(kind, is_tracked, make_list)
  local adapter = common {
    kind = kind, way = is_tracked and "tracked" or "declared", is_lua = true,
    make_list = make_list or copy,
  }
  function adapter.new(operation, source)
    local node = {source = source}
    declare(node, operation, is_tracked)
    return node
  end
  return adapter
end

-- Instances of a model ----------------------------------------------------------------------------

local function model(kind, is_tracked)
  local adapter = common {
    kind = kind, way = is_tracked and "tracked" or "declared", is_lua = true, make_list = copy,
  }
  local function computed(name, deps, get)
    if is_tracked then return obs.computed(counted(name, get)) end
    return obs.computed(deps, counted(name, get))
  end
  local Node = obs.model("Node", {
    source = 0, operation = "source", left = obs.none, right = obs.none, inputs = obs.none,
    value = computed("value", VALUE_DEPS, function(self)
      return operations[self.operation](self)
    end),
    deep = computed("deep", {"left.left.source"}, getters.deep),
    total = computed("total", {"inputs.@sum.value"}, getters.total),
    double = obs.lazy {get = counted("double", getters.double), deps = {"value"}, cached = false},
    kept = obs.lazy(counted("kept", getters.kept)),
  })
  function adapter.new(operation, source) return Node {operation = operation, source = source} end
  return adapter
end

-- Swift models that Swift code reads, writes and observes -----------------------------------------
-- The host gives functions over numbers that identify nodes.

local function swift(kind, way)
  local core = swift_graph
  local adapter = {kind = kind, way = way}
  function adapter.new(operation, source) return core.new_node(way, operation, source) end
  for _, name in ipairs {
    "write", "insert", "remove", "read", "set", "peek", "invalidate", "is_valid", "force",
    "release",
  } do
    adapter[name] = core[name]
  end
  function adapter.link(node, key, other) core.link(node, key, other or -1) end
  function adapter.list(node, others) core.list(node, others or false) end
  function adapter.insert(node, i, other) core.insert(node, i - 1, other) end
  function adapter.remove(node, i) core.remove(node, i - 1) end
  function adapter.runs(node, name) return core.runs(node, name) end
  function adapter.invalidate(node, name) core.invalidate(node, name or "") end
  function adapter.observe(node, path, callback, options)
    options = options or {}
    local number = core.observe(
      node, path, options.immediate or false, options.once or false, options.initial or false,
      function() callback() end)
    local watcher = setmetatable({}, {__index = function(_, key)
      if key == "active" then return core.is_active(number) end
    end})
    function watcher.stop() core.stop_watcher(number) end
    function watcher.pause() core.pause_watcher(number) end
    function watcher.resume() core.resume_watcher(number) end
    return watcher
  end
  adapter.batch = core.batch
  function adapter.way_of() return way end
  function adapter.witness(node)
    local witness = core.witness(node)
    return function() return core.is_alive(witness) end
  end
  return adapter
end

-- Both: every second node is a Swift object, whose references are boxes, tables {it = node}
-- --------

local function mixed(kind, is_tracked)
  local adapter = common {
    kind = kind, way = is_tracked and "tracked" or "declared", is_mixed = true, make_list = copy,
  }
  local next_is_swift = false
  -- One box for each node: a different box would be a change.
  local boxes = setmetatable({}, {__mode = "kv"})
  local function boxed(other)
    local box = boxes[other]
    if not box then
      box = {it = other}
      boxes[other] = box
    end
    return box
  end
  local link, list, runs_of = adapter.link, adapter.list, adapter.runs
  function adapter.new(operation, source)
    local is_swift = next_is_swift
    next_is_swift = not is_swift
    if is_swift then return swift_graph.new_boxed(operation, source) end
    local node = {source = source}
    declare(node, operation, is_tracked)
    return node
  end
  function adapter.link(node, key, other)
    if type(node) == "userdata" then other = other ~= nil and boxed(other) or nil end
    link(node, key, other)
  end
  function adapter.observe(node, path, callback, options)
    if type(node) == "userdata" then path = path:gsub("^left%.", "left.it.") end
    return obs.observe(node, path, callback, options)
  end
  function adapter.way_of(node)
    return type(node) == "userdata" and "declared" or adapter.way
  end
  function adapter.runs(node, name)
    if type(node) == "userdata" then return swift_graph.boxed_runs(node, name) end
    return runs_of(node, name)
  end
  return adapter
end

return {
  declared = function() return tables("tables, declared", false) end,
  tracked = function() return tables("tables, tracked", true) end,
  declared_arrays = function() return tables("arrays, declared", false, obs.array) end,
  tracked_arrays = function() return tables("arrays, tracked", true, obs.array) end,
  declared_model = function() return model("a model, declared", false) end,
  tracked_model = function() return model("a model, tracked", true) end,
  swift_declared = function() return swift("Swift, declared", "declared") end,
  swift_tracked = function() return swift("Swift, tracked", "tracked") end,
  mixed_declared = function() return mixed("mixed, declared", false) end,
  mixed_tracked = function() return mixed("mixed, tracked", true) end,
}
