import Lua
import LuaObservables
import Observables
import Testing

/// B2: globals that a host program gives to its scripts.
struct GlobalTests {
  private let test: TestHost
  private enum Side: String, CaseIterable { case left, right }
  private struct Refused: Error, Equatable {}

  init() throws { test = try TestHost() }

  @Test func `a model is assigned and read by subscript`() throws {
    let creature = Creature(name: "Ada")
    test.host["creature"] = creature
    try test.host.run("creature.name = creature.name .. '!'")
    #expect(creature.name == "Ada!")
    let same: Creature? = test.host["creature"]
    #expect(same === creature)
    let other: ObservableArray<Int>? = test.host["creature"]
    #expect(other == nil)
    test.host["creature"] = Creature?.none
    #expect(try test.host.run("return creature") == [.nil])
  }

  @Test func `a value is assigned by subscript`() throws {
    test.host["limit"] = 5
    test.host["title"] = "hello"
    #expect(try test.host.run("return limit, title") == [5, "hello"])
  }

  @Test func `an assignment to a closed host is reported`() {
    test.host.close()
    test.host["creature"] = Creature()
    test.host["limit"] = 5
    #expect(
      test.reports.map(\.error.message) == [
        "the global variable 'creature' could not be set: the Lua state is closed",
        "the global variable 'limit' could not be set: the Lua state is closed",
      ])
    #expect(test.reports.map(\.error.code) == [.closed, .closed])
    #expect(throws: LuaError.self) { try test.host.set("limit", to: 5) }
  }

  @Test func `a function takes and returns models, cases and nil`() throws {
    try test.host.set("older") { (creature: Creature, years: Int?) in
      creature.age += years ?? 1
      return creature
    }
    try test.host.set("opposite") { (side: Side) -> Side in side == .left ? .right : .left }
    try test.host.set("refuse") { () throws -> Void in throw Refused() }
    test.host["creature"] = Creature()
    try test.host.run(
      """
      assert(older(creature, 2) == creature and creature.age == 2)
      older(creature)
      assert(opposite("left") == "right")
      """)
    #expect((test.host["creature"] as Creature?)?.age == 3)
    #expect(
      test.message("opposite('up')") == "script:1: bad argument #1 to 'opposite' "
        + "(Side (left, right) expected, got 'up')")
    #expect(test.message("older({})").contains("#1 to 'older' (Creature expected, got table)"))
    #expect(test.message("older()").contains("#1 to 'older' (Creature expected, got no value)"))
    let error = #expect(throws: LuaError.self) { try test.host.run("refuse()") }
    #expect(error?.underlying as? Refused == Refused())
  }

  @Test func `a tuple is several results`() throws {
    try test.host.set("split") { (number: Double) in (Int(number), number - number.rounded(.down)) }
    try test.host.set("nothing") { () in }
    #expect(try test.host.run("return split(2.5)") == [2, 0.5])
    #expect(try test.host.run("return nothing()") == [])
  }

  private func giveClass() throws {
    try test.host.set(
      "Creature",
      to: ScriptFunctions {
        Function("new") { (name: String) in Creature(name: name) }
        Function("years") { (months: Int) in Double(months) / 12 }
        Constant("legs", 4)
        Constant("kinds", ["cat", "dog"])
      })
  }

  @Test func `a class has constructors, functions and constants`() throws {
    try giveClass()
    try test.host.run(
      """
      local ada = Creature.new("Ada")
      assert(ada.name == "Ada" and ada ~= Creature.new("Ada"))
      assert(Creature.years(18) == 1.5 and Creature.legs == 4 and Creature.kinds[2] == "dog")
      local names = {}
      for name in pairs(Creature) do names[#names + 1] = name end
      assert(#names == 4)
      """)
  }

  @Test(arguments: [
    ("Creature.nwe('x')", "Creature has no member 'nwe' (did you mean 'new'?)"),
    ("Creature.legz = 1", "no member 'legz' (did you mean 'legs'?); nothing can be assigned"),
    ("Creature[1] = 1", "Creature has no member '#1'; nothing can be assigned"),
    ("Creature.legs = 1", "script:1: 'legs' is a member of Creature, and cannot be assigned"),
    ("Creature.new = print", "'new' is a member of Creature, and cannot be assigned"),
    ("Creature.new(1)", "bad argument #1 to 'Creature.new' (string expected, got number)"),
    ("Creature:new('x')", "bad argument #1 to 'Creature.new' (string expected, got table)"),
  ])
  func `a wrong use of a class is an error that names the right one`(
    script: String, text: String
  ) throws {
    try giveClass()
    #expect(test.message(script).contains(text), "\(test.message(script))")
  }
}
