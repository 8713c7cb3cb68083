import CLua
import CTables
import Lua
import LuaObservables
import Observables
import TestSupport
import Testing

/// M1: values that Swift reads after a C module has written raw and before the write is reported.
struct ModuleWriteTests {
  /// A model whose properties come from a table of the script.
  final class Summary: ObservableModel {
    static let properties = ModelProperties(for: Summary.self) {
      Property("table", get: { $0.table }, set: { $0.table = $1 })
      Property("double", lazy: { $0.$double }, from: ["table.size"]) { try $0.number("size") * 2 }
      Property("next", lazy: { $0.$next }, from: ["double"]) { $0.double + 1 }
      Property("total", lazy: { $0.$total }, from: ["table.items.@sum"]) {
        try $0.number("items.@sum")
      }
    }
    let observation = ModelObservation()
    var table: LuaTable? { didSet { observation.didSet(0, from: oldValue, to: table) } }
    @Lazy var double: Int
    @Lazy var next: Int
    @Lazy var total: Int
    private unowned let host: LuaHost

    init(_ host: LuaHost) { self.host = host }

    private func number(_ path: Path) throws -> Int {
      guard let table, case .integer(let number) = try host.value(of: table, at: path) else {
        return 0
      }
      return Int(number)
    }
  }

  private let test: TestHost
  private let table: LuaTable
  /// Writes like a C module, in the current turn.
  private let write: LuaFunction

  init() throws {
    test = try TestHost()
    test.host.showTablesToModules { _, _ in true }
    // The library function that a C module of the program calls.
    try test.define("module_write") { L in
      lua_settop(L, 3)
      clua_modulerawset(L, 1)
      return 0
    }
    try test.host.run(
      """
      obs = require "obs"
      t = { size = 1, items = { 1, 2 } }
      obs.computed(t, "double", { "size" }, function(self) return self.size * 2 end)
      """)
    table = try #require(test.host["t"] as LuaTable?)
    write = try #require(test.host["module_write"] as LuaFunction?)
  }

  @Test func `a property computed from a table is up to date`() throws {
    #expect(try table.get("double", as: Int.self) == 2)
    try test.loop.turn {
      try write.call(table, "size", 17)
      #expect(try table.get("double", as: Int.self) == 34)
      try write.call(table, "size", 18)
      #expect(try test.host.value(of: table, at: "double") == .integer(36))
    }
  }

  @Test func `properties of a model follow writes to its table`() throws {
    let (summary, log) = (Summary(test.host), Log())
    summary.table = table
    try summary.observe("next", in: test.loop) { summary in log.note("next \(summary.next)") }
    #expect([summary.double, summary.next, summary.total] == [2, 3, 3])
    try test.loop.turn {
      try write.call(table, "size", 17)
      #expect(!summary.$next.isValid)
      #expect(summary.next == 35)
      try write.call(table, "size", 18)
      #expect(summary.double == 36)
      let items: LuaTable = try table.get("items")
      try write.call(items, 2, 10)
      #expect(summary.total == 11)
      try write.call(items, 3, 5)
      #expect(summary.total == 16)
      #expect(log.take() == [])
    }
    #expect(log.take() == ["next 37"])
  }

  @Test func `the read of a property reports earlier writes`() throws {
    let (summary, log) = (Summary(test.host), Log())
    summary.table = table
    try summary.observeImmediately("double", in: test.loop) { _, change in
      log.note("double \(change.old ?? 0) \(change.new ?? 0)")
    }
    #expect(summary.next == 3)
    try test.loop.turn {
      for size in [17, 18] { try write.call(table, "size", size) }
      #expect(log.take() == [])
      #expect(summary.next == 37)
      #expect(log.take() == ["double 2 36"])
      for size in [3, 18] { try write.call(table, "size", size) }
      #expect(summary.next == 37)
      #expect(log.take() == [])
    }
  }
}
