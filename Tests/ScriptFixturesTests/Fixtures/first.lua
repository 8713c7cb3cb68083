-- Each fixture has separate globals: this holds here and in second.lua.
expect_equal(leaked, nil)
expect_equal(package.loaded.leaked, nil)
leaked, package.loaded.leaked, string.leaked = true, true, true
