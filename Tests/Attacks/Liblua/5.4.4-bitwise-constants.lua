-- c764ca71: a bitwise operation reads an unwritten register.
local code = { "local a, b = ... local t = {" }
for i = 1, 300 do code[#code + 1] = i .. ".5," end
code = table.concat(code) .. "} return "
for _, expression in ipairs { "1 ~ (a or 3)", "70000 & (a and b)", "1 | (a == b or b)" } do
  local f, message = load(code .. expression)
  local expected = load("local a, b = ... return " .. expression)
  assert(f and pcall(f, 2, 5) == pcall(expected, 2, 5) or message:find("more than 256 constants"))
end
assert(load(code .. "(a or 3) ~ 1")(6, 5) == 7)
print "done"
