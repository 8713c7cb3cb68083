import Lua
import LuaObservables
import Observables
import Testing

/// S8 for programs, and where limits stop scripts.
@Suite struct `Transactions` {
  private struct Refusal: Error {}

  @Test func `take back what Swift and scripts have written below the roots`() throws {
    let host = try LuaHost(loop: Loop(clock: .virtual))
    let pet = Pet(name: "Rex")
    pet.toys.append("ball")
    try host.set("pet", to: pet)
    try host.run(
      """
      obs = require "obs"
      t, calls = { pet = pet, n = 1 }, 0
      obs.observe(t, { "n", "pet.name", "pet.toys.*" }, function() calls = calls + 1 end)
      """)
    guard case .table(let table) = host["t"] else {
      Issue.record("t is no table")
      return
    }
    #expect(throws: Refusal.self) {
      try host.transaction(on: [table]) {
        pet.name = "Tim"
        pet.toys.insert("bone", at: 0)
        try table.set("n", to: 2)
        throw Refusal()
      }
    }
    host.loop.flush()
    #expect(pet.name == "Rex" && Array(pet.toys) == ["ball"])
    #expect(try table["n"] == 1)
    #expect(host["calls"] == 0)
    let name = try host.transaction(on: [pet]) {
      pet.name = "Tim"
      return pet.name
    }
    host.loop.flush()
    #expect(name == "Tim" && pet.name == "Tim")
    #expect(host["calls"] == 1)
  }

  @Test func `need setters`() throws {
    let host = try LuaHost(loop: Loop(clock: .virtual))
    let error = #expect(throws: LuaError.self) {
      try host.transaction(on: [Creature(name: "a")]) {}
    }
    #expect(error?.message.contains("'legs' of Creature: it has no setter") == true)
  }

  @Test(.disabled(if: ContainedHost.delaysSignals))
  func `take back what a script wrote that its limit stopped`() throws {
    let test = try ContainedHost()
    try test.host.run("obs = require 'obs' t = { n = 1, list = {} }")
    let error = test.failure(
      """
      obs.transaction({ t }, function()
        t.n = 2
        for i = 1, 1000 do t.list[i] = { i } end
        while true do end
      end)
      """)
    #expect(error?.code == .timeLimit)
    try test.host.run("result = t.n .. ' ' .. #t.list")
    #expect(test.host["result"] == "1 0")
  }

  // X2, X3: one list of changes for both sides of the border.
  @Test func `changes go through tables and Swift objects`() throws {
    let host = try LuaHost(loop: Loop(clock: .virtual))
    let pet = Pet(name: "Rex")
    try host.set("pet", to: pet)
    try host.set("other", to: Pet(name: "Rex"))
    try host.run(
      """
      local obs = require "obs"
      t = { pet = pet, list = {} }
      local copy = { pet = other, list = {} }
      obs.changes(t, function(_, changes)
        obs.apply(copy, changes)
        result = ("%s %d %s %d"):format(copy.pet.name, #copy.pet.toys, copy.pet.mate.name,
          #copy.list)
        obs.apply(copy, obs.invert(changes))
        back = ("%s %d %s %d"):format(copy.pet.name, #copy.pet.toys, copy.pet.mate, #copy.list)
      end)
      """)
    pet.name = "Tim"
    pet.toys.append("ball")
    pet.mate = Pet(name: "Ida")
    try host.run("t.list[1] = {}")
    #expect(host["result"] == "Tim 1 Ida 1")
    #expect(host["back"] == "Rex 0 nil 0")
  }

  @Test func `objects that cannot be made are refused`() throws {
    let host = try LuaHost(loop: Loop(clock: .virtual))
    try host.set("creature", to: Creature(name: "a"))
    let error = #expect(throws: LuaError.self) {
      try host.run(
        """
        require "obs".apply(creature, {
          { path = { "name" }, kind = "set", old = "a", new = "b" },
          { path = { "friend" }, kind = "set", new = { name = "c" }, model = "Creature" },
        })
        """)
    }
    #expect(
      error?.message.contains("Creature cannot be made of data, as it has no init(from:)") == true)
    try host.run("result = creature.name")
    #expect(host["result"] == "a")
  }
}

/// A model that data can make.
private final class Pet: ObservableModel, Decodable {
  static let properties = ModelProperties(for: Pet.self) {
    Property("name", get: { $0.name }, set: { $0.name = $1 })
    Property("mate", get: { $0.mate }, set: { $0.mate = $1 })
    Property("toys", get: { $0.toys })
  }
  let observation = ModelObservation()
  var name = "" { didSet { observation.didSet(0, from: oldValue, to: name) } }
  var mate: Pet? { didSet { observation.didSet(1, from: oldValue, to: mate) } }
  let toys = ObservableArray<String>()

  init(name: String) { self.name = name }

  private enum CodingKeys: CodingKey { case name, mate, toys }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    name = try container.decode(String.self, forKey: .name)
    mate = try container.decodeIfPresent(Pet.self, forKey: .mate)
    toys.set(try container.decodeIfPresent([String].self, forKey: .toys) ?? [])
  }
}
