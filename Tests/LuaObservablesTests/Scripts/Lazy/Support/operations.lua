-- What the nodes of a graph compute. A node has a number `source`, perhaps other nodes `left` and
-- `right` and a list of them `inputs`; each reads the `value` of those it needs.
local operations = {}

local function left_value(self)
  local left = self.left
  return left and left.value or 0
end

function operations.source(self) return self.source end

-- All that can be reached, added up.
function operations.sum(self)
  local left, right, inputs = self.left, self.right, self.inputs
  local sum = self.source
  if left then sum = sum + left.value end
  if right then sum = sum + right.value end
  if inputs then
    for _, node in ipairs(inputs) do sum = sum + node.value end
  end
  return sum
end

-- Only the side that counts is read.
function operations.choose(self)
  if left_value(self) == 0 then return self.source end
  local right = self.right
  return right and right.value or 0
end

-- Changes less often than what it is computed of.
function operations.sign(self)
  local value = left_value(self)
  return value > 0 and 1 or value < 0 and -1 or 0
end

-- An error below zero, which is not the node's own idea where an error comes from the left.
function operations.root(self)
  local value = left_value(self)
  if value < 0 then error("no root of " .. value, 0) end
  return value
end

-- Goes on where the left has an error.
function operations.careful(self)
  local ok, value = pcall(left_value, self)
  return ok and value or -1000
end

return operations
