-- Global functions that check which objects are collected. A script begins with
--
--   dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/collecting.lua")
--
-- which includes `examples.lua`.
dofile(debug.getinfo(1, "S").source:match "^@(.*/)" .. "examples.lua")
local obs = require "obs"

-- Two full collections: everything unreferenced is freed, and finalizers have run.
function collect()
  collectgarbage()
  collectgarbage()
end
-- Weak references to what `make` returns.
function weakly(make) return setmetatable({ make() }, { __mode = "v" }) end
-- Checks that everything that `make` returns is collected once nothing outside refers to it.
function goes(sentence, make)
  check(sentence, function()
    local weak = weakly(make)
    obs.flush()
    collect()
    eq(next(weak), nil)
  end)
end
-- The same for objects that the engine forgets when the turn ends. `make` receives a table that is
-- kept.
function goes_in_turn(sentence, make)
  turns(sentence, function()
    local kept = {}
    local weak = weakly(function() return make(kept) end)
    for _ = 1, 3 do
      turn()
      collect()
    end
    eq(next(weak), nil)
  end)
end
