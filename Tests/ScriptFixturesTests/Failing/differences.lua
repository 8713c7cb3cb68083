expect_equal({ a = 1, b = { "x" } }, { b = {}, c = 3 })
