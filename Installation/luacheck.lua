-- What files that obs-lua runs as tests find among the globals, for luacheck. In .luacheckrc:
--
--     stds.obs = dofile "/usr/share/obs-lua/luacheck.lua"
--     std = "lua54+obs"
--
-- Scripts get the module by `local obs = require "obs"`: it is no global, so that luacheck finds
-- where that line is missing.
return {
  read_globals = {
    "expect", "expect_equal", "expect_error", "log", "expect_log", "case", "advance",
  },
}
