-- Rule C9 for collections with lazy keys: these keys are not elements, neither for operators and
-- sizes nor for `*` before the end of a path, whether they are valid or not, observed or not.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/checking.lua")

local function dictionary()
  local d = obs.dictionary { a = 1, b = 2 }
  obs.computed(d, "total", { "a", "b" }, function(self) return self.a + self.b end)
  return d
end

check("C9: a lazy key of a dictionary is neither summed nor counted", function()
  local d = dictionary()
  for _ = 1, 2 do
    eq(obs.get(d, "@sum"), 3)
    eq(obs.get(d, "count"), 2)
    eq(obs.get(d, "@max"), 2)
    eq(#obs.get(d, "@unionOfObjects"), 2)
    eq(d.total, 3)
  end
end)

check("C9: … nor while the operators are observed", function()
  local d, log = dictionary(), {}
  obs.observe(d, "@sum", function() log[#log + 1] = "sum " .. obs.get(d, "@sum") end)
  obs.observe(d, "count", function() log[#log + 1] = "count " .. obs.get(d, "count") end)
  eq(d.total, 3)
  d.a = 5
  obs.flush()
  eq(d.total, 7)
  d.total = 100
  obs.flush()
  eq(obs.get(d, "@sum"), 7)
  eq(obs.get(d, "count"), 2)
  d.c = 1
  obs.flush()
  eq(table.concat(log, ", "), "sum 7, sum 8, count 3")
end)

check("C9: an entry that becomes lazy leaves, and returns when it is forgotten", function()
  local d, log = obs.dictionary { a = 1, b = 2, c = 3 }, {}
  obs.observe(d, "@sum", function() log[#log + 1] = "sum " .. obs.get(d, "@sum") end)
  obs.observe(d, "count", function() log[#log + 1] = "count " .. obs.get(d, "count") end)
  obs.computed(d, "c", { "a" }, function(self) return self.a end)
  obs.flush()
  eq(table.concat(log, ", "), "sum 3, count 2")
  eq(d.c, 1)
  obs.forget(d, "c")
  obs.flush()
  d.c = 4
  obs.flush()
  eq(table.concat(log, ", "), "sum 3, count 2, sum 7, count 3")
end)

check("C9: a plain list ends before its first lazy key", function()
  local list, log = { 5, 6 }, {}
  obs.computed(list, 3, { "#1", "#2" }, function(self) return self[1] + self[2] end)
  eq(list[3], 11)
  eq(obs.get(list, "@sum"), 11)
  eq(obs.get(list, "@count"), 2)
  eq(obs.get(list, "@last"), 6)
  obs.observe(list, "@sum", function() log[#log + 1] = obs.get(list, "@sum") end)
  list[1] = 1
  obs.flush()
  eq(list[3], 7)
  list[2] = 2
  obs.flush()
  eq(obs.get(list, "@count"), 2)
  eq(table.concat(log, " "), "7 3")
end)

check("C9: … also if it becomes lazy while it is observed", function()
  local list, log = { 1, 2, 3 }, {}
  obs.observe(list, { "@sum", "@count" }, function()
    log[#log + 1] = obs.get(list, "@sum") .. " of " .. obs.get(list, "@count")
  end)
  obs.lazy(list, 2, function() return 20 end)
  obs.flush()
  eq(list[2], 20)
  obs.forget(list, 2)
  list[2] = 5
  obs.flush()
  eq(table.concat(log, ", "), "1 of 1, 9 of 3")
end)

check("C9: … and if the lazy key is a hole of the list", function()
  local list = { 1, 2, 3, 4 }
  obs.observe(list, "@sum", function() end)
  list[2] = nil
  obs.flush()
  obs.lazy(list, 2, function() return 20 end)
  obs.flush()
  eq(obs.get(list, "@count"), 1)
  eq(obs.get(list, "@sum"), 1)
end)

check("C9: `*` before the end of a path skips lazy keys", function()
  local a, b, calls = { x = 1 }, { x = 2 }, 0
  local t = { n = 1, list = { a, b } }
  obs.computed(t, "current", { "n" }, function(self) return self.list[self.n] end)
  eq(t.current, a)
  obs.observe(t, "*.x", function() calls = calls + 1 end)
  a.x = 5
  obs.flush()
  eq(calls, 0)
end)

check("C10: an entry that becomes lazy is reported as an edit", function()
  local d, log = obs.dictionary { a = 1, b = 2 }, {}
  obs.observe_edits(d, function(_, edits)
    for _, edit in ipairs(edits) do log[#log + 1] = ("%s %s"):format(edit.kind, edit.at) end
  end)
  obs.lazy(d, "b", function() return 2 end)
  obs.flush()
  eq(d.b, 2)
  d.b = 3
  obs.flush()
  eq(table.concat(log, ", "), "remove b")
end)

finish()
