-- Input that the functions of lazy properties reject, and the error messages.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/examples.lua")

check("values that are not objects are rejected", function()
  for _, name in ipairs {
    "invalidate", "is_valid", "valid_names", "invalid_names", "forget", "force", "peek",
  } do
    for _, value in ipairs {5, "text", true, print} do
      local key = not name:find "names$" and name ~= "force" and "x" or nil
      fails("bad argument #1 to '" .. name .. "'", obs[name], value, key)
    end
    fails("bad argument #1 to '" .. name .. "'", obs[name])
    fails("bad argument #1 to '" .. name .. "'", obs[name], nil)
  end
  for _, value in ipairs {5, "text", true, print} do
    fails("bad argument #1 to 'lazy' .*got " .. type(value), obs.lazy, value, "x", nothing)
    fails("bad argument #1 to 'computed' .*got " .. type(value),
      obs.computed, value, "x", {}, nothing)
  end
end)
example("names, and missing arguments", "#obs.invalid_names(t)", [[
  local lazy, computed, is_valid, t, path = obs.lazy, obs.computed, obs.is_valid, {}, obs.path("k")
  for _, target in ipairs { t, { width = 1 } } do
    lazy(target)                      --! #2 to 'lazy' %(name of a property expected, got no value%)
    computed(target)
      --! #2 to 'computed' %(name of a property expected, got no value%)
    computed(target, "x")
      --! #3 to 'computed' %(list of key paths or function expected, got no value%)
  end
  lazy({ laoder = nothing })          --! unknown option 'laoder' %(did you mean 'loader'%?%)
  lazy(nil, "x", nothing)             --! #1 to 'lazy' %(table expected, got nil%)
  computed(nil, "x", nothing)         --! #1 to 'computed' %(table expected, got nil%)
  lazy(t, nil, nothing)
    --! BadInput.lua:%d+: .*#2 to 'lazy' %(name of a property expected, got nil%)
  computed(t, nil, { "w" }, nothing)  --! #2 to 'computed' %(name of a property expected, got nil%)
  lazy(t, {}, nothing)                --! #2 to 'lazy'
  is_valid(t)
    --! #2 to 'is_valid' %(name of a property expected, got no value%)
  is_valid(t, nil)                    --! #2 to 'is_valid' %(name of a property expected, got nil%)
  obs.peek(t)                         --! #2 to 'peek'
  -- A key path is not a name, and metamethods are never lazy.
  computed(t, path, { "a" }, nothing)
    --! #2 to 'computed' %(name of a property expected, got a key path%)
  lazy(t, path, nothing)
    --! #2 to 'lazy' %(name of a property expected, got a key path%)
  lazy(t, { "x", path }, nothing)
    --! #2 to 'lazy' %(name of a property expected, got a key path%)
  for _, name in ipairs { "__index", "__gc", "__anything" } do
    lazy(t, name, nothing)            --! __
    computed(t, name, {}, nothing)    --! __
  end                                 --> 0
]])
example("getters, options and paths are checked at the declaration",
  "#obs.invalid_names(t), t.x", [[
  local t = {}
  local function lazy(options) return obs.lazy(t, "x", options) end
  local function computed(...) return obs.computed(t, "x", ...) end
  for _, value in ipairs { 5, "text", true } do
    lazy(value)                                 --! #3 to 'lazy'
    computed(value)                             --! BadInput.lua:%d+: bad argument #%d to 'computed'
    computed({}, value)                         --! #4 to 'computed'
    lazy { get = value }                        --! get
    lazy { loader = value }                     --! loader
    lazy { create = value }                     --! create
    lazy { create = nothing, configure = value }  --! configure
  end
  computed({})                                  --! #%d to 'computed' .function expected
  lazy { get = nothing, deps = 5 }              --! option 'deps' takes a table
  lazy { get = nothing, deps = { 5 } }          --! #3 to 'lazy' .key path
  lazy { get = nothing, deps = { {} } }         --! #3 to 'lazy' .table or object
  lazy { get = nothing, deps = { { 5, "x" } } } --! #3 to 'lazy' .table or object
  lazy { gte = nothing }                        --! gte
  -- More than one way to get a value.
  lazy { get = nothing, loader = nothing }      --! get
  lazy { get = nothing, create = nothing }      --! create
  lazy { get = nothing, configure = nothing }   --! configure
  lazy { get = nothing, track = true, deps = { "a" } }  --! 'track' and 'deps' exclude each other
  for path, pattern in pairs {
    [""] = "empty", ["a..b"] = "component", ["a."] = "component", ["a.#"] = "#", ["__index"] = "__",
    ["@nothing"] = "@nothing",
  } do
    fails(pattern, computed, { path }, nothing)
    fails(pattern, lazy, { get = nothing, deps = { path } })
  end                                           --> 0 nil
]])
example("a callable table is a getter, and a single path a list of one", "t.x, t.y", [[
  local t = { a = 1 }
  obs.lazy(t, "x", { get = setmetatable({}, { __call = function(_, self, name) return name end }) })
  obs.computed(t, "y", "a", function(self) return self.a end)  --> x 1
  t.a = 2                                       --> x 2
]])
example("names that are not lazy, and keys of any type in place of a name", "t.plain", [[
  local t = { plain = 1 }
  obs.lazy(t, "thumbnail", nothing)
  obs.invalidate(t, "plain")                    --! 'plain' is not lazy
  obs.forget(t, "plain")                        --> 1
  = obs.peek(t, "plain"), obs.peek(t, "absent") --> 1 nil
  local keys = { 1, 2.5, true, {}, print, coroutine.create(print), io and io.stdout or 3 }
  obs.lazy(t, keys, nothing)
  obs.invalidate(t, "x")                        --! 'x' is not lazy
  obs.invalidate(t, { {} })                     --! is not lazy
  for _, key in ipairs(keys) do obs.invalidate(t, { key }) end
  local m = obs.model("Keyed", { name = obs.none, full = obs.lazy(nothing) }) {}
  obs.observe(m, "nam", nothing)                --! did you mean 'name'
  obs.invalidate(m, "ful")                      --! is not lazy %(did you mean 'full'
  for i = 2, #keys do
    obs.invalidate(m, { keys[i] })              --! is not lazy
  end
]])
example("collections, models and objects of the host have no lazy fields", nil, [[
  obs.lazy(obs.array { 1 }, "x", nothing)       --! arrays and sets have no lazy fields
  obs.computed(obs.array {}, "x", {}, nothing)  --! arrays and sets have no lazy fields
  obs.lazy(obs.set_of {}, "x", nothing)         --! arrays and sets have no lazy fields
  local Point = obs.model("Point", { x = 0 })
  local hint = "the model Point declares the lazy and computed properties of its instances in "
    .. "obs.model"
  fails(hint, obs.computed, Point, "y", { "x" }, nothing)
  fails(hint, obs.lazy, Point, "y", nothing)
  if io then fails("bad argument #1", obs.lazy, io.stdout, "x", nothing) end
]])
finish()
