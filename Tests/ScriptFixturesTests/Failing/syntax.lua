expect(true)
local = 1
