-- A full name: computed when it is read, and kept until one of its dependencies changes.

local obs = require "obs"

local person = { first = "Ada", last = "Byron" }

-- Declared dependencies: two key paths.
obs.computed(person, "full", { "first", "last" }, function(self)
  print("  (full name)")
  return self.first .. " " .. self.last
end)

-- Tracked dependencies: the properties that the function reads.
obs.computed(person, "initial", function(self)
  print("  (initial)")
  return self.full:sub(1, 1)
end)
obs.computed(person, "badge", function(self)
  print("  (badge)")
  return "[" .. self.initial .. "]"
end)

print("nothing is computed before it is read")
print(person.badge, person.full)

print("a write computes nothing either; the next read does")
person.last = "Lovelace"
print(obs.is_valid(person, "full"), obs.peek(person, "full"))
print(person.full)

print("what is watched is computed at once, and then once in each turn that changed it")
obs.observe(person, "badge", function(person) print("badge", person.badge) end)
person.first = "Augusta Ada"
person.last = "King"
obs.flush()

print("the full name is another one, its initial is not: the badge is left alone")
person.first = "Annabella"
obs.flush()

print("assigned: valid until a dependency changes")
person.full = "Countess of Lovelace"
obs.flush()
print(person.full)
person.last = "Lovelace"
obs.flush()
print(person.full)
