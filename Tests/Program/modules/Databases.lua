local driver, show = require "luasql.sqlite3", require "show"

local environment = driver.sqlite3()
local connection = assert(environment:connect(":memory:"))
assert(connection:execute "CREATE TABLE people (name TEXT, age INTEGER, height REAL)")
for _, person in ipairs(O { { "Ada", 36, 1.6 }, { "Grace", 85, 1.7 }, { "Edsger", 72, 1.8 } }) do
  assert(connection:execute(string.format("INSERT INTO people VALUES ('%s', %d, %f)",
    person[1], person[2], person[3])))
end

local row = O { name = "before", stays = true }
local cursor = assert(connection:execute "SELECT * FROM people ORDER BY age")
while cursor:fetch(row, "a") do show("by name", row) end
cursor = assert(connection:execute "SELECT * FROM people ORDER BY age")
row = O { "old", "older", "oldest", "fourth" }
while cursor:fetch(row, "n") do show("by number", row, #row) end
cursor = assert(connection:execute "SELECT name, age FROM people ORDER BY name")
show("columns", O(cursor:getcolnames()), O(cursor:getcoltypes()))
local rows = O {}
local new = cursor:fetch(O {}, "a")
while new do
  rows[#rows + 1] = new
  new = cursor:fetch(O {}, "a")
end
show("rows", rows)
cursor:close()
show("closed", connection:close(), environment:close())
