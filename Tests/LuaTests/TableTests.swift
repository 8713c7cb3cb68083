import Lua
import Testing

// B1: tables of scripts, used like Swift's collections.
@Suite struct `A table` {
  private let state: LuaState

  init() throws { state = try LuaState() }

  private func table(_ text: String) throws -> LuaTable {
    try state.run("return \(text)", as: LuaTable.self)
  }

  @Test func `is assigned and read by subscript`() throws {
    let table = try table("{ x = 1 }")
    table["y"] = 2
    table["list"] = [1, 2]
    table[1] = "one"
    let (x, y, list, one): (Int?, Int?, [Int]?, String?) = (
      table["x"], table["y"], table["list"], table[1]
    )
    #expect(x == 1 && y == 2 && list == [1, 2] && one == "one")
    table["x"] = Int?.none
    let (absent, misfit): (Int?, Int?) = (table["x"], table[1])
    #expect(absent == nil && misfit == nil)
    // The value itself, and errors, by the accessor that throws.
    #expect(try table["x"] == .nil && table["y"] == 2)
  }

  @Test func `is assigned with its metamethods`() throws {
    let table = try table(
      "setmetatable({}, { __newindex = function(t, k, v) rawset(t, k, -v) end })")
    table["x"] = 2
    #expect(try table["x"] == -2)
  }

  @Test func `is a sequence of its entries, and may be changed in a loop over them`() throws {
    let table = try table("{ 10, 20, x = 30 }")
    var (count, sum) = (0, 0)
    for (key, value) in table {
      count += 1
      sum += try Int(luaValue: value)
      table["new \(count)"] = 1
      if key == "x" { table["x"] = Int?.none }
    }
    #expect(count == 3 && sum == 60)
    #expect(try table.entries().count == 5)
    #expect(table.contains { $0.key == "new 1" } && !table.contains { $0.key == "x" })
    #expect(table.filter { $0.key == 2 }.map(\.value) == [20])
  }

  @Test func `of a closed state throws its entries' error`() throws {
    let table = try table("{}")
    state.close()
    let error = #expect(throws: LuaError.self) { try table.entries() }
    #expect(error?.code == .closed)
    #expect(table.map(\.key) == [])
  }
}
