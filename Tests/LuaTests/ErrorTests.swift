import Lua
import Testing

private struct Failure: Error, Equatable { let number: Int }

@Suite struct `Errors` {
  let state: LuaState
  init() throws { state = try LuaState() }

  private func error(of chunk: String) throws -> LuaError {
    try #require(throws: LuaError.self) { try state.run(chunk, name: "=s") }
  }

  @Test func `keep message, traceback and value`() throws {
    let error = try error(of: "local function f() error('no') end f()")
    #expect(error.code == .runtime)
    #expect(error.message == "s:1: no")
    #expect(error.value == "s:1: no")
    #expect(error.traceback?.hasPrefix("stack traceback:\n\t[C]: in function 'error'") == true)
    #expect(error.underlying == nil)
    #expect(error.description == "s:1: no\n\(error.traceback ?? "")")
  }

  // S10
  @Test func `a long message is cut at the end of a character, and its value is whole`() throws {
    let long = try error(of: "error(('x'):rep(16383) .. ('ä'):rep(1 << 20), 0)")
    #expect(long.message == String(repeating: "x", count: 16383) + "…")
    guard case .string(let value) = long.value else { return #expect(long.value == "a string") }
    #expect(value.bytes.count == 16383 + (2 << 20))
    let invalid = try error(of: "error(('\\xff'):rep(1 << 20), 0)")
    #expect(invalid.message == String(repeating: "\u{FFFD}", count: 16384) + "…")
    let deep = try error(of: "local t = {[('x'):rep(1 << 20)] = error} t[next(t)](('y'):rep(9))")
    #expect(deep.traceback.map { $0.utf8.count < 20000 } == true)
  }

  @Test func `the traceback of a very deep stack is limited to its top`() throws {
    let error = try error(
      of: "local function f(n) if n == 0 then error('no') end return 1 + f(n - 1) end f(20000)")
    let lines = try #require(error.traceback).split(separator: "\n")
    #expect(lines.count == 23)
    #expect(
      lines[..<3] == ["stack traceback:", "\t[C]: in function 'error'", "\ts:1: in upvalue 'f'"])
    #expect(lines.last == "\t...\t(of more than 10000 levels)")
  }

  @Test(arguments: [
    ("nil", "(error object is a nil value)"),
    ("true", "(error object is a boolean value)"),
    ("42", "42"),
    ("1.0", "1.0"),
    ("{}", "(error object is a table value)"),
    ("print", "(error object is a function value)"),
    ("coroutine.create(print)", "(error object is a thread value)"),
    ("'a\\0b'", "a\0b"),
    ("'\\xff'", "\u{FFFD}"),
    ("setmetatable({}, {__tostring = function() return 'mine' end})", "mine"),
    (
      "setmetatable({}, {__tostring = function() return 1 end})",
      "(error object is a table value)"
    ),
    (
      "setmetatable({}, {__tostring = function() error('again') end})",
      "(error object is a table value whose __tostring failed)"
    ),
    (
      "setmetatable({}, {__tostring = function() while true do end end})",
      "(error object is a table value whose __tostring failed)"
    ),
    (
      """
      setmetatable({}, {__tostring = function()
        while true do pcall(function() while true do end end) end
      end})
      """, "(error object is a table value whose __tostring failed)"
    ),
  ])
  func `of any type have a description`(object: String, message: String) throws {
    let error = try error(of: "error(\(object), 0)")
    #expect(error.message == message)
    #expect(error.code == .runtime)
  }

  @Test func `keep tables unchanged`() throws {
    let error = try error(of: "thrown = {} error(thrown)")
    #expect(try error.value == state.globals["thrown"])
  }

  @Test func `of Swift pass through any number of languages`() throws {
    let call = try state.function("call") { (function: LuaFunction) in try function.call() }
    try state.globals.set("call", to: call)
    try state.globals.set("fail", to: try state.function("fail") { throw Failure(number: 1) })
    let nested = try error(of: "call(function() call(function() fail() end) end)")
    #expect(nested.underlying as? Failure == Failure(number: 1))
    #expect(nested.message == "s:1: Failure(number: 1)")
    #expect(nested.traceback?.contains("in function <s:1>") == true)
    // One traceback, from the inside out.
    #expect(nested.traceback?.split(separator: "stack traceback:").count == 1)
    let caught = try state.run(
      """
      local ok, e = pcall(call, function() fail() end)
      return ok, type(e), tostring(e), "so: " .. e, getmetatable(e)
      """, name: "=s")
    #expect(
      caught == [
        false, "userdata", "s:1: Failure(number: 1)", "so: s:1: Failure(number: 1)", false,
      ])
  }

  @Test func `of Lua pass through Swift as the same value`() throws {
    let call = try state.function("call") { (function: LuaFunction) in try function.call() }
    try state.globals.set("call", to: call)
    let same = "local t = {} local _, e = pcall(call, function() error(t) end) return e == t"
    #expect(try state.run(same) == [true])
    let text = "return select(2, pcall(call, function() error('no') end))"
    #expect(try state.run(text, name: "=s") == ["s:1: no"])
    let syntax = try state.function("parse") { [unowned state] (text: String) in
      try state.load(text, name: "=p").call()
    }
    try state.globals.set("parse", to: syntax)
    let error = try error(of: "parse('x = = 1')")
    #expect(error.code == .syntax)
    #expect(error.message == "p:1: unexpected symbol near '='")
  }

  @Test func `caught by a script do not affect later ones`() throws {
    let call = try state.function("call") { (function: LuaFunction) in try function.call() }
    try state.globals.set("call", to: call)
    try state.globals.set("fail", to: try state.function("fail") { throw Failure(number: 1) })
    let error = try error(of: "pcall(call, function() fail() end) error('other')")
    #expect(error.message == "s:1: other")
    #expect(error.underlying == nil)
    #expect(error.traceback?.contains("'call'") == false)
  }

  @Test func `made in Swift are text with a position in Lua`() throws {
    try state.globals.set("fail", to: try state.function("fail") { throw LuaError("no\0thing") })
    let caught = try state.run("return select(2, pcall(function() fail() end))", name: "=s")
    #expect(caught == ["s:1: no\0thing"])
  }

  @Test func `in the handling of errors are errors`() throws {
    #expect(try state.run("local function f() f() end return xpcall(f, f)")[0] == false)
    // The failure leaves nothing for the next error.
    #expect(try error(of: "error('x')").message == "s:1: x")
  }

  @Test func `of endless recursion end in an error`() throws {
    #expect(try error(of: "local function f() return 1 + f() end f()").code == .runtime)
    let call = try state.function("call") { (function: LuaFunction) in try function.call() }
    try state.globals.set("call", to: call)
    let error = try error(of: "local n = 0 function f() n = n + 1 call(f) end f()")
    #expect(error.message.contains("C stack overflow"))
    let patient = "local n = 0 function f() n = n + 1 pcall(call, f) end f() return n"
    #expect(try state.run(patient, as: Int.self) > 50)
  }
}
