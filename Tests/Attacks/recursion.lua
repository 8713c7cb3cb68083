local function f(n) return n == 0 and 0 or 1 + f(n - 1) end
while true do pcall(f, 190000) end
