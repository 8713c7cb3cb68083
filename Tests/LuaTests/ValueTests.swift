import Lua
import Testing

// B1: a value that goes in comes out the same.
@Suite struct `Values` {
  let state: LuaState
  let same: LuaFunction

  init() throws {
    state = try LuaState()
    same = try state.load("return ...")
  }

  @Test func `come back unchanged`() throws {
    let coroutine = try state.run("return coroutine.create(print)")[0]
    let values: [LuaValue] = [
      nil, true, false, 0, 1, 1.0, -0.0, .integer(.min), .integer(.max), .number(.infinity),
      .number(9_007_199_254_740_992), "", "text", .string(LuaString(bytes: [0, 97, 0, 255, 0xC0])),
      .table(try state.makeTable()), .function(same), coroutine,
      try state.run("return io.stdout")[0],
      .lightUserdata(LuaAddress(UnsafeMutableRawPointer(bitPattern: 42))),
      .lightUserdata(LuaAddress(nil)),
    ]
    #expect(try same.call(arguments: values) == values)
    for value in values { #expect(try same.call(value, as: LuaValue.self) == value) }
  }

  @Test func `NaN stays a float that equals nothing`() throws {
    guard case .number(let value) = try same.call(Double.nan)[0] else {
      Issue.record("NaN is no float any more")
      return
    }
    #expect(value.isNaN)
  }

  @Test func `integers and floats are different types in Lua`() throws {
    let kind = try state.load("return math.type(...)")
    #expect(try kind.call(1, as: String.self) == "integer")
    #expect(try kind.call(1.0, as: String.self) == "float")
    #expect(try kind.call(Float(1), as: String.self) == "float")
  }

  @Test func `strings may hold zero bytes and anything but text`() throws {
    let length = try state.load("return #...")
    #expect(try length.call("a\0b", as: Int.self) == 3)
    #expect(try length.call([UInt8]([0, 255, 0]), as: Int.self) == 3)
    let bytes = try state.run(#"return "\0\xff\xfe""#, as: [UInt8].self)
    #expect(bytes == [0, 255, 254])
    let string = try state.run(#"return "a\xff""#, as: LuaString.self)
    #expect(string.text == nil)
    #expect(string.description == "a\u{FFFD}")
    let error = #expect(throws: LuaError.self) {
      try state.run(#"return "a\xff""#, as: String.self)
    }
    #expect(error?.code == .type)
    #expect(error?.message == "text expected, got a string that is not valid UTF-8")
  }

  @Test func `a number is not a string, and stays a number when it is read as one`() throws {
    let error = #expect(throws: LuaError.self) { try state.run("return 1", as: String.self) }
    #expect(error?.message == "string expected, got number")
    #expect(throws: LuaError.self) { try state.run("return '1'", as: Int.self) }
    #expect(throws: LuaError.self) { try state.run("return 1", as: Bool.self) }
    #expect(throws: LuaError.self) { try state.run("return nil", as: LuaTable.self) }
  }

  @Test func `integers must fit`() throws {
    #expect(try same.call(3.0, as: Int.self) == 3)
    #expect(try same.call(UInt8.max, as: UInt8.self) == 255)
    #expect(try same.call(Int.min, as: Int.self) == .min)
    func message<T: LuaDecodable>(_ value: some LuaEncodable, as type: T.Type) -> String? {
      do throws(LuaError) {
        _ = try same.call(value, as: type)
        return nil
      } catch { return error.message }
    }
    #expect(message(256, as: UInt8.self) == "number is out of the range 0...255")
    #expect(message(-1, as: UInt.self)?.hasPrefix("number is out of the range") == true)
    #expect(message(0.5, as: Int.self) == "number has no integer representation")
    #expect(message(Double.infinity, as: Int.self) == "number has no integer representation")
    #expect(message(Double.nan, as: Int64.self) == "number has no integer representation")
    #expect(message(1e300, as: Int64.self) == "number has no integer representation")
    #expect(
      message(UInt64.max, as: Int.self)
        == "18446744073709551615 does not fit into an integer of Lua")
  }

  @Test func `optionals are nil or a value`() throws {
    #expect(try same.call(String?.none, as: String?.self) == nil)
    #expect(try same.call(String?.some("x"), as: String?.self) == "x")
    #expect(try same.call(as: Int?.self) == nil)
  }

  @Test func `arrays and dictionaries are tables`() throws {
    #expect(try same.call([3, 1, 2], as: [Int].self) == [3, 1, 2])
    #expect(try same.call([[1], []], as: [[Int]].self) == [[1], []])
    #expect(try same.call([String](), as: [String].self) == [])
    #expect(try same.call(["a": 1.5, "b": 2], as: [String: Double].self) == ["a": 1.5, "b": 2])
    #expect(try same.call([1: ["x": true]], as: [Int: [String: Bool]].self) == [1: ["x": true]])
    let error = #expect(throws: LuaError.self) {
      try state.run("return {1, 'two'}", as: [Int].self)
    }
    #expect(error?.message == "element 2: number expected, got string")
    let lies = "return setmetatable({}, {__len = function() return 1 << 60 end})"
    #expect(throws: LuaError.self) { try state.run(lies, as: [Int?].self) }
  }

  @Test func `tables are read and written like in scripts`() throws {
    let table = try state.run(
      """
      return setmetatable({1, 2, 3}, {
        __index = function(_, key) return key .. "!" end,
        __newindex = function(t, key, value) rawset(t, key, value * 2) end,
      })
      """, as: LuaTable.self)
    #expect(try table["x"] == "x!")
    try table.set("x", to: 4)
    #expect(try table.get("x") == 8)
    #expect(try table[1] == 1)
    #expect(try table.length == 3)
    var seen: [LuaValue: LuaValue] = [:]
    try table.forEach { key, value in seen[key] = value }
    #expect(seen == [1: 1, 2: 2, 3: 3, "x": 8])
    let metatable = try #require(try table.metatable)
    try table.setMetatable(nil)
    #expect(try table["y"] == nil)
    #expect(try table.metatable == nil)
    try table.setMetatable(metatable)
    #expect(try table.metatable == metatable)
  }
}
