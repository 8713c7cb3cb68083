import Lua
import LuaObservables
import Observables

let state = try LuaState()
try state.globals.set("twice", to: try state.function("twice") { (n: Int) in 2 * n })
let answer = try state.run("return twice(21)", as: Int.self)
precondition(answer == 42, "Lua answered \(answer) instead of 42")
