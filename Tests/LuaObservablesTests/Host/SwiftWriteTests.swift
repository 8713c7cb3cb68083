import Lua
import LuaObservables
import Observables
import Testing

/// Interactions of scripts and Swift between two turns: causes of calls, function calls, and ends
/// of tables.
struct SwiftWriteTests {
  private let test: TestHost
  private let ada = Creature(name: "Ada")

  init() throws {
    test = try TestHost()
    test.host["ada"] = ada
    try test.host.set("rename") { (creature: Creature, name: String) in creature.name = name }
  }

  /// Makes a script observe a path and fail when its watcher is called.
  private func fail(on path: String) throws {
    try test.host.run(
      "require('obs').observe(ada, '\(path)', function() error('gone wrong') end)", name: "=setup")
  }

  private var causes: [String?] { test.reports.map(\.cause) }

  // T10, W4
  @Test func `the line of a script that wrote a Swift model is the cause of a call`() throws {
    try fail(on: "name")
    try test.host.run("local _\nada.name = 'x'")
    try test.host.run("rename(ada, 'y')", name: "=other")
    try test.host.run("coroutine.wrap(function()\n ada.name = 'z' end)()")
    try test.host.run("require('obs').set(ada, 'name', 'a')", name: "=by path")
    #expect(causes == ["script:2", "other:1", "script:2", "by path:1"])
  }

  // T10, W4
  @Test func `the cause is the first write of the turn, anywhere on the path`() throws {
    try fail(on: "friend.age")
    ada.friend = Creature()
    test.loop.endTurn()
    try test.host.run("ada.friend.age = 1\nada.friend = nil")
    #expect(causes == [nil, "script:1"])
  }

  // T10
  @Test func `a write in Swift has no line of a script, not even an earlier one`() throws {
    try fail(on: "age")
    try test.host.run("ada.age = 1")
    test.loop.turn { ada.age = 2 }
    ada.age = 3
    test.loop.endTurn()
    #expect(causes == ["script:1", nil, nil])
  }

  // T10, W4
  @Test func `each host knows the lines of its own scripts`() throws {
    let other = try LuaHost(loop: test.loop)
    other["ada"] = ada
    try fail(on: "name")
    try other.run("ada.name = 'x'", name: "=elsewhere")
    test.host.onError = nil
    #expect(causes == [nil])
  }

  // T1
  @Test func `a function that Swift calls between turns is a turn`() throws {
    try test.host.run(
      """
      log, t = {}, { x = 1 }
      require('obs').observe(t, 'x', function() log[#log + 1] = 'x ' .. t.x end)
      function write(value) t.x = value t.x = value + 1 log[#log + 1] = 'written' return value end
      function both(f) f(5) log[#log + 1] = 'both' end
      """)
    let write: LuaFunction = try test.host.state.globals.get("write")
    try write.call(1)
    #expect(try test.log() == ["written", "x 2"])
    #expect(try write.call(3, as: Int.self) == 3)
    try write.call(arguments: [5])
    #expect(try test.log().suffix(4) == ["written", "x 4", "written", "x 6"])
  }

  // T1
  @Test func `a function that Swift calls within a turn belongs to that turn`() throws {
    try test.host.run(
      """
      log, t = {}, { x = 1 }
      require('obs').observe(t, 'x', function() log[#log + 1] = 'x ' .. t.x end)
      function write(value) t.x = value log[#log + 1] = 'written' end
      """)
    let write: LuaFunction = try test.host.state.globals.get("write")
    try test.loop.turn {
      try write.call(2)
      try write.call(3)
    }
    #expect(try test.log() == ["written", "written", "x 3"])
    // The same from a script outside of turns, and from a watcher in a turn of a script.
    try test.host.set("call") { try write.call(4) }
    try test.host.state.run("call() log[#log + 1] = 'outside'")
    test.loop.endTurn()
    try ada.observe("age", in: test.loop) { _ in _ = try? write.call(5) }
    try test.host.run("ada.age = 1 log[#log + 1] = 'watched'")
    #expect(
      try test.log().suffix(6) == ["written", "outside", "x 4", "watched", "written", "x 5"])
  }

  // L3
  @Test func `a turn of the program calls on_end of a script`() throws {
    try test.host.run(
      """
      log, t = {}, { x = 1 }
      require('obs').observe(t, 'x', print, { on_end = function(path) log[#log + 1] = path end })
      t = nil
      collectgarbage() collectgarbage()
      """)
    #expect(try test.log() == [])
    test.loop.turn {}
    #expect(try test.log() == ["x"])
  }
}
