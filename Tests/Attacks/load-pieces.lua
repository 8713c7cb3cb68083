while true do load(function() return "" end) end
