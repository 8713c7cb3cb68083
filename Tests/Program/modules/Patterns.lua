local lpeg, show = require "lpeg", require "show"
local re = require "re"
local P, R, S, V, C, Ct, Cg, Cf = lpeg.P, lpeg.R, lpeg.S, lpeg.V, lpeg.C, lpeg.Ct, lpeg.Cg, lpeg.Cf

local sum = P(O {
  "Exp",
  Exp = Ct(V "Term" * (C(S "+-") * V "Term") ^ 0),
  Term = Ct(V "Factor" * (C(S "*/") * V "Factor") ^ 0),
  Factor = C(R "09" ^ 1) + "(" * V "Exp" * ")",
})
show("grammar", sum:match("2*(3+4)-5"))
show("first rule by position", P(O { P "a" * V(1) + "b" }):match("aab"))
show("no first rule", pcall(P, O { x = P "a" }))
show("undefined rule", pcall(P, O { V "missing" }))
show("query", (C(R "az" ^ 1) / O { one = "eins", two = 2 }):match("two"))
show("query without result", (C(R "az" ^ 1) / O { one = "eins" }):match("two"))
show("arguments", (lpeg.Carg(1) * "x"):match("x", 1, O { 1, 2 }))
local names = Ct(Cg(C(R "az" ^ 1), "name") * "=" * Cg(C(R "09" ^ 1), "value"))
show("captures", O(names:match("size=12")))
show("constant", Ct(lpeg.Cc(O { k = "v" })):match(""))
show("substitution", lpeg.Cs((C(1) / O { a = "A", c = 3 } + 1) ^ 0):match("abc"))
show("re", re.compile("{| ({%w+} ' '?)* |}", O {}):match("ab cd ef"))
show("re with definitions", re.compile("%word -> upper", O {
  word = R "az" ^ 1, upper = string.upper,
}):match("abc"))
show("fold", Cf(Cg(C(R "09" ^ 1)) * ("," * Cg(C(R "09" ^ 1))) ^ 0, function(a, b) return a + b end)
  :match("1,2,39"))
