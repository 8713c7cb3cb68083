-- Timing for the scripts of this folder. Each prints lines of
-- `concept: name<TAB>value<TAB>unit<TAB>limit`; see Benchmarks/README.md.
local bench = {}

local clock = os.clock
local rounds = tonumber(os.getenv "BENCH_ROUNDS") or 9
local seconds = { ns = 1e9, ["µs"] = 1e6, ms = 1e3 }

-- Compared rows are timed alternately, round by round, so that the load of the machine affects all
-- of them.
local pending = {}

--- body(n) does the operation n times. limit: nil, a number in the unit, or "factor * concept:
--- name". unit: ns by default.
function bench.row(name, n, limit, body, unit)
  pending[#pending + 1] = {
    name = name, n = n, limit = limit or "", body = body, unit = unit or "ns", samples = {},
  }
end

--- Times the rows added since the last run, prints them, and returns the values by name. at_most:
--- the number of rounds, for rows that take seconds.
function bench.run(at_most)
  local values = {}
  for _, row in ipairs(pending) do row.body(math.max(1, row.n // 10)) end
  for _ = 1, math.min(rounds, at_most or rounds) do
    for _, row in ipairs(pending) do
      local start = clock()
      row.body(row.n)
      row.samples[#row.samples + 1] = (clock() - start) / row.n * seconds[row.unit]
    end
  end
  for _, row in ipairs(pending) do
    table.sort(row.samples)
    local value = row.samples[(#row.samples + 1) // 2]
    values[row.name] = value
    bench.print(row.name, value, row.unit, row.limit)
  end
  pending = {}
  return values
end

function bench.print(name, value, unit, limit)
  print(("%s\t%.2f\t%s\t%s"):format(name, value, unit, limit or ""))
end

return bench
