import Lua
import Testing

/// B1: values describe themselves as Lua prints them.
struct DescriptionTests {
  private let state: LuaState

  init() throws { state = try LuaState() }

  @Test(arguments: [
    "nil", "true", "false", "0", "-1", "math.mininteger", "math.maxinteger", "1.0", "-0.0", "0.1",
    "1e15", "1e100", "-1e-7", "123456.789", "2^53", "2^63", "1/3", "1/0", "-1/0", "0/0", "-(0/0)",
    "''", "'text'", "'a\\0b'", "print", "string.rep", "io.stdout == nil", "{}",
    "coroutine.create(print)", "setmetatable({}, {__index = {}})",
  ])
  func `a value reads as print writes it`(expression: String) throws {
    let results = try state.run("local value = \(expression) return value, tostring(value)")
    #expect(results[0].description == results[1].description)
  }

  @Test func `a value with __tostring or __name is described by type and address`() throws {
    let results = try state.run(
      """
      local t = setmetatable({}, {__tostring = function() error("called") end, __name = "Point"})
      return t, string.format("table: %p", t), io.stdout, string.format("userdata: %p", io.stdout)
      """)
    #expect(results[0].description == results[1].description)
    #expect(results[2].description == results[3].description)
  }

  @Test func `an address is described as Lua does`() throws {
    let same = try state.load("local value = ... return tostring(value)")
    for address in [nil, UnsafeMutableRawPointer(bitPattern: 0x2A)] {
      let value = LuaValue.lightUserdata(LuaAddress(address))
      #expect(try same.call(value, as: String.self) == value.description)
    }
  }

  @Test func `a description needs no state, and works on any thread`() async throws {
    let values = try state.run("return {}, print, 1.5, 'x'")
    let texts = values.map(\.description)
    state.close()
    #expect(await Task.detached { values.map(\.description) }.value == texts)
  }

  @Test func `strings in lists have quotes`() {
    #expect("\([LuaValue.string("1"), 1, 1.0, nil])" == #"["1", 1, 1.0, nil]"#)
  }
}
