import Lua
import LuaObservables
import Observables
import Testing

private final class Journal: ScriptModel {
  static let properties = ModelProperties(for: Journal.self) {
    Property("size", get: { $0.lines.count })
  }
  static let hasNames = [true, false]
  static let methods = ModelMethods(for: Journal.self) {
    Method("add") { (journal, level: Int, words: Variadic<String>) in
      journal.lines.append("\(level) \(words.joined(separator: " "))")
    }
    Method("count") { (_, values: Variadic<LuaValue>) in values.count }
    Method("sum") { (_, numbers: Variadic<Int?>) in
      numbers.reduce(0) { $0 + ($1 ?? 100) }
    }
    Method("all") { journal in Variadic(journal.lines) }
    Method("back") { (_, values: Variadic<LuaValue>) in values }
    Method("none") { _ -> Variadic<Int> in [] }
    Method("friends") { (journal, others: Variadic<Journal>) in others.map { $0 === journal } }
    for name in ["first", "last"] {
      Method(name) { journal in name == "first" ? journal.lines.first : journal.lines.last }
    }
    for isHidden in hasNames {
      if isHidden { Method("hidden") { _ in 1 } } else { Method("shown") { _ in 2 } }
      if !isHidden { Method("more") { _ in 3 } }
    }
    more
  }
  private static var more: [Method<Journal>] { [Method("elsewhere") { _ in 4 }] }

  let observation = ModelObservation()
  var lines: [String] = []
}

/// B2: methods and functions with any number of arguments, and lists made by `if` and `for`.
struct MethodListTests {
  private let test: TestHost
  private let journal = Journal()

  init() throws {
    test = try TestHost()
    test.host["journal"] = journal
  }

  @Test func `the last argument takes all remaining values`() throws {
    try test.host.run(
      """
      journal:add(1)
      journal:add(2, "a")
      journal:add(3, "a", "b", "c")
      assert(journal:count() == 0 and journal:count(nil, nil) == 2)
      assert(journal:sum(1, nil, 2.0) == 103)
      local others = journal:friends(journal, journal)
      assert(#others == 2 and others[2] == true)
      """)
    #expect(journal.lines == ["1 ", "2 a", "3 a b c"])
  }

  @Test func `each of them is converted, and errors count it`() {
    #expect(
      test.message("journal:add(1, 'a', 2)")
        == "script:1: bad argument #3 to 'add' (string expected, got number)")
    #expect(
      test.message("journal:sum(1, 2, 'x')").hasPrefix("script:1: bad argument #3 to 'sum' ("))
    #expect(
      test.message("journal:add()")
        == "script:1: bad argument #1 to 'add' (number expected, got no value)")
    #expect(
      test.message("journal:friends(5)").hasPrefix("script:1: bad argument #1 to 'friends' ("))
  }

  @Test func `a result can be any number of values`() throws {
    journal.lines = ["a", "b"]
    try test.host.run(
      """
      assert(select("#", journal:all()) == 2 and select(2, journal:all()) == "b")
      assert(select("#", journal:none()) == 0)
      assert(select("#", journal:back(1, nil, "x", nil)) == 4)
      """)
  }

  @Test func `a function takes and returns any number of values, too`() throws {
    try test.host.set("join") { (separator: String, words: Variadic<String>) in
      words.joined(separator: separator)
    }
    test.host["words"] = ["a"]
    #expect(try test.host.run("return join('-', 'a', 'b')", as: String.self) == "a-b")
  }

  @Test func `lists of methods have if and for`() throws {
    journal.lines = ["a", "b"]
    #expect(
      Journal.methods.names == [
        "add", "count", "sum", "all", "back", "none", "friends", "first", "last", "hidden",
        "shown", "more", "elsewhere",
      ])
    #expect(
      try test.host.run("return journal:first() .. journal:last() .. journal:more()")
        == ["ab3"])
  }

  @Test func `lists of functions have if and for, too`() throws {
    let (isOpen, limit) = (true, Int?.none)
    let functions = ScriptFunctions {
      for level in 1...2 { Constant("level\(level)", level) }
      if isOpen { Function("open") { true } } else { Function("closed") { true } }
      if let limit { Constant("limit", limit) }
      ScriptFunctions { Function("more") { 5 } }
    }
    #expect(functions.names == ["open", "more", "level1", "level2"])
    try test.host.set("class", to: functions)
    #expect(try test.host.run("return class.level2 + class.more()") == [7])
  }

  @Test func `an argument that no script can pass is an error in the list`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = ModelMethods(for: Creature.self) {
        Method("each") { (_, _: Int, _: @escaping (String) -> Void) in }
      }
    }
    let errors = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(
      errors.contains(
        "Misuse: Method 'each' of Creature: argument 2 is of type (String) -> (), which no value "
          + "of a script can be converted to; make the type LuaDecodable or Decodable"), "\(errors)"
    )
    let other = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      struct Plain {}
      _ = ScriptFunctions { Function("new") { (_: [String: Plain?]) in } }
    }
    let others = String(decoding: other?.standardErrorContent ?? [], as: UTF8.self)
    #expect(
      others.contains("Misuse: Function 'new': argument 1 is of type Dictionary<"), "\(others)")
    let error = #expect(throws: LuaError.self) {
      try test.host.set("f") { (_: Variadic<Int>, _: Int) in }
    }
    #expect(
      error?.message
        == "function 'f': argument 1 takes all remaining arguments, but is not the last")
    #expect(error?.code == .type)
  }

  private enum Side: String { case left }
  private struct Point: Codable { var x: Int }

  @Test func `every argument type that scripts can pass is accepted`() throws {
    let host = test.host
    try host.set("f") { (_: Any?, _: any ObservableModel, _: Side, _: [Side?], _: Set<Int>) in }
    try host.set("f") { (_: Point, _: [String: Point], _: LuaTable, _: AnyObject, _: UInt8) in }
    try host.set("f") { (_: Creature?, _: Int??, _: [UInt8], _: Variadic<Any>) in }
    #expect(throws: LuaError.self) { try host.set("f") { (_: (Int, Int)) in } }
    #expect(throws: LuaError.self) { try host.set("f") { (_: Int.Type) in } }
    #expect(throws: LuaError.self) { try host.set("f") { (_: Set<UnsafePointer<Int>>) in } }
  }
}
