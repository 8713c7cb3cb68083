import Observables
import TestSupport
import Testing

/// Dictionaries and sets by their keys and members (C5, C6).
struct KeyedCollectionTests {
  private let loop = Loop()
  private let log = Log()

  /// Equal to tickets with the same number, but a separate object.
  private final class Ticket: Hashable, CustomStringConvertible {
    let number: Int
    let name: String
    init(_ number: Int, _ name: String) { (self.number, self.name) = (number, name) }
    static func == (a: Ticket, b: Ticket) -> Bool { a.number == b.number }
    func hash(into hasher: inout Hasher) { hasher.combine(number) }
    var description: String { name }
  }

  // C5
  @Test func `a key can be watched before it exists`() throws {
    let ages: ObservableDictionary<String, Int> = [:]
    try ages.observe("ann", in: loop) { [log] ages in log.note("\(ages["ann"] ?? -1)") }
    ages.removeValue(forKey: "ann")
    ages["bob"] = 1
    loop.endTurn()
    ages["ann"] = 7
    loop.endTurn()
    ages["ann"] = 7
    loop.endTurn()
    ages["ann"] = nil
    loop.endTurn()
    #expect(log.events == ["7", "-1"])
  }

  // C5
  @Test func `keys of any type are watched by exact components`() throws {
    let names: ObservableDictionary<Int, String> = [:]
    try names.observe(Path(3), in: loop) { [log] names in log.note(names[3] ?? "none") }
    try names.observe("4", in: loop) { [log] names in log.note(names[4] ?? "none") }
    names[3] = "c"
    names[4] = "d"
    loop.endTurn()
    #expect(log.events == ["c", "d"])
  }

  // C5, T9
  @Test func `merging is one event, for the keys that changed`() throws {
    let ages: ObservableDictionary = ["ann": 1, "bob": 2]
    for path: Path in ["ann", "bob", "eve", "count"] {
      try ages.observe(path, in: loop) { [log] _ in log.note("\(path)") }
    }
    try ages.observeImmediately("*", in: loop) { [log] _, _ in log.note("*") }
    ages.merge(["ann": 1, "eve": 3]) { _, new in new }
    loop.endTurn()
    #expect(log.events == ["*", "eve", "count"])
  }

  // C5, T5: a watcher with `equals` wants to know of values written again, too.
  @Test func `merging is heard by watchers of all keys, whichever key comes first`() throws {
    let ages = ObservableDictionary(
      Dictionary(uniqueKeysWithValues: (0..<10).map { ("\($0)", 1) }))
    try ages.observe("*", in: loop, options: .init(equals: { _, _ in true })) { _ in }
    try ages.observe("*", in: loop) { [log] _ in log.note("*") }
    for key in ages.entries.keys {
      ages.merge(ages.entries.merging([key: 2]) { $1 }) { $1 }
      loop.endTurn()
    }
    #expect(log.events == Array(repeating: "*", count: 10))
  }

  @Test func `a merge whose rule throws changes nothing`() throws {
    struct Refusal: Error {}
    let ages: ObservableDictionary = ["ann": 1]
    try ages.observe("*", in: loop) { [log] _ in log.note("called") }
    #expect(throws: Refusal.self) {
      try ages.merge([("eve", 3), ("ann", 2)]) { _, _ in throw Refusal() }
    }
    loop.endTurn()
    #expect(ages.entries == ["ann": 1])
    #expect(log.events == [])
  }

  @Test func `a merge takes repeated keys in their order`() {
    let ages: ObservableDictionary = ["ann": 1]
    ages.merge([("ann", 2), ("eve", 3), ("eve", 4)]) { $0 * 10 + $1 }
    #expect(ages.entries == ["ann": 12, "eve": 34])
  }

  @Test func `named keys are delivered with their old and new values`() throws {
    let ages: ObservableDictionary = ["ann": 1, "bob": 2]
    try ages.observeKeys(["bob", "ann", "eve"], in: loop) { [log] key, old, new, _ in
      log.note("\(key) \(old ?? -1) \(new ?? -1)")
    }
    (ages["ann"], ages["eve"], ages["zoe"]) = (5, 3, 9)
    ages["bob"] = 0
    ages["bob"] = 2
    loop.endTurn()
    ages["eve"] = nil
    loop.endTurn()
    #expect(log.events == ["ann 1 5", "eve -1 3", "eve 3 -1"])
  }

  @Test func `an initial call delivers the named keys that exist`() throws {
    let ages: ObservableDictionary = ["ann": 1, "zoe": 9]
    var options = WatcherOptions()
    options.initial = true
    try ages.observeKeys(["bob", "ann"], in: loop, options: options) { [log] key, old, new, _ in
      log.note("\(key) \(old ?? -1) \(new ?? -1)")
    }
    loop.endTurn()
    ages["ann"] = 2
    loop.endTurn()
    #expect(log.events == ["ann -1 1", "ann 1 2"])
  }

  // T7
  @Test func `a watcher stopped by the call for one key gets no calls for further keys`() throws {
    let ages: ObservableDictionary = ["ann": 1, "bob": 2]
    var watcher: Watcher?
    watcher = try ages.observeKeys(["ann", "bob"], in: loop) { [log] key, _, _, _ in
      log.note(key)
      watcher?.stop()
    }
    (ages["ann"], ages["bob"]) = (5, 6)
    loop.endTurn()
    #expect(log.events == ["ann"])
  }

  // C6
  @Test func `adding a member twice or removing a missing one calls nothing`() throws {
    let names: ObservableSet = ["a"]
    for path: Path in ["*", "count"] {
      try names.observe(path, in: loop) { [log] _ in log.note("\(path)") }
    }
    names.insert("a")
    names.remove("b")
    names.formUnion(["a"])
    names.subtract(["b"])
    loop.endTurn()
    #expect(log.events == [])
  }

  // C6
  @Test func `replacing a member by an equal one is delivered once, with both`() throws {
    let (first, second) = (Ticket(1, "first"), Ticket(1, "second"))
    let tickets: ObservableSet = [first]
    try tickets.observeImmediately("*", in: loop) { [log] _, change in
      log.note("\(change.old ?? "nil") \(change.new ?? "nil")")
    }
    tickets.update(with: second)
    tickets.update(with: second)
    #expect(log.events == ["first second"])
    #expect(tickets.first === second)
  }

  // C6
  @Test func `members of every type are named, and found by their name`() throws {
    let mixed: ObservableSet<AnyHashable> = []
    let members: [AnyHashable] = ["3", 3, true, "true", 2.5, "a.b", "", "object:1"]
    let keys = members.map(mixed.key(of:))
    #expect(Set(keys).count == members.count)
    for (member, key) in zip(members, keys) {
      #expect(mixed.object(for: key) == member)
      #expect(try Path("\(key)").components == [key])
      try mixed.observe(Path(key), in: loop) { [log] _ in log.note("\(member)") }
    }
    mixed.insert(3)
    mixed.insert("true")
    loop.endTurn()
    #expect(log.events == ["3", "true"])
  }

  // C6
  @Test func `bulk changes of a set are one event, with the differences`() throws {
    let numbers: ObservableSet = [1, 2, 3]
    try numbers.observeEdits(in: loop) { [log] _, edits in
      log.note(
        edits.map { $0.new == nil ? "-\($0.key)" : "+\($0.key)" }.sorted().joined(separator: " "))
    }
    numbers.formUnion([3, 4, 4])
    loop.endTurn()
    numbers.subtract([1, 9])
    loop.endTurn()
    numbers.formSymmetricDifference([2, 5, 5])
    loop.endTurn()
    numbers.formIntersection([5, 3, 7])
    loop.endTurn()
    numbers.subtract(numbers)
    loop.endTurn()
    #expect(log.events == ["+4", "-1", "+5 -2", "-4", "-3 -5"])
    #expect(numbers.isEmpty)
  }

  // T9
  @Test func `an optional element that is nil is delivered as nil`() throws {
    let names: ObservableArray<String?> = ["a"]
    try names.observeImmediately("#0", in: loop) { [log] _, change in
      log.note("\(change.old == nil) \(change.new == nil)")
    }
    names[0] = nil
    names[0] = "b"
    #expect(log.events == ["false true", "true false"])
  }
}
