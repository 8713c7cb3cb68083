-- Examples of lazy properties (see `Support/examples.lua`) that run with each kind of object:
-- tables, instances of models and dictionaries, with declared and with tracked dependencies.
--
-- Their code makes objects with `object { name = value, property = computed(deps, get) }`. It makes
-- properties with `computed`, or with `lazy`, which takes the options of `obs.lazy`.
-- `declare(object, name, deps, get)` declares a property later.
local obs = require "obs"
dofile(debug.getinfo(1, "S").source:match "^@(.*/)" .. "../../Support/examples.lua")

local Declaration = {}

-- Declares the properties of a body on an object that is not an instance.
local function declare_all(object, body, computed)
  for name, value in next, body do
    if getmetatable(value) == Declaration then
      if value.options then obs.lazy(object, name, value.options)
      else computed(object, name, value.deps, value.get) end
    elseif value ~= obs.none then
      object[name] = value
    end
  end
  return object
end

local function tracked(t, name, _, get) return obs.computed(t, name, get) end

local function of_objects(make, computed)
  return {
    object = function(body) return declare_all(make(), body, computed) end,
    computed = function(deps, get) return setmetatable({deps = deps, get = get}, Declaration) end,
    lazy = function(options) return setmetatable({options = options}, Declaration) end,
    declare = computed,
  }
end

local function of_instances(computed, declare)
  return {
    -- Instances would have copies of plain tables in the body.
    object = function(body)
      local declared, fields = {}, {}
      for name, value in next, body do
        local is_plain = type(value) == "table" and getmetatable(value) == nil
        if is_plain then fields[name] = value end
        declared[name] = is_plain and obs.none or value
      end
      return obs.model("Example", declared)(fields)
    end,
    computed = computed, lazy = function(options) return obs.lazy(options) end, declare = declare,
  }
end

local function plain() return {} end
local kinds = {
  {"tables", of_objects(plain, obs.computed)},
  {"tables, tracked", of_objects(plain, tracked)},
  {"dictionaries", of_objects(obs.dictionary, obs.computed)},
  {"dictionaries, tracked", of_objects(obs.dictionary, tracked)},
  {"instances", of_instances(obs.computed, obs.computed)},
  {"instances, tracked",
    of_instances(function(_, get) return obs.computed(get) end, tracked)},
}

function each(sentence, show, text)
  for _, kind in ipairs(kinds) do
    check(("%s (%s)"):format(sentence, kind[1]), example_body(show, text, kind[2], 3))
  end
end
