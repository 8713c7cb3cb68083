-- Returns a function that calls another one with little memory left: short_of_memory(remainder,
-- body, …) returns the results of `pcall`. The script needs a memory limit.
local function fill(hog, size)
  while true do hog[#hog + 1] = ("y"):rep(size) .. #hog end
end

return function(remainder, body, ...)
  local pad, hog = ("x"):rep(remainder), {}
  for _, size in ipairs { 50000, 1000, 100, 30 } do pcall(fill, hog, size) end
  pad = nil
  local ok, result = pcall(body, ...)
  hog = nil
  collectgarbage()
  return ok, result
end
