expect(false)                                           --> expected a value that is true: false
expect(nil, "the answer")                               --> the answer: nil
expect_equal(1, 2)                                      --> 1, expected 2
expect_equal("a\nb", nil, "text")                       --> text: "a\nb", expected nil
expect_equal({ a = { 1, 2 } }, { a = { 1, 3 } }, "t")   --> t: a[2]: 2, expected 3
expect_equal({ 1 }, {})                                 --> [1]: 1, expected nil
expect_error(function() end, "x")                       --> no error, expected "x"
expect_error(function() error("y", 0) end, "x")         --> the error "y" lacks "x"
expect_error(function() error("y", 0) end, "(")         --> the error "y" lacks "("
log "one"
expect_log {}                                           --> log: [1]: "one", expected nil
case("A case", function() expect(false, "no") end)      --> A case: no: false
case("A case", function() error "raised" end)           --> A case: Failing/checks.lua:13: raised
case("A case", function() assert(nil, "told") end)      --> A case: Failing/checks.lua:14: told
case("A case", function() assert(nil) end)  --> A case: Failing/checks.lua:15: assertion failed!
case("B", function() end)
case("A", function() assert.is_nil(1) end)            --> A: Failing/checks.lua:17: 1, expected nil
