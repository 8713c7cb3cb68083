-- The operations of the nodes of a graph. A node has a number `source`, and can have other nodes
-- `left` and `right` and a list of nodes `inputs`; each operation reads the `value` of the nodes
-- that it needs.
local operations = {}

local function left_value(self)
  local left = self.left
  return left and left.value or 0
end

function operations.source(self) return self.source end

-- The sum of all reachable values.
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

-- Reads only the side that it needs.
function operations.choose(self)
  if left_value(self) == 0 then return self.source end
  local right = self.right
  return right and right.value or 0
end

-- Changes less often than its dependencies.
function operations.sign(self)
  local value = left_value(self)
  return value > 0 and 1 or value < 0 and -1 or 0
end

-- An error below zero. If the error comes from the left, the node only passes it on.
function operations.root(self)
  local value = left_value(self)
  if value < 0 then error("no root of " .. value, 0) end
  return value
end

-- Continues if the left has an error.
function operations.careful(self)
  local ok, value = pcall(left_value, self)
  return ok and value or -1000
end

return operations
