-- The globals of files that obs-lua runs as tests, for luacheck. In .luacheckrc:
--
--     stds.obs = dofile "/usr/share/obs-lua/luacheck.lua"
--     std = "lua54+obs"
--
-- The module `obs` is not a global, so luacheck finds scripts without `local obs = require "obs"`.
return {
  read_globals = {
    "expect", "expect_equal", "expect_error", "log", "expect_log", "case", "it", "test", "spec",
    "describe", "context", "insulate", "expose", "before_each", "after_each", "setup",
    "lazy_setup", "strict_setup", "teardown", "lazy_teardown", "strict_teardown", "finally",
    "pending", "skip", "spy", "stub", "mock", "advance",
    assert = { other_fields = true }, match = { other_fields = true },
  },
}
