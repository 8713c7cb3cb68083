local function inner() error("out of tea") end
expect(true)

inner()
expect(false, "not reached")
