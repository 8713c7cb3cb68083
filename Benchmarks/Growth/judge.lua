-- Judges the counts of growth.lua: judge.lua counts figures update function…
--
-- `counts` has lines of function, size, order, number, and instructions of one operation, with tabs
-- between them. `figures` has the committed counts of the smaller size.
local counts_path, figures_path, update = arg[1], arg[2], arg[3] == "update"

-- The most instructions that each order allows for a size of 8 n if the operation takes `few` for
-- n. Counts differ by up to 500 for other reasons, such as a longer list or a deeper tree.
local orders = {
  flat = function(few) return few * 1.25 + 500 end,
  log = function(few) return few * 1.6 + 500 end,
  linear = function(few) return few * 8 * 1.25 end,
  ["n log n"] = function(few) return few * 8 * 1.25 * 1.4 end,
}

local known = {}
local file = io.open(figures_path)
if file then
  for line in file:lines() do
    local key, count = line:match "^(.*)\t(%d+)$"
    known[key] = tonumber(count)
  end
  file:close()
end

local rows, found, lines = {}, {}, {}
for line in io.lines(counts_path) do
  local name, size, order, _, count = line:match "^(.-)\t(.-)\t(.-)\t(.-)\t(.*)$"
  local key = name .. "\t" .. size
  if not found[key] then
    found[key] = { few = tonumber(count) }
    for each in name:gmatch "%S+" do found[each] = true end
    rows[#rows + 1] = { key = key, name = name, size = size, order = order, counts = found[key] }
  else
    found[key].many = tonumber(count)
  end
end
table.sort(rows, function(a, b) return a.key < b.key end)

local status = true
local function report(mark, row, text)
  status = status and mark == "✔"
  print(("%s %-22s %-50s %9d %10d  %s"):format(mark, row.name, row.size, row.counts.few,
    row.counts.many, text))
end
for _, row in ipairs(rows) do
  local few, many, before = row.counts.few, row.counts.many, known[row.key]
  if many > orders[row.order](few) then
    report("✘", row, "grows faster than " .. row.order)
  elseif before and few > before * 1.1 and few > before + 100 and not update then
    report("✘", row, ("%+.0f %% of %d"):format((few / before - 1) * 100, before))
  else
    report("✔", row, row.order)
  end
  if not row.size:find "^beside" then known[row.key] = few end
end
for i = 4, #arg do
  if not found[arg[i]] then
    print("✘ no row in Benchmarks/Growth/rows.lua measures " .. arg[i])
    status = false
  end
end

if update then
  for key, count in pairs(known) do lines[#lines + 1] = ("%s\t%d\n"):format(key, count) end
  table.sort(lines)
  local written = assert(io.open(figures_path, "w"))
  written:write(table.concat(lines))
  written:close()
end
os.exit(status)
