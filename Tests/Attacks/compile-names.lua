-- Each name is looked up in fifty functions with two hundred variables.
local levels = {}
for i = 1, 50 do levels[i] = "local " .. ("a,"):rep(190) .. "a return function() " end
local chunk = table.concat(levels) .. "return " .. ("x+"):rep(9000) .. "x" .. (" end"):rep(50)
while true do assert(load(chunk)) end
