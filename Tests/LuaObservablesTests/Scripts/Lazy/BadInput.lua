-- Input that the functions of lazy properties reject, and the error messages.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

check("values that are not objects", function()
  for _, value in ipairs {5, "text", true, print} do
    fails("bad argument #1 to 'lazy' .*got " .. type(value), obs.lazy, value, "x", nothing)
    fails("bad argument #1 to 'computed' .*got " .. type(value),
      obs.computed, value, "x", {}, nothing)
    fails("bad argument #1 to 'invalidate'", obs.invalidate, value, "x")
    fails("bad argument #1 to 'is_valid'", obs.is_valid, value, "x")
    fails("bad argument #1 to 'valid_names'", obs.valid_names, value)
    fails("bad argument #1 to 'invalid_names'", obs.invalid_names, value)
    fails("bad argument #1 to 'forget'", obs.forget, value, "x")
    fails("bad argument #1 to 'force'", obs.force, value)
    fails("bad argument #1 to 'peek'", obs.peek, value, "x")
  end
  for _, name in ipairs {
    "invalidate", "is_valid", "valid_names", "invalid_names", "forget", "force", "peek",
  } do
    fails("bad argument #1 to '" .. name .. "'", obs[name])
    fails("bad argument #1 to '" .. name .. "'", obs[name], nil)
  end
end)
check("the error has the place of the call", function()
  fails("BadInput.lua:%d+: bad argument", function() obs.lazy({}, nil, nothing) end)
  fails("BadInput.lua:%d+: bad argument", function() obs.computed({}, "x", {}, 5) end)
  fails("BadInput.lua:%d+: bad argument", function() obs.invalidate(5) end)
end)
check("names", function()
  local t = {}
  for _, name in ipairs {{}, {{}}, {1.5, false}} do
    local ok, message = pcall(obs.lazy, t, name, nothing)
    assert(ok or message:find "bad argument #2 to 'lazy'", message)
  end
  fails("bad argument #2 to 'lazy'", obs.lazy, t, nil, nothing)
  fails("bad argument #2 to 'lazy'", obs.lazy, t, {}, nothing)
  fails("bad argument #2 to 'computed'", obs.computed, t, nil, {}, nothing)
  fails("bad argument #2 to 'is_valid'", obs.is_valid, t)
  fails("bad argument #2 to 'peek'", obs.peek, t)
end)
check("missing arguments, and nil", function()
  local t = {width = 1}
  for _, target in ipairs {t, {}} do
    fails("bad argument #2 to 'lazy' %(name of a property expected, got no value%)",
      obs.lazy, target)
    fails("bad argument #2 to 'computed' %(name of a property expected, got no value%)",
      obs.computed, target)
    fails("bad argument #3 to 'computed' %(list of key paths or function expected, got no value%)",
      obs.computed, target, "x")
  end
  fails("unknown option 'laoder' %(did you mean 'loader'%?%)", obs.lazy, {laoder = nothing})
  fails("bad argument #1 to 'lazy' %(table expected, got nil%)", obs.lazy, nil, "x", nothing)
  fails("bad argument #1 to 'computed' %(table expected, got nil%)",
    obs.computed, nil, "x", nothing)
  fails("bad argument #2 to 'lazy' %(name of a property expected, got nil%)",
    obs.lazy, t, nil, nothing)
  fails("bad argument #2 to 'computed' %(name of a property expected, got nil%)",
    obs.computed, t, nil, {"width"}, nothing)
  fails("bad argument #2 to 'is_valid' %(name of a property expected, got no value%)",
    obs.is_valid, t)
  fails("bad argument #2 to 'is_valid' %(name of a property expected, got nil%)",
    obs.is_valid, t, nil)
end)
check("a key path is not a name", function()
  local t, path = {}, obs.path("k")
  fails("bad argument #2 to 'computed' %(name of a property expected, got a key path%)",
    obs.computed, t, path, {"a"}, nothing)
  fails("bad argument #2 to 'lazy' %(name of a property expected, got a key path%)",
    obs.lazy, t, path, nothing)
  fails("bad argument #2 to 'lazy' %(name of a property expected, got a key path%)",
    obs.lazy, t, {"x", path}, nothing)
  eq(#obs.invalid_names(t), 0)
end)
check("metamethods are never lazy", function()
  local t = {}
  for _, name in ipairs {"__index", "__gc", "__anything"} do
    fails("__", obs.lazy, t, name, nothing)
    fails("__", obs.computed, t, name, {}, nothing)
  end
  eq(#obs.invalid_names(t), 0)
end)
check("getters and options", function()
  local t = {}
  for _, value in ipairs {5, "text", true} do
    fails("bad argument #3 to 'lazy'", obs.lazy, t, "x", value)
    fails("bad argument #%d to 'computed'", obs.computed, t, "x", value)
    fails("bad argument #4 to 'computed'", obs.computed, t, "x", {}, value)
    fails("get", obs.lazy, t, "x", {get = value})
    fails("loader", obs.lazy, t, "x", {loader = value})
    fails("create", obs.lazy, t, "x", {create = value})
    fails("configure", obs.lazy, t, "x", {create = nothing, configure = value})
  end
  fails("bad argument #%d to 'computed' .function expected", obs.computed, t, "x", {})
  fails("option 'deps' takes a table", obs.lazy, t, "x", {get = nothing, deps = 5})
  fails("bad argument #3 to 'lazy' .key path", obs.lazy, t, "x", {get = nothing, deps = {5}})
  fails("bad argument #3 to 'lazy' .table or object",
    obs.lazy, t, "x", {get = nothing, deps = {{}}})
  fails("bad argument #3 to 'lazy' .table or object",
    obs.lazy, t, "x", {get = nothing, deps = {{5, "x"}}})
  fails("gte", obs.lazy, t, "x", {gte = nothing})
  eq(#obs.invalid_names(t), 0)
  eq(t.x, nil)
end)
check("more than one way to get a value", function()
  local t = {}
  fails("get", obs.lazy, t, "x", {get = nothing, loader = nothing})
  fails("create", obs.lazy, t, "x", {get = nothing, create = nothing})
  fails("configure", obs.lazy, t, "x", {get = nothing, configure = nothing})
  eq(#obs.invalid_names(t), 0)
end)
check("a callable table is a getter", function()
  local t = {}
  local callable = setmetatable({}, {__call = function(_, self, name) return name end})
  obs.lazy(t, "x", {get = callable})
  eq(t.x, "x")
  obs.computed(t, "y", {}, callable)
  eq(t.y, "y")
end)
check("invalid paths fail at the declaration, not at the first read", function()
  local t = {}
  for path, pattern in pairs {
    [""] = "empty", ["a..b"] = "component", ["a."] = "component", ["a.#"] = "#", ["__index"] = "__",
    ["@nothing"] = "@nothing",
  } do
    fails(pattern, obs.computed, t, "x", {path}, nothing)
    fails(pattern, obs.lazy, t, "x", {get = nothing, deps = {path}})
  end
  eq(#obs.invalid_names(t), 0)
  eq(t.x, nil)
end)
check("a single path as text is a list of one, or an error", function()
  local t = {a = 1}
  local ok, message = pcall(obs.computed, t, "x", "a", function(self) return self.a end)
  if ok then
    eq(t.x, 1)
    t.a = 2
    eq(t.x, 2)
  else
    assert(message:find "bad argument #3 to 'computed'", message)
  end
end)
check("names that are not lazy", function()
  local t = {plain = 1}
  obs.lazy(t, "thumbnail", nothing)
  -- A plain property has no validity; the functions do no harm.
  for _, f in ipairs {obs.invalidate, obs.forget} do
    local ok, message = pcall(f, t, "plain")
    assert(ok or message:find "plain", message)
  end
  eq(t.plain, 1)
  eq(obs.peek(t, "plain"), 1)
  eq(obs.peek(t, "absent"), nil)
end)
check("collections and objects of the host", function()
  local array = obs.array {1}
  fails("arrays and sets have no lazy fields", obs.lazy, array, "x", nothing)
  fails("arrays and sets have no lazy fields", obs.computed, array, "x", {}, nothing)
  fails("arrays and sets have no lazy fields", obs.lazy, obs.set_of {}, "x", nothing)
  local Point = obs.model("Point", { x = 0 })
  local hint = "the model Point declares the lazy and computed properties of its instances in "
    .. "obs.model"
  fails(hint, obs.computed, Point, "y", { "x" }, nothing)
  fails(hint, obs.lazy, Point, "y", nothing)
  local io_file = io and io.stdout
  if io_file then fails("bad argument #1", obs.lazy, io_file, "x", nothing) end
end)
check("a getter that receives only the object", function()
  local t = {}
  obs.lazy(t, "x", function(...) return select("#", ...) end)
  assert(t.x == 2 or t.x == 1)
end)
check("keys of any type in place of a name", function()
  local t = {}
  local keys = {1, 2.5, true, {}, print, coroutine.create(print), io and io.stdout or 3}
  obs.lazy(t, keys, nothing)
  fails("'x' is not lazy", obs.invalidate, t, "x")
  fails("is not lazy", obs.invalidate, t, {{}})
  for _, key in ipairs(keys) do obs.invalidate(t, {key}) end
  local M = obs.model("Keyed", {name = obs.none, full = obs.lazy(nothing)})
  local m = M {}
  fails("did you mean 'name'", obs.observe, m, "nam", nothing)
  fails("is not lazy %(did you mean 'full'", obs.invalidate, m, "ful")
  for i = 2, #keys do
    fails("is not lazy", obs.invalidate, m, keys[i] == keys[4] and {{}} or keys[i])
  end
end)
finish()
