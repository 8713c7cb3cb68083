import Foundation
import Lua
import LuaObservables
import Observables
import Testing

/// S8 for programs, and where limits stop scripts.
@Suite struct `Transactions` {
  private struct Refusal: Error {}

  /// Runs writes in a transaction that fails.
  private func undone(
    on roots: [any ObservableReference], in host: LuaHost, _ body: () throws -> Void
  ) {
    #expect(throws: Refusal.self) {
      try host.transaction(on: roots) {
        try body()
        throw Refusal()
      }
    }
  }

  @Test func `undo writes of Swift and scripts below the roots`() throws {
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
    undone(on: [table], in: host) {
      pet.name = "Tim"
      pet.toys.insert("bone", at: 0)
      try table.set("n", to: 2)
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

  @Test func `undo all objects that one operation has inserted`() throws {
    let host = try LuaHost(loop: Loop(clock: .virtual))
    let pets = [Pet(name: "Rex"), Pet(name: "Tim"), Pet(name: "Tom")]
    let list = ObservableArray<Pet>(pets[..<1])
    let map = ObservableDictionary<String, Pet>()
    let operations: [() -> Void] = [
      { list.append(contentsOf: pets) }, { list.insert(contentsOf: pets, at: 0) },
      { list.set(pets) }, { list.replaceSubrange(0..<1, with: pets) },
      { map.set(["a": pets[0], "b": pets[1], "c": pets[2]]) },
      { map.merge(["a": pets[0], "b": pets[1], "c": pets[2]]) { $1 } },
    ]
    for operation in operations {
      undone(on: [list, map], in: host) {
        operation()
        for pet in pets { pet.name = "changed" }
      }
      #expect(pets.map(\.name) == ["Rex", "Tim", "Tom"])
      #expect(list.count == 1 && map.isEmpty)
    }
  }

  @Test func `call no Swift watchers registered inside of them`() throws {
    let host = try LuaHost(loop: Loop(clock: .virtual))
    let pet = Pet(name: "Rex")
    var (names, found): ([String], [[DeepChange]]) = ([], [])
    var history: ChangeHistory?
    undone(on: [pet], in: host) {
      pet.name = "Tim"
      try pet.observe("name", in: host.loop) { names.append($0.name) }
      try pet.changes(in: host.loop) { _, changes in found.append(changes) }
      history = try ChangeHistory(of: pet, in: host.loop)
      pet.name = "Tom"
    }
    host.loop.flush()
    #expect(names.isEmpty && found.isEmpty && history?.canUndo == false)
    pet.toys.append("ball")
    host.loop.flush()
    #expect(
      found == [[DeepChange(path: ["toys", 1], kind: .insert, new: "ball")]] && names.isEmpty)
    #expect(history?.undo() == true && pet.name == "Rex" && pet.toys.isEmpty)
  }

  @Test func `undo assignments to lazy properties`() throws {
    let host = try LuaHost(loop: Loop(clock: .virtual))
    let scale = Scale()
    #expect(scale.shown == "1 kg")
    undone(on: [scale], in: host) {
      scale.shown = "heavy"
    }
    #expect(scale.shown == "1 kg")
    scale.shown = "light"
    for body in [{ scale.shown = "heavy" }, { scale.weight = 2 }] {
      undone(on: [scale], in: host) {
        body()
      }
      #expect(scale.shown == "light")
    }
    scale.weight = 3
    #expect(scale.shown == "3 kg")
  }

  @Test func `need setters`() throws {
    let host = try LuaHost(loop: Loop(clock: .virtual))
    let error = #expect(throws: LuaError.self) {
      try host.transaction(on: [Creature(name: "a")]) {}
    }
    #expect(error?.message.contains("'legs' of Creature: it has no setter") == true)
  }

  @Test(.disabled(if: ContainedHost.delaysSignals))
  func `undo the writes of a script that its limit stopped`() throws {
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

  // S3, S8: open transactions and batches are closed even without memory.
  @Test func `a transaction and a batch that run out of memory end`() throws {
    let test = try ContainedHost {
      $0.turnTime = nil
      $0.memory = 16 << 20
    }
    // The set is garbage, but the finalizer of its node has not run.
    _ = test.failure(
      """
      obs, t = require 'obs', { n = 1 }
      local set = obs.set_of {}
      obs.transaction({ set, t }, function()
        t.n = 2
        for i = 1, math.huge do set:add(i) end
      end)
      """)
    #expect(try test.host.run("return t.n")[0] == 1)
    _ = test.failure(
      """
      for _, open in ipairs { obs.batch, function(f) obs.transaction({ t }, f) end } do
        coroutine.wrap(function()
          local kept = {}
          pcall(open, function()
            for _, size in ipairs { 1 << 20, 1 << 16, 1 << 12, 1 << 8 } do
              pcall(function() while true do kept[#kept + 1] = ('x'):rep(size) .. #kept end end)
            end
            return table.unpack(kept)
          end)
        end)()
      end
      """)
    #expect(try test.host.run("return 7")[0] == 7)
  }

  // S1
  @Test(.disabled(if: ContainedHost.delaysSignals))
  func `call immediate watchers for undone writes under the limits of their scripts`() throws {
    let test = try ContainedHost()
    try test.host.run(
      """
      obs = require 'obs'
      t, isOver = { n = 1 }, false
      obs.observe(t, "n", function() while isOver do end end, { immediate = true })
      """)
    let error = test.failure(
      """
      obs.transaction({ t }, function()
        t.n = 2
        isOver = true
        while true do end
      end)
      """)
    #expect(error?.code == .timeLimit)
    try test.host.run("isOver = false result = t.n")
    #expect(test.host["result"] == 1)
  }

  // X2, X3, X5, S8: random programs against a reference, with Swift objects among their objects.
  @Test func `hold for random programs on both sides of the border`() throws {
    let host = try LuaHost(loop: Loop(clock: .virtual))
    defer { Animal.part() }
    let environment = ProcessInfo.processInfo.environment
    let count = environment["OBS_COUNT"].flatMap { Int($0) }
    host.onError = { Issue.record("\($0)") }
    try host.set("first", to: environment["OBS_SEED"].flatMap { Int($0) } ?? 1)
    try host.set("count", to: count ?? (environment["OBS_LIGHT"] == nil ? 200 : 20))
    try host.set("script", to: Scripts.folder.appending(path: "RandomPrograms.lua").path)
    try host.set(
      "make_host",
      to: host.state.function("make_host") { [unowned host] () -> LuaValue in
        try host.value(for: Animal())
      })
    for kind in ["free", "history"] {
      try host.run("arg = { first, count, '\(kind)' } dofile(script)")
      host.loop.advance(by: 1)
    }
  }

  @Test func `undo writes to a table that was put into a Swift object`() throws {
    let host = try LuaHost(loop: Loop(clock: .virtual))
    let (cage, other) = (Cage(), Cage())
    try host.set("cage", to: cage)
    try host.set("other", to: other)
    try host.run(
      """
      obs = require "obs"
      t = {}
      for _, object in ipairs { cage, other } do
        ok = obs.transaction({ cage }, function()
          cage.next = other
          object.table = t
          t.a, t[1] = 1, 2
          obs.abort()
        end)
        assert(not ok and next(t) == nil and object.table == nil and cage.next == nil)
      end
      """)
  }

  @Test func `of Swift alone reject tables of scripts, also ones added later`() throws {
    let host = try LuaHost(loop: Loop(clock: .virtual))
    let cage = Cage()
    guard case .table(let table) = try host.run("t = {} return t").first else {
      Issue.record("t is no table")
      return
    }
    let sentence =
      "tables of scripts need the transaction of their host: LuaHost.transaction(on:)"
    let late = #expect(throws: TransactionError.self) {
      try Transaction.run(on: [cage], in: host.loop) { cage.table = table }
    }
    #expect(late?.description == sentence && cage.table == nil)
    cage.table = table
    let early = #expect(throws: TransactionError.self) {
      try Transaction.run(on: [cage], in: host.loop) { cage.table = nil }
    }
    #expect(early?.description == sentence && cage.table != nil)
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

  @Test func `objects that cannot be made are rejected`() throws {
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
      error?.message.contains("Creature cannot be made from data: it has no init(from:)") == true)
    try host.run("result = creature.name")
    #expect(host["result"] == "a")
  }
}

/// A model that can be made from data.
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

/// A model with a property for a table of a script.
private final class Cage: ObservableModel {
  static let properties = ModelProperties(for: Cage.self) {
    Property("next", get: { $0.next }, set: { $0.next = $1 })
    Property("table", get: { $0.table }, set: { $0.table = $1 })
  }
  let observation = ModelObservation()
  var next: Cage? { didSet { observation.didSet(0, from: oldValue, to: next) } }
  var table: LuaTable? { didSet { observation.didSet(1, from: oldValue, to: table) } }
}

/// A model with collections and a property for a table of a script.
private final class Animal: ObservableModel, Decodable {
  static let properties = ModelProperties(for: Animal.self) {
    Property("name", get: { $0.name }, set: { $0.name = $1 })
    Property("size", get: { $0.size }, set: { $0.size = $1 })
    Property("mate", get: { $0.mate }, set: { $0.mate = $1 })
    Property("table", get: { $0.table }, set: { $0.table = $1 })
    Property("tags", get: { $0.tags })
    Property("kids", get: { $0.kids })
    Property("map", get: { $0.map })
  }
  let observation = ModelObservation()
  var name = "" { didSet { observation.didSet(0, from: oldValue, to: name) } }
  var size = 0 { didSet { observation.didSet(1, from: oldValue, to: size) } }
  var mate: Animal? { didSet { observation.didSet(2, from: oldValue, to: mate) } }
  var table: LuaTable? { didSet { observation.didSet(3, from: oldValue, to: table) } }
  let tags = ObservableSet<String>()
  let kids = ObservableArray<Animal>()
  let map = ObservableDictionary<String, Int>()

  private struct Weak { weak var animal: Animal? }
  // Only one test makes animals.
  private nonisolated(unsafe) static var all: [Weak] = []

  init() { Animal.all.append(Weak(animal: self)) }

  /// Breaks the reference cycles between animals, which ARC does not free.
  static func part() {
    for animal in all.compactMap(\.animal) {
      animal.mate = nil
      animal.kids.removeAll()
    }
    all = []
  }

  private enum CodingKeys: CodingKey { case name, size, mate, tags, kids, map }

  convenience init(from decoder: any Decoder) throws {
    self.init()
    let container = try decoder.container(keyedBy: CodingKeys.self)
    name = try container.decode(String.self, forKey: .name)
    size = try container.decode(Int.self, forKey: .size)
    mate = try container.decodeIfPresent(Animal.self, forKey: .mate)
    for tag in try container.decodeIfPresent([String].self, forKey: .tags) ?? [] {
      tags.insert(tag)
    }
    kids.set(try container.decodeIfPresent([Animal].self, forKey: .kids) ?? [])
    for (key, value) in try container.decodeIfPresent([String: Int].self, forKey: .map) ?? [:] {
      map[key] = value
    }
  }
}

/// A model with a computed property.
private final class Scale: ObservableModel {
  static let properties = ModelProperties(for: Scale.self) {
    Property("weight", get: { $0.weight }, set: { $0.weight = $1 })
    Property("shown", lazy: { $0.$shown }, from: ["weight"]) { "\($0.weight) kg" }
  }
  let observation = ModelObservation()
  var weight = 1 { didSet { observation.didSet(0, from: oldValue, to: weight) } }
  @Lazy var shown: String
}
