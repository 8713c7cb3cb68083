-- The values of the operators that combine members (C9), for the references.
--
-- `values[1…n]` are the values of the members on the path behind the operator, without nil; `count`
-- is the number of members.
-- `elements_of(value)` returns the elements of a value that may be a collection, and their number.
-- Raises an error if the operator has no value.
return function(operator, values, n, count, elements_of)
  if operator == "any" or operator == "all" then
    for k = 1, n do
      if operator == "any" and values[k] then return true end
      if operator == "all" and not values[k] then return false end
    end
    return operator == "all" and n == count
  elseif operator == "sum" or operator == "avg" then
    local sum = 0
    for k = 1, n do
      if not math.type(values[k]) then error("not a number under @" .. operator, 0) end
      sum = sum + values[k]
    end
    if operator == "sum" then return sum end
    if n == 0 then return nil end
    return sum / n
  elseif operator == "min" or operator == "max" then
    local best
    for k = 1, n do
      local value = values[k]
      -- NaN is neither less nor greater than anything.
      local is_odd = not math.type(value) and type(value) ~= "string"
      if is_odd or best and value == value and type(value) ~= type(best) then
        error("no order under @" .. operator, 0)
      end
      if value == value and (best == nil or operator == "min" and value < best
          or operator == "max" and value > best) then
        best = value
      end
    end
    return best
  end
  if not operator:find "Objects$" then
    local flat = {}
    for k = 1, n do
      local members, length = elements_of(values[k])
      table.move(members, 1, length, #flat + 1, flat)
    end
    values = flat
  end
  if operator:find "^unionOf[OA]" then return values end
  -- Compared by members, in any order.
  local distinct, seen = {is_distinct = true}, {}
  for _, value in ipairs(values) do
    local key = value
    if value ~= value then key = seen end
    if not seen[key] then
      seen[key] = true
      distinct[#distinct + 1] = value
    end
  end
  return distinct
end
