-- Each of these calls has one misspelt option. Read by a check, never run.
local obs = require "obs"
local t = { name = "", copy = function() if obs then return { imediate = true } end end }

obs.observe(t, "name", function() print { imediate = 1 } end, { imediate = true, name = "n" })
obs.observe_edits(t, print, { initial = true, onec = true })
obs.observe_keys(t, { "name" }, print, { obsever = t })
obs.stop(t, { paths = "name" })
obs.lazy(t, "key", { get = print, cachd = false })
obs.model("Model", { name = "", lazy = obs.lazy { gett = print } })
obs.raw(t, { computd = true })
obs.limits { timer = 1 }
