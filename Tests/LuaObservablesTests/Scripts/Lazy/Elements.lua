-- Rule C9 for collections with lazy keys: these keys are not elements, neither for operators and
-- sizes nor for `*` before the end of a path, whether they are valid or not, observed or not.
local obs = require "obs"
dofile((debug.getinfo(1, "S").source:match "^@(.*/)" or "./") .. "../Support/examples.lua")

function sum(object) return obs.get(object, "@sum") end

example("C9: a lazy key of a dictionary is neither summed nor counted, also while it is observed",
  "n(), sum(d), obs.get(d, 'count'), obs.get(d, '@max'), #obs.get(d, '@unionOfObjects')", [[
  local d = obs.dictionary { a = 1, b = 2 }
  obs.computed(d, "total", { "a", "b" }, function(self) return self.a + self.b end)
  local n
  = sum(d), obs.get(d, "count")         --> 3 2
  = d.total, sum(d)                     --> 3 3
  n = counter(d, { "@sum", "count" })   --> 0 3 2 2 2
  d.a = 5                               --> 1 7 2 5 2
  = d.total                             --> 7
  d.total = 100                         --> 0 7 2 5 2
  d.c = 1                               --> 1 8 3 5 3
  -- An entry that becomes lazy leaves, and returns when it is forgotten.
  obs.computed(d, "c", { "a" }, function(self) return self.a end)  --> 1 7 2 5 2
  = d.c                                 --> 5
  obs.forget(d, "c")                    --> 0 7 2 5 2
  d.c = 4                               --> 1 11 3 5 3
]])
example("C9: a plain list ends before its first lazy key",
  "n(), list[3], sum(list), obs.get(list, '@count'), obs.get(list, '@last')", [[
  local list = { 5, 6 }
  obs.computed(list, 3, { "#1", "#2" }, function(self) return self[1] + self[2] end)
  local n
  = list[3], sum(list), obs.get(list, "@count")  --> 11 11 2
  n = counter(list, "@sum")             --> 0 11 11 2 6
  list[1] = 1                           --> 1 7 7 2 6
  list[2] = 2                           --> 1 3 3 2 2
]])
example("C9: … also if a key becomes lazy while the list is observed, whether or not it is a hole",
  "n(), sum(list), obs.get(list, '@count')", [[
  local list = { 1, 2, 3 }
  local n = counter(list, { "@sum", "@count" })
  obs.lazy(list, 2, function() return 20 end)    --> 1 1 1
  = list[2]                                      --> 20
  obs.forget(list, 2)
  list[2] = 5                                    --> 1 9 3
  list[2] = nil
  obs.flush()
  obs.lazy(list, 2, function() return 20 end)
  = sum(list), obs.get(list, "@count")           --> 1 1
]])
example("C9: `*` before the end of a path skips lazy keys", "n()", [[
  local a, b = { x = 1 }, { x = 2 }
  local t = { n = 1, list = { a, b } }
  obs.computed(t, "current", { "n" }, function(self) return self.list[self.n] end)
  = t.current == a                               --> true
  local n = counter(t, "*.x")
  a.x = 5                                        --> 0
]])
example("C10: an entry that becomes lazy is reported as an edit", "told()", [[
  local note, told = recorder()
  local d = obs.dictionary { a = 1, b = 2 }
  obs.observe_edits(d, function(_, edits)
    for _, edit in ipairs(edits) do note(edit.kind, edit.at) end
  end)
  obs.lazy(d, "b", function() return 2 end)      --> remove b
  = d.b                                          --> 2
  d.b = 3                                        --> -
]])

finish()
