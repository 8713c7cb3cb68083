import Lua
import Testing

private struct Failure: Error, Equatable { let number: Int }

@Suite struct `Swift functions in Lua` {
  let state: LuaState
  init() throws { state = try LuaState() }

  @Test func `take and give typed values`() throws {
    let repeated = try state.function("rep") { (count: Int, text: String) in
      String(repeating: text, count: count)
    }
    try state.globals.set("rep", to: repeated)
    #expect(try state.run("return rep(3, 'ab')", as: String.self) == "ababab")
    var seen: [Int] = []
    try state.globals.set("see", to: try state.function("see") { (n: Int) in seen.append(n) })
    #expect(try state.run("return select('#', see(7, 'surplus'))", as: Int.self) == 0)
    #expect(seen == [7])
    let nothing = try state.function("nothing") {}
    #expect(try nothing.call() == [])
  }

  @Test func `take any number of values and give any number`() throws {
    let reversed = try state.variadicFunction("reverse") { $0.reversed() }
    #expect(try reversed.call(1, 2.0, "x", true) == [true, "x", 2.0, 1])
    #expect(try reversed.call(arguments: Array(repeating: 1, count: 300)).count == 300)
  }

  @Test func `raise errors which name the argument of the wrong type`() throws {
    try state.globals.set("f", to: try state.function("f") { (_: Int, b: String) in b })
    func message(_ call: String) throws -> String {
      let chunk = "local _, e = pcall(function() return \(call) end) return e"
      return try state.run(chunk, name: "=s", as: String.self)
    }
    #expect(try message("f(1, nil)") == "s:1: bad argument #2 to 'f' (string expected, got nil)")
    #expect(try message("f(1)") == "s:1: bad argument #2 to 'f' (string expected, got no value)")
    #expect(try message("f({}, '')") == "s:1: bad argument #1 to 'f' (number expected, got table)")
    #expect(
      try message("f(1.5, '')")
        == "s:1: bad argument #1 to 'f' (number has no integer representation)")
  }

  @Test func `bring their errors through Lua`() throws {
    try state.globals.set("fail", to: try state.function("fail") { throw Failure(number: 3) })
    let error = #expect(throws: LuaError.self) { try state.run("fail()", name: "=s") }
    #expect(error?.underlying as? Failure == Failure(number: 3))
    #expect(error?.message == "s:1: Failure(number: 3)")
    #expect(error?.traceback?.contains("s:1: in main chunk") == true)
  }
}
