-- Each fixture has globals of its own: this is as true here as in first.lua.
expect_equal(leaked, nil)
expect_equal(package.loaded.leaked, nil)
leaked, package.loaded.leaked, string.leaked = true, true, true
