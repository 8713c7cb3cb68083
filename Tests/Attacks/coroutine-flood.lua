local function nop() end

local list = {}
while true do list[#list % 1000 + 1] = coroutine.create(nop) end
