import Observables
import TestSupport
import Testing

/// P5, C12: collections and structures that properties hold as values, as parts of a path.
struct HeldCollectionTests {
  private struct Size: Equatable {
    var width = 1
    var unit: Unit? = Unit()
    struct Unit: Equatable { var name = "cm" }
  }
  private final class Shelf: ObservableModel {
    static let properties = ModelProperties(for: Shelf.self) {
      Property("people", get: { $0.people }, set: { $0.people = $1 })
      Property("prices", get: { $0.prices }, set: { $0.prices = $1 })
      Property("tags", get: { $0.tags }, set: { $0.tags = $1 })
      Property("more", get: { $0.more }, set: { $0.more = $1 })
      Property("size", get: { $0.size }, set: { $0.size = $1 })
    }
    let observation = ModelObservation()
    var people: [Person] = [] { didSet { observation.didSet(0, from: oldValue, to: people) } }
    var prices: [String: Int] = [:] { didSet { observation.didSet(1, from: oldValue, to: prices) } }
    var tags: Set<String> = [] { didSet { observation.didSet(2, from: oldValue, to: tags) } }
    var more: [Person]? { didSet { observation.didSet(3, from: oldValue, to: more) } }
    var size = Size() { didSet { observation.didSet(4, from: oldValue, to: size) } }
  }

  private let loop = Loop(clock: .virtual)
  private let shelf = Shelf()
  private let ann = Person("Ann")
  private let bob = Person("Bob")

  @Test
  func `a path through an array reports its elements, and follows insertions and removals`()
    throws
  {
    var events: [String] = []
    try shelf.observe("people.*.name", in: loop) { events.append($0.people.map(\.name).joined()) }
    loop.turn { shelf.people = [ann] }
    loop.turn { shelf.people.append(bob) }
    loop.turn { bob.name = "Ben" }
    loop.turn { shelf.people.removeFirst() }
    loop.turn { ann.name = "Eve" }
    loop.turn { bob.name = "Bob" }
    #expect(events == ["Ann", "AnnBob", "AnnBen", "Ben", "Bob"])
  }

  @Test func `elements are followed after several writes in one turn`() throws {
    var calls = 0
    try shelf.observe("people.*.age", in: loop) { _ in calls += 1 }
    loop.turn {
      shelf.people = [ann]
      shelf.people = [bob]
      shelf.people.append(ann)
      shelf.people.removeFirst()
    }
    loop.turn { ann.age += 1 }
    loop.turn { bob.age += 1 }
    #expect(calls == 2)
  }

  @Test func `slots, objects and sizes`() throws {
    shelf.people = [ann, bob]
    var events: [String] = []
    try shelf.observe("people.#0.name", in: loop) { _ in events.append("slot") }
    try shelf.observe("people.1.name", in: loop) { _ in events.append("object") }
    try shelf.observe("people.count", in: loop) { events.append("\($0.people.count)") }
    loop.turn { ann.name = "Eve" }
    loop.turn { bob.name = "Ben" }
    #expect(events == ["slot", "object"])
    loop.turn { shelf.people = [bob, ann, Person("Cy")] }
    #expect(events.dropFirst(2) == ["slot", "object", "3"])
    loop.turn { ann.name = "Eva" }
    #expect(events.last == "object" && events.count == 6)
  }

  // C9, C12
  @Test func `operators over an array`() throws {
    shelf.people = [ann, bob]
    var sums: [Any?] = []
    try shelf.observe("people.@sum.age", in: loop) {
      sums.append(try? $0.value(at: "people.@sum.age"))
    }
    loop.turn { ann.age = 4 }
    loop.turn { shelf.people.append(Person("Cy")) }
    loop.turn { shelf.people.removeFirst() }
    // A different collection is a change, whatever the sum.
    #expect(sums.map { $0 as? Int } == [4, 4, 0])
  }

  @Test func `keys of a dictionary, members of a set, and an optional collection`() throws {
    var events: [String] = []
    try shelf.observe("prices.tea", in: loop) { events.append("tea \($0.prices["tea"] ?? 0)") }
    try shelf.observe("tags.count", in: loop) { events.append("tags \($0.tags.count)") }
    try shelf.observe("more.*.name", in: loop) { events.append("more \($0.more?.count ?? -1)") }
    loop.turn { shelf.prices["tea"] = 3 }
    loop.turn { shelf.tags.insert("new") }
    loop.turn { shelf.more = [ann] }
    loop.turn { ann.name = "Eve" }
    loop.turn { shelf.more = nil }
    #expect(events == ["tea 3", "tags 1", "more 1", "more 1", "more -1"])
  }

  // T5
  @Test func `writing an equal value is no change`() throws {
    shelf.people = [ann]
    shelf.prices = ["tea": 1]
    var calls = 0
    try shelf.observe("prices.tea", in: loop) { _ in calls += 1 }
    loop.turn { shelf.prices = ["tea": 1] }
    #expect(calls == 0)
  }

  @Test func `a value can be read through collections and structures`() throws {
    shelf.people = [ann, bob]
    shelf.prices = ["tea": 3]
    #expect(try shelf.value(at: "people.1.name") as? String == "Bob")
    #expect(try shelf.value(at: "people.@last.name") as? String == "Bob")
    #expect(try shelf.value(at: "people.5.name") == nil)
    #expect(try shelf.value(at: "prices.tea") as? Int == 3)
    #expect(try shelf.value(at: "size.unit.name") as? String == "cm")
    shelf.size.unit = nil
    #expect(try shelf.value(at: "size.unit.name") == nil)
    #expect(throws: PathError.self) { try shelf.value(at: "size.widht") }
  }

  @Test func `a path into a structure reports its changes`() throws {
    var widths: [Int] = []
    try shelf.observe("size.width", in: loop) { widths.append($0.size.width) }
    loop.turn { shelf.size.width = 2 }
    loop.turn { shelf.size.width = 2 }
    #expect(widths == [2])
  }

  // L3
  @Test func `nothing is kept after the last watcher has ended`() throws {
    let probe = LifetimeProbe()
    shelf.people = [Person("Cy", probe: probe)]
    let watcher = try shelf.observe("people.*.name", in: loop) { _ in }
    loop.turn {}
    shelf.people = []
    loop.turn {}
    #expect(probe.alive == 0)
    shelf.people = [Person("Di", probe: probe)]
    loop.turn {}
    watcher.stop()
    loop.turn {}
    shelf.people = []
    #expect(probe.alive == 0)
  }
}
