import Lua
import LuaObservables
import Observables
import TestSupport
import Testing

/// X2 and X3 for copies on both sides of the border that apply each other's changes.
@Suite struct `Origins across the border` {
  private let loop = Loop(clock: .virtual)
  private let pet = Pet("Rex", toys: ["ball"])
  private let log = Log()

  /// A host with the pet and a function that returns changes as text.
  private func host() throws -> LuaHost {
    let host = try LuaHost(loop: loop)
    host.onError = { Issue.record("\($0)") }
    try host.set("pet", to: pet)
    try host.set("note") { [log] (text: String) in log.note(text) }
    try host.run(
      """
      obs = require "obs"
      function watch(t, skip)
        return obs.changes(t, function(_, changes, _, delivery)
          local parts = {}
          for i, change in ipairs(changes) do
            parts[i] = ("%s %s %s"):format(change.kind, table.concat(change.path, "."), change.new)
          end
          local origins = {}
          for i, origin in ipairs(delivery.origins) do origins[i] = tostring(origin) end
          note(table.concat(parts, ", ") .. " of " .. table.concat(origins, ", "))
        end, { skip = skip })
      end
      """)
    return host
  }

  @Test func `scripts leave out changes that Swift applies`() throws {
    let host = try host()
    try host.run("t = { pet = pet } watch(t, 'a')")
    pet.toys.insert("local", at: 0)
    try pet.apply(
      [
        DeepChange(path: ["name"], old: "Rex", new: "Tim"),
        DeepChange(path: ["mate"], new: ["name": "Ida", "toys": ["bone"]], model: "Pet"),
        DeepChange(path: ["toys", 2], kind: .insert, new: "stick"),
      ], force: true, origin: "a")
    pet.mate?.name = "Eva"
    pet.mate?.toys.append("rope")
    loop.flush()
    #expect(
      log.events == [
        """
        insert pet.mate.toys.2 rope, insert pet.toys.1 local, set pet.mate.name Eva of\u{20}
        """
      ])
    _ = host
  }

  @Test func `Swift leaves out changes that scripts apply`() throws {
    let host = try host()
    try pet.changes(in: loop, skip: "a") { [log] _, changes, delivery in
      let texts = changes.map { change in
        let path = change.path.map(\.description).joined(separator: ".")
        return "\(change.kind.rawValue) \(path) \(change.new == nil ? "-" : "+")"
      }
      log.note("\(texts.joined(separator: ", ")) of \(delivery.origins.map { "\($0)" })")
    }
    try host.run(
      """
      t = { pets = { "none", pet } }
      obs.apply(t, {
        { path = { "pets", 2, "name" }, kind = "set", old = "Rex", new = "Tim" },
        { path = { "pets", 2, "mate" }, kind = "set", new = { name = "Ida", toys = { "bone" } },
          model = "Pet" },
        { path = { "pets", 2, "toys", 2 }, kind = "insert", new = "stick" },
        { path = { "pets", 2, "tags" }, kind = "insert", new = "x" },
      }, { origin = "a" })
      pet.mate.name = "Eva"
      pet.tags:add "y"
      """)
    loop.flush()
    try host.run(
      """
      pet.toys:insert(3, "local")
      obs.apply(pet, {
        { path = { "toys", 4 }, kind = "insert", new = "rope" },
        { path = { "toys", 1 }, kind = "set", old = "ball", new = "cup" },
        { path = { "mate", "toys", 1 }, kind = "remove", old = "bone" },
      }, { origin = "a" })
      obs.apply(pet, { { path = { "name" }, kind = "set", old = "Tim", new = "Tom" } },
        { origin = 1.0 })
      """)
    loop.flush()
    #expect(
      log.events == [
        #"set mate.name +, insert tags + of []"#,
        #"insert toys.3 +, set name + of ["1.0"]"#,
      ])
    #expect(pet.text == #"Tom ["cup", "stick", "local", "rope"] ["x", "y"] (Eva [] [] ())"#)
  }

  @Test func `numbers, booleans and strings are the only origins equal on both sides`() throws {
    let same: [(String, AnyHashable)] = [
      ("7", 7), ("7.0", 7), ("7", 7.0), ("0.5", 0.5), ("true", true), ("false", false),
      ("'é'", "é"),
    ]
    let others: [(String, AnyHashable)] = [
      ("'1'", 1), ("1", "1"), ("1", true), ("true", "true"), ("{}", 1), ("7.5", 7),
    ]
    let host = try host()
    for (index, (script, origin)) in (same + others).enumerated() {
      let watcher = try pet.changes(in: loop, skip: origin) { [log] _, _ in log.note("Swift") }
      try host.run("watcher = watch(pet, \(script))")
      try pet.apply([DeepChange(path: ["tags"], kind: .insert, new: "a")], origin: origin)
      loop.flush()
      try host.run(
        """
        obs.apply(pet, { { path = { "tags" }, kind = "remove", old = "a" } },
          { origin = \(script) })
        """)
      loop.flush()
      let isSame = index < same.count
      #expect(log.events.contains("Swift") != isSame, "\(script), \(origin)")
      #expect(log.events.contains { $0.hasPrefix("insert") } != isSame, "\(script), \(origin)")
      #expect(!log.events.contains { $0.hasPrefix("remove") } || script == "{}", "\(script)")
      watcher.stop()
      try host.run("watcher:stop()")
      _ = log.take()
    }
  }

  // S8
  @Test func `undone writes are not delivered, on both sides`() throws {
    let host = try host()
    struct Refusal: Error {}
    try host.run("watch(pet, 'a')")
    let watcher = try pet.changes(in: loop, skip: "a") { [log] _, changes in
      log.note("Swift: \(changes.count)")
    }
    let before = watcher.snapshot()
    #expect(throws: Refusal.self) {
      try host.transaction(on: [pet]) {
        try pet.apply([DeepChange(path: ["name"], old: "Rex", new: "Tim")], origin: "a")
        try host.run(
          """
          obs.apply(pet, {
            { path = { "mate" }, kind = "set", new = { name = "Ida" }, model = "Pet" },
            { path = { "toys", 1 }, kind = "remove", old = "ball" },
          }, { origin = "a" })
          """)
        #expect(watcher.snapshot()?.value != before?.value)
        throw Refusal()
      }
    }
    #expect(watcher.snapshot() == before)
    loop.flush()
    #expect(log.events == [])
    pet.toys[0] = "cup"
    loop.flush()
    #expect(log.events.sorted() == ["Swift: 1", "set toys.1 cup of "])
  }

  @Test(arguments: 1...60)
  func `copies on both sides stay equal`(seed: Int) throws {
    var random = SeededGenerator(seed: seed)
    let host = try host()
    let other = Pet("Rex", toys: ["ball"])
    try host.set("other", to: other)
    try pet.changes(in: loop, skip: "script") { [unowned other] _, changes in
      try other.apply(changes, origin: "swift")
    }
    try host.run(
      """
      obs.changes(other, function(_, changes)
        obs.apply(pet, changes, { origin = "script" })
      end, { skip = "swift" })
      """)
    func write(_ pet: Pet) {
      let pets = [pet, pet.mate ?? pet]
      let one = pets.randomElement(using: &random)!
      let text = ["a", "b", "c", "d"].randomElement(using: &random)!
      let count = one.toys.count
      switch Int.random(in: 0..<8, using: &random) {
      case 0: one.name = text
      case 1: pet.mate = Bool.random(using: &random) ? Pet(text, toys: [text]) : nil
      case 2, 3: one.toys.insert(text, at: Int.random(in: 0...count, using: &random))
      case 4 where count > 0: one.toys.remove(at: Int.random(in: 0..<count, using: &random))
      case 5 where count > 0: one.toys[Int.random(in: 0..<count, using: &random)] = text
      case 6 where count > 1:
        one.toys.move(from: 0, to: Int.random(in: 0..<count, using: &random))
      default: if one.tags.contains(text) { one.tags.remove(text) } else { one.tags.insert(text) }
      }
    }
    for turn in 1...8 {
      let pet = turn % 2 == 0 ? pet : other
      for _ in 0..<Int.random(in: 0..<4, using: &random) { write(pet) }
      loop.turn {}
      let (text, otherText) = (self.pet.text, other.text)
      #expect(text == otherText, "seed \(seed), turn \(turn)")
    }
  }
}

/// A model that can be made from data.
private final class Pet: ObservableModel, Decodable {
  static let properties = ModelProperties(for: Pet.self) {
    Property("name", get: { $0.name }, set: { $0.name = $1 })
    Property("mate", get: { $0.mate }, set: { $0.mate = $1 })
    Property("table", get: { $0.table }, set: { $0.table = $1 })
    Property("toys", get: { $0.toys })
    Property("tags", get: { $0.tags })
  }
  let observation = ModelObservation()
  var name: String { didSet { observation.didSet(0, from: oldValue, to: name) } }
  var mate: Pet? { didSet { observation.didSet(1, from: oldValue, to: mate) } }
  var table: LuaTable? { didSet { observation.didSet(2, from: oldValue, to: table) } }
  let toys: ObservableArray<String>
  let tags = ObservableSet<String>()

  init(_ name: String, toys: [String] = []) {
    (self.name, self.toys) = (name, ObservableArray(toys))
  }

  private enum CodingKeys: CodingKey { case name, mate, toys, tags }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    name = try container.decode(String.self, forKey: .name)
    mate = try container.decodeIfPresent(Pet.self, forKey: .mate)
    toys = ObservableArray(try container.decodeIfPresent([String].self, forKey: .toys) ?? [])
    for tag in try container.decodeIfPresent([String].self, forKey: .tags) ?? [] {
      tags.insert(tag)
    }
  }

  /// All its properties, as text.
  var text: String {
    "\(name) \(Array(toys)) \(tags.map { $0 }.sorted()) (\(mate?.text ?? ""))"
  }
}
