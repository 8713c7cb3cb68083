import Foundation
import Observables
import Testing

/// Several loops that observe the same objects.
struct SeveralLoopsTests {
  private let one = Loop(clock: .virtual)
  private let two = Loop(clock: .virtual)
  private let person = Person("Ann", address: Address("1"))

  private func message(_ body: () throws -> Void) -> String {
    do {
      try body()
      return "none"
    } catch { return "\(error)" }
  }

  // MARK: Models

  @Test func `loops of one thread share a model, each with its own watchers and turns`() throws {
    var events: [String] = []
    try person.observe("name", in: one) { events.append("one \($0.name)") }
    try person.observe("name", in: two) { events.append("two \($0.name)") }
    try person.observe("address.zip", in: two) { events.append("two \($0.address?.zip ?? "nil")") }
    one.turn { person.name = "Eve" }
    #expect(events == ["one Eve"])
    two.turn {
      person.name = "Bob"
      person.address!.zip = "2"
    }
    one.step()
    #expect(events == ["one Eve", "two Bob", "two 2", "one Bob"])
  }

  @Test func `immediate watchers of all loops receive the values`() throws {
    var events: [String] = []
    for (name, loop) in [("one", one), ("two", two)] {
      try person.observeImmediately("age", in: loop) { _, change in
        events.append("\(name) \(change.old!) → \(change.new!)")
      }
    }
    person.age = 1
    person.age = 1
    #expect(events == ["one 0 → 1", "two 0 → 1"])
  }

  @Test(arguments: [true, false])
  func `watchers of one loop continue when those of the other end`(isFirst: Bool) throws {
    var events: [String] = []
    let watchers = [
      try person.observe("name", in: one) { events.append("one \($0.name)") },
      try person.observe("name", in: two) { events.append("two \($0.name)") },
    ]
    watchers[isFirst ? 0 : 1].stop()
    for loop in [one, two] { loop.turn {} }
    one.turn { person.name = "Eve" }
    two.turn {}
    #expect(events == [isFirst ? "two Eve" : "one Eve"])
    watchers[isFirst ? 1 : 0].stop()
    for loop in [one, two] { loop.turn {} }
    try person.observe("name", in: one) { events.append("again \($0.name)") }
    one.turn { person.name = "Bob" }
    #expect(events.last == "again Bob" && events.count == 2)
  }

  // L3
  @Test func `all loops report the end of the object`() throws {
    var person: Person? = Person("Ann")
    var ends: [String] = []
    for (name, loop) in [("one", one), ("two", two)] {
      try person!.observe(
        "name", in: loop, options: WatcherOptions(onEnd: { _ in ends.append(name) })
      ) { _ in }
    }
    person = nil
    for loop in [two, one] { loop.step() }
    #expect(ends == ["two", "one"])
    #expect(one.statistics.observedObjects == 0 && two.statistics.observedObjects == 0)
  }

  // L5
  @Test func `stopping by object or path, and counts, apply to all loops`() throws {
    try person.observe("name", in: one) { _ in }
    try person.observe("name", in: two) { _ in }
    try person.observe("age", in: two) { _ in }
    #expect(person.observedKeys == ["age", "name"])
    #expect(person.observerCount(of: "name") == 2)
    #expect(person.stopObserving("name") == 2)
    #expect(person.stopObserving() == 1)
    #expect(one.statistics.watchers == 0 && two.statistics.watchers == 0)
  }

  @Test func `observing a property that another loop computes is an error`() throws {
    let cell = Cell(1)
    try cell.observe("value", in: one) { _ in }
    #expect(message { try cell.observe("value", in: two) { _ in } }.contains("another loop"))
    var sources: [Int] = []
    try cell.observe("source", in: two) { sources.append($0.source) }
    two.turn { cell.source = 4 }
    #expect(sources == [4])
  }

  @Test func `loops of several threads share a thread-safe model`() throws {
    let tally = Tally()
    let (done, counts) = (DispatchSemaphore(value: 0), Shared([Int]()))
    let threads = (0..<3).map { number in
      LoopThread { loop in
        try! tally.observe("count", in: loop) { tally in
          if tally.count == 9 {
            counts.withLock { $0.append(number) }
            done.signal()
          }
        }
        done.signal()
      }
    }
    for _ in threads { done.wait() }
    var here: [Int] = []
    try tally.observe("count", in: one) { here.append($0.count) }
    one.turn { tally.count = 9 }
    for _ in threads { done.wait() }
    #expect(here == [9] && counts.withLock { $0.sorted() } == [0, 1, 2])
    for thread in threads { thread.stop() }
  }

  // T11
  @Test(arguments: [true, false])
  func `a watcher of one loop may end watchers of the other, in the write`(isShared: Bool) throws {
    var events: [String] = []
    func watch<Model: ObservableModel>(_ model: Model, _ path: Path) throws {
      let other = try model.observeImmediately(path, in: two) { _, _ in events.append("two") }
      try model.observeImmediately(path, in: one) { [two] _, _ in
        events.append("one")
        other.stop()
        two.endTurn()
      }
    }
    let (tally, person) = (Tally(), person)
    // The loop that observed the model first is notified first.
    try tally.observe("count", in: one) { _ in }
    try person.observe("age", in: one) { _ in }
    try isShared ? watch(tally, "count") : watch(person, "age")
    for number in 1...2 {
      if isShared { tally.count = number } else { person.age = number }
    }
    #expect(events == ["one", "one"])
  }

  @Test func `a confined model of another thread's loop is an error`() throws {
    let box = Box(person)
    let isDone = DispatchSemaphore(value: 0)
    let thread = LoopThread { loop in
      try! box.value.observe("name", in: loop) { _ in }
      isDone.signal()
    }
    isDone.wait()
    #expect(message { try person.observe("age", in: one) { _ in } }.contains("another loop"))
    thread.stop()
  }

  // MARK: Collections

  @Test func `a collection belongs to one loop, and an error names it`() throws {
    let list = ObservableArray([1])
    try list.observe("*", in: one) { _ in }
    #expect(message { try list.observe("*", in: two) { _ in } }.contains("another loop"))
    #expect(two.statistics.watchers == 0)
  }

  @Test func `a path to another loop's collection is an error that names the component`() throws {
    let shop = Shop()
    try shop.items.observe("*", in: one) { _ in }
    let error = message { try shop.observe("items.*", in: two) { _ in } }
    #expect(error.contains("component 1 of key path 'items.*'") && error.contains("another loop"))
    #expect(two.statistics.watchers == 0)
  }

  @Test func `another loop's collection that appears later is reported, and skipped`() throws {
    var errors: [String] = []
    two.onError = { errors.append("\($0)") }
    let (shop, list) = (Shop(), ObservableArray([1]))
    try list.observe("*", in: one) { _ in }
    var calls = 0
    try shop.observe("items.*", in: two) { _ in calls += 1 }
    two.turn { shop.items = list }
    #expect(calls == 1)
    #expect(errors.count == 1 && errors[0].contains("another loop"))
    two.turn { shop.items = ObservableArray([2]) }
    two.turn { shop.items.append(3) }
    #expect(calls == 3 && errors.count == 1)
  }

  @Test func `an unobserved collection may be observed by another loop`() throws {
    let list = ObservableArray([1])
    let watcher = try list.observe("*", in: one) { _ in }
    watcher.stop()
    one.turn {}
    var counts: [Int] = []
    try list.observe("*", in: two) { counts.append($0.count) }
    two.turn { list.append(2) }
    #expect(counts == [2])
  }

  private final class Shop: ObservableModel {
    static let properties = ModelProperties(for: Shop.self) {
      Property("items", get: { $0.items }, set: { $0.items = $1 })
    }
    let observation = ModelObservation()
    var items = ObservableArray<Int>() {
      didSet { observation.didSet(0, from: oldValue, to: items) }
    }
  }
}
