import Lua
import LuaObservables
import Observables
import Testing

/// B1, B2: values of scripts as Swift values, and the other way round, without `LuaValue`.
struct TypedValueTests {
  private struct Point: Codable, Equatable { var x: Double, y: Double }
  private struct Plain {}

  private let test: TestHost

  init() throws { test = try TestHost() }

  private func message<Result>(_ body: () throws -> Result) -> String {
    do {
      _ = try body()
      return "no error"
    } catch let error as LuaError { return "\(error.code): \(error.message)" } catch {
      return "\(error)"
    }
  }

  @Test func `variables of Swift are assigned and read by subscript`() throws {
    let (count, name, ratio) = (3, "Ada", 0.5)
    let (list, absent): ([Int], Int?) = ([1, 2], nil)
    test.host["count"] = count
    test.host["name"] = name
    test.host["ratio"] = ratio
    test.host["list"] = list
    test.host["absent"] = absent
    #expect(
      try test.host.run("return count, name, ratio, #list, absent") == [3, "Ada", 0.5, 2, nil])
    let same: Int? = test.host["count"]
    let text: String? = test.host["name"]
    let numbers: [Int]? = test.host["list"]
    let table: LuaTable? = test.host["list"]
    #expect(same == 3 && text == "Ada" && numbers == [1, 2])
    #expect(try table?.length == 2)
  }

  @Test func `a value of another type, or a missing one, is nil`() throws {
    test.host["name"] = "Ada"
    let (number, absent): (Int?, String?) = (test.host["name"], test.host["absent"])
    #expect(number == nil && absent == nil)
    test.host["name"] = String?.none
    #expect(test.host["name"] == .nil)
    // A literal converts as before.
    test.host["limit"] = 5
    test.host["limit"] = nil
    #expect(test.host["limit"] == .nil)
  }

  @Test func `structures and lists of models are assigned and read by subscript`() throws {
    let (host, ada, bob) = (test.host, Creature(name: "Ada"), Creature(name: "Bob"))
    host["point"] = Point(x: 1, y: 2)
    host["creatures"] = [ada, bob]
    host["named"] = ["a": ada]
    #expect(
      try host.run("return point.y, #creatures, creatures[2].name, named.a == creatures[1]")
        == [2.0, 2, "Bob", true])
    let point: Point? = host["point"]
    let creatures: [Creature]? = host["creatures"]
    let named: [String: Creature]? = host["named"]
    #expect(point == Point(x: 1, y: 2) && creatures?[0] === ada && named?["a"] === ada)
    let absent: Point? = host["absent"]
    let misfit: [Creature]? = host["point"]
    #expect(absent == nil && misfit == nil)
    host["point"] = Point?.none
    #expect(host["point"] == .nil)
    try host.set("points", to: [Point(x: 3, y: 4)])
    try host.set("either", to: [[ada], [bob]])
    #expect(try host.run("return points[1].x, either[2][1].name") == [3.0, "Bob"])
    #expect(
      message { try host.set("plain", to: Plain()) }
        == """
        type: 'plain': a value of type Plain cannot be given to a script; make it LuaEncodable or \
        Codable
        """)
  }

  @Test func `a script has several results of types`() throws {
    let host = test.host
    let (number, text) = try host.run("return 1, 'x'", as: (Int, String).self)
    #expect(number == 1 && text == "x")
    host["creature"] = Creature(name: "Ada")
    let six = try host.run(
      "return 1, 2.5, 'x', creature, { 1, 2 }",
      as: (Int, Double, String, Creature, [Int], Int?).self)
    #expect(six.0 == 1 && six.1 == 2.5 && six.2 == "x" && six.3.name == "Ada" && six.4 == [1, 2])
    #expect(six.5 == nil)
    let function = try host.run("return function(a, b) return b, a end", as: LuaFunction.self)
    let (first, second) = try function.call(1, "x", as: (String, Int).self)
    #expect(first == "x" && second == 1)
    #expect(
      message { try host.run("return 1, 2", as: (Int, String).self) }
        == "type: result of the script (number 2): string expected, got number")
  }

  @Test(arguments: [
    ("{ x = 3 }", "x"), ("{ 1, 2, x = 3 }", "x"), ("{ 1, 2, [10] = 4 }", "#10"),
    ("{ 1, [2.5] = 4 }", "2.5"), ("setmetatable({ 1, x = 2 }, {})", "x"),
  ])
  func `a key that a list would lose is an error`(table: String, key: String) throws {
    let text = "list expected, but the table also has the key '\(key)'"
    for observed in [
      "", "require('obs').observe(t, 'x', print) require('obs').observe(t, '#1', print)",
    ] {
      let script = "local t = \(table) \(observed) return t"
      #expect(
        message { try test.host.run(script, as: [Int].self) }
          == "type: result of the script: \(text)")
      #expect(message { try test.host.run(script, as: Set<Int>.self) }.hasSuffix(text))
      #expect(message { try test.host.run(script, as: [Creature].self) }.hasSuffix(text))
      #expect(message { try test.host.run(script, as: [Point].self) }.hasSuffix(text))
      #expect(
        message { try test.host.run(script)[0].decode([Point].self) }.hasSuffix(text))
    }
  }

  @Test func `a table that says its length is a list of that length`() throws {
    let script = "return setmetatable({ 1, 2, n = 2 }, { __len = function(t) return t.n end })"
    #expect(try test.host.run(script, as: [Int].self) == [1, 2])
    #expect(try test.host.run("return {}", as: [Int].self) == [])
  }

  @Test func `a script has a result of a type`() throws {
    let host = test.host
    let creature = Creature(name: "Ada")
    host["creature"] = creature
    #expect(try host.run("return 1 + 1", as: Int.self) == 2)
    #expect(try host.run("return 'a', 'b'", as: String.self) == "a")
    #expect(try host.run("return", as: Int?.self) == nil)
    #expect(try host.run("return {1, 2}", as: [Int].self) == [1, 2])
    #expect(try host.run("return {x = 1, y = 2}", as: Point.self) == Point(x: 1, y: 2))
    #expect(try host.run("return creature", as: Creature.self) === creature)
    #expect(try host.run("return creature, 1", as: LuaValue.self).typeName == "userdata")
  }

  @Test func `a result of another type is a clear error`() throws {
    let host = test.host
    #expect(
      message { try host.run("return 'x'", as: Int.self) }
        == "type: result of the script: number expected, got string")
    #expect(
      message { try host.run("return 1.5", as: Int.self) }
        == "type: result of the script: number has no integer representation")
    #expect(
      message { try host.run("", as: Creature.self) }
        == "type: result of the script: Creature expected, got nil")
    #expect(
      message { try host.run("return {x = 1}", as: Point.self) }.hasPrefix(
        "type: result of the script: "))
    #expect(message { try host.run("error('x', 0)", as: Int.self) } == "runtime: x")
    host.close()
    #expect(message { try host.run("return 1", as: Int.self) }.hasPrefix("closed: "))
  }

  @Test func `a function of a script takes the same types as properties`() throws {
    let creature = Creature(name: "Ada")
    let describe = try test.host.run(
      """
      return function(creature, point, kind, ...)
        creature.age = creature.age + 1
        return creature.name .. point.x .. math.type(kind) .. select("#", ...), creature
      end
      """, as: LuaFunction.self)
    let results = try describe.call(creature, Point(x: 1, y: 2), 3, Int?.none)
    #expect(results[0] == "Ada1.0integer1")
    #expect(try describe.call(creature, Point(x: 2, y: 2), 3.0, as: String.self) == "Ada2.0float0")
    #expect(creature.age == 2)
    let same = try test.host.run("return function(x) return x end", as: LuaFunction.self)
    #expect(try same.call(creature, as: Creature.self) === creature)
    #expect(try same.call(Creature?.none, as: Creature?.self) == nil)
    #expect(
      message { try same.call(5, as: Creature.self) }
        == "type: result of the function: Creature expected, got number")
  }

  @Test func `the call is a turn, and errors name impossible arguments`() throws {
    let creature = Creature(name: "Ada")
    let rename = try test.host.run(
      "return function(creature) creature.name = 'Eve' end", as: LuaFunction.self)
    var names: [String] = []
    try creature.observe("name", in: test.loop) { names.append($0.name) }
    try rename.call(creature)
    #expect(names == ["Eve"])
    #expect(
      message { try rename.call(creature, Plain()) }
        == "type: argument 2: a value of type Plain cannot be given to a script; "
        + "make it LuaEncodable or Codable")
    let alone = try LuaState().load("return 1")
    #expect(message { try alone.call(creature) }.hasPrefix("closed: "))
  }

  // T10
  @Test func `an error in a watcher of a table is reported like a script's`() throws {
    struct Refused: Error {}
    try test.host.run("t = { x = 1 }", name: "=setup")
    let table: LuaTable = try #require(test.host["t"])
    let line = #line + 1
    try test.host.observe(table, "x", options: WatcherOptions(name: "guard")) { _ in
      throw Refused()
    }
    try test.host.observeImmediately(table, "x") { _, _ in throw LuaError("no") }
    var calls = 0
    try test.host.observe(table, "x") { _ in calls += 1 }
    try test.host.run("\nt.x = 2", name: "=write")
    let site = "LuaObservablesTests/TypedValueTests.swift:\(line)"
    #expect(calls == 1)
    #expect(test.reports.map(\.kind) == [.immediate, .watcher])
    #expect(test.reports.map(\.error.message) == ["no", "Refused()"])
    #expect(test.reports[1].error.underlying is Refused)
    #expect(test.reports[1].name == "guard" && test.reports[1].site == site)
    #expect(test.reports.map(\.cause) == ["write:2", "write:2"])
  }

  @Test func `a watcher of a table may start tasks`() throws {
    try test.host.run("t = { x = 1 }")
    let table: LuaTable = try #require(test.host["t"])
    var seen: [Int] = []
    try test.host.observe(table, "x") { table in
      let first = try table.get("x", as: Int.self)
      await Task.yield()
      seen += [first, try table.get("x", as: Int.self)]
      if first == 3 { try table.set("y", to: true) }
      struct Refused: Error {}
      throw Refused()
    }
    try test.host.run("t.x = 2")
    while test.host.step() {}
    try test.host.run("t.x = 3")
    while test.host.step() {}
    #expect(seen == [2, 2, 3, 3])
    #expect(test.reports.map(\.error.message) == ["Refused()", "Refused()"])
    #expect(try table.get("y") == true)
  }
}
