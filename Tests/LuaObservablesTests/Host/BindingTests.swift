import Lua
import LuaObservables
import Observables
import Testing

/// K4: bindings between tables of scripts and Swift models.
struct ScriptBindingTests {
  private let test: TestHost
  private let creature = Creature(name: "Ada")
  private let table: LuaTable

  init() throws {
    test = try TestHost()
    guard case .table(let table) = try test.host.run("t = {name = 'x', age = 7} return t")[0] else {
      throw LuaError("no table")
    }
    self.table = table
  }

  @Test func `a table follows a model, until it is overridden, and again after`() throws {
    let binding = try test.host.bind(table, ["name", "age"], to: creature)
    #expect(try table["name"] == "Ada" && table["age"] == 0)
    test.loop.turn {
      creature.name = "Bea"
      creature.name = "Cid"
    }
    #expect(try table["name"] == "Cid")
    try test.host.run("t.name = 'own'")
    test.loop.turn { creature.age = 2 }
    #expect(try table["name"] == "own" && table["age"] == 2)
    test.loop.turn { creature.name = "Dee" }
    #expect(try table["name"] == "Dee")
    binding.stop()
    binding.stop()
    test.loop.turn { creature.name = "Eli" }
    #expect(try table["name"] == "Dee" && !binding.isActive)
  }

  @Test func `a model follows a table`() throws {
    let binding = try test.host.bind(creature, ["name", "age"], to: table)
    #expect(creature.name == "x" && creature.age == 7 && binding.isActive)
    try test.host.run("t.name, t.age = 'y', 8")
    #expect(creature.name == "y" && creature.age == 8)
  }

  @Test func `bindings chain, and may go both ways`() throws {
    let other = Creature()
    try test.host.bind(table, ["name"], to: creature)
    try test.host.bind(other, ["name"], to: table)
    try test.host.bind(creature, ["name"], to: table)
    test.loop.turn { creature.name = "Bea" }
    #expect(other.name == "Bea")
    try test.host.run("t.name = 'Cid'")
    #expect(other.name == "Cid" && creature.name == "Cid" && test.reports.isEmpty)
  }

  @Test func `a key that cannot be bound is an error, and nothing is bound`() throws {
    let unknown = #expect(throws: ModelError.self) {
      try test.host.bind(table, ["name", "aeg"], to: creature)
    }
    #expect(unknown?.suggestion == "age")
    #expect(throws: ModelError.self) { try test.host.bind(creature, ["nmae"], to: table) }
    let readOnly = #expect(throws: LuaError.self) {
      try test.host.bind(creature, ["legs"], to: table)
    }
    #expect(readOnly?.message.contains("'legs' of Creature is read-only") == true)
    let wrong = #expect(throws: LuaError.self) {
      try test.host.run("t.age = 'old'")
      try test.host.bind(creature, ["age"], to: table)
    }
    #expect(wrong?.message.contains("'age' of Creature takes Int, not string") == true)
    #expect(test.loop.statistics.watchers == 0)
  }

  // T10
  @Test func `a value that cannot be set later is reported, and the binding stays`() throws {
    try test.host.bind(creature, ["age"], to: table)
    try test.host.run("t.age = 'old'")
    #expect(test.reports.count == 1 && creature.age == 7)
    #expect(test.reports.first?.error.message.contains("takes Int, not string") == true)
    try test.host.run("t.age = 9")
    #expect(creature.age == 9)
  }

  // L6
  @Test func `a binding works while only Swift holds the model, and keeps nothing alive`() throws {
    weak var weakCreature: Creature?
    do {
      let creature = Creature()
      weakCreature = creature
      let binding = try test.host.bind(creature, ["name"], to: table)
      try test.host.bind(table, ["age"], to: creature)
      try test.collect()
      try test.host.run("t.name = 'later'")
      test.loop.turn { creature.age = 3 }
      #expect(try creature.name == "later" && table["age"] == 3 && binding.isActive)
    }
    try test.collect()
    try test.host.run("t.name = 'nobody'")
    try test.collect()
    #expect(weakCreature == nil && test.loop.statistics.watchers == 0)
  }

  @Test func `a binding ends with its table, and with the host`() throws {
    guard case .table(let own) = try test.host.run("return {}")[0] else { return }
    let binding = try test.host.bind(own, ["name"], to: creature)
    test.host.close()
    #expect(!binding.isActive)
    binding.stop()
    test.loop.turn { creature.name = "Bea" }
    #expect(creature.name == "Bea" && test.loop.statistics.watchers == 0)
  }
}
