import Observables
import Testing

/// W2, W4: inspecting watchers from a Swift program.
struct InspectionTests {
  private let loop = Loop(clock: .virtual)
  private let person = Person("Ann", address: Address("1"))

  // W2
  @Test func `describe lists observers, their places, and the whole path`() throws {
    #expect(person.describe() == "Person is not observed")
    let line = #line + 1
    try person.observe("address.zip", in: loop) { _ in }
    try person.observeImmediately("name", in: loop, options: WatcherOptions(name: "log")) { _, _ in
    }
    let place = "registered at ObservablesTests/InspectionTests.swift"
    #expect(
      person.describe() == """
        Person #1 is observed:
          address
            on 'address.zip', \(place):\(line)
          name
            log on 'name', \(place):\(line + 1) [immediate]
        """)
    #expect(person.address!.describe().hasSuffix("zip\n    on 'address.zip', \(place):\(line)"))
  }

  // W2
  @Test func `describe lists dependencies of lazy properties, and computes nothing`() throws {
    let cell = Cell(1)
    try cell.observe("source", in: loop) { _ in }
    #expect(cell.describe().contains("value (lazy, invalid)"))
    #expect(cell.runs == 0)
    try cell.observe("value", in: loop) { _ in }
    #expect(
      cell.describe().contains(
        """
          value (computed, valid)
            depends on: 'source', 'left.value'
        """))
    #expect(cell.describe().contains("'value' depends on it"))
    #expect(cell.runs == 1)
  }

  // W4
  @Test func `why lists the writes behind the last call`() throws {
    let watcher = try person.observe("address.zip", in: loop) { _ in }
    loop.turn { person.address!.zip = "2" }
    #expect(watcher.why().isEmpty)
    #expect(watcher.whyNot().detail.contains("recording is off"))
    loop.record(true)
    #expect(watcher.whyNot().reason == .unwritten)
    loop.turn {
      person.address!.zip = "3"
      person.address = Address("4")
    }
    #expect(
      watcher.why().map(\.description) == [
        "'zip' was written in turn 2 (\"2\" → \"3\")",
        "'address' was written in turn 2 (Address → Address)",
      ])
    #expect(watcher.whyNot().reason == .called)
    loop.record(false)
    #expect(watcher.why().isEmpty)
  }

  // W4
  @Test func `why leads through lazy properties`() throws {
    let cells = Cell.chain(3)
    loop.record(true)
    let watcher = try cells[2].observe("value", in: loop) { _ in }
    loop.turn { cells[0].source = 5 }
    #expect(watcher.why().map(\.key) == ["source"])
    #expect(watcher.why().first?.through == ["value", "value", "value"])
  }

  // W4
  @Test func `whyNot gives the reason for a watcher's silence`() throws {
    loop.record(true)
    let watcher = try person.observe("friend.name", in: loop) { _ in }
    #expect(watcher.whyNot().reason == .unreachable)
    #expect(watcher.whyNot().detail.contains("'friend'"))
    person.friend = Person("Bob")
    #expect(watcher.whyNot().reason == .pending)
    loop.turn {}
    loop.turn { person.friend!.name = "Bob" }
    #expect(watcher.whyNot().reason == .equal)
    #expect(watcher.whyNot().detail == "'name' was written, with the value it already had: \"Bob\"")
    watcher.pause()
    #expect(watcher.whyNot().reason == .paused)
    watcher.stop()
    #expect(watcher.whyNot().reason == .stopped)
  }

  // W4
  @Test func `a log lists the events when the turn is over`() throws {
    var events: [String] = []
    loop.log { events.append("\($0)") }
    let line = #line + 1
    let watcher = try person.observe("age", in: loop, options: WatcherOptions(name: "w")) { _ in }
    loop.turn {
      person.age = 1
      person.age = 1
      #expect(events == [])
    }
    watcher.stop()
    loop.turn {}
    let place = "ObservablesTests/InspectionTests.swift:\(line)"
    #expect(
      events == [
        "turn 1: observe w on 'age' of Person #1 at \(place)",
        "turn 1: write 'age' of Person #1 (0 → 1)",
        "turn 1: write 'age' of Person #1 (1 → 1) (equal)",
        "turn 1, flush 1: call w of Person #1 at \(place)",
        "turn 2: end w of Person #1 at \(place)",
      ])
    loop.log(nil)
    loop.turn { person.age = 2 }
    #expect(events.count == 5)
  }

  // W4
  @Test func `why names the flush within its turn`() throws {
    loop.record(true)
    var calls: [(Int, Int?)] = []
    loop.log { event in if event.kind == .call { calls.append((event.turn, event.flush)) } }
    let watcher = try person.observe("age", in: loop) { _ in }
    try person.observe("age", in: loop) { person in person.name = "\(person.age)" }
    let follower = try person.observe("name", in: loop) { _ in }
    try person.observeImmediately("age", in: loop) { _, _ in }
    loop.turn {
      person.age = 1
      loop.flush()
      person.age = 2
      loop.flush()
      loop.flush()
      person.age = 3
    }
    #expect(watcher.why().map(\.flush) == [nil])
    #expect(watcher.whyNot().detail == "it was called in turn 1, flush 3")
    #expect(
      follower.why().map(\.description) == [
        "'name' was written in turn 1, flush 3 (\"2\" → \"3\")"
      ])
    loop.turn { person.age = 4 }
    #expect(watcher.whyNot().detail == "it was called in turn 2, flush 1")
    let flushes = calls.map { "\($0).\($1 ?? 0)" }
    let flush = { (name: String) in ["\(name)", "\(name)", "\(name)"] }
    #expect(
      flushes == ["1.0"] + flush("1.1") + ["1.0"] + flush("1.2") + ["1.0"] + flush("1.3") + ["2.0"]
        + flush("2.1"))
  }

  // W4
  @Test func `why marks writes to an object that had left the path`() throws {
    loop.record(true)
    let watcher = try person.observe("address.zip", in: loop) { _ in }
    let (first, second) = (person.address!, Address("2"))
    loop.turn {
      first.zip = "1a"
      person.address = second
      first.zip = "1b"
      second.zip = "2b"
    }
    #expect(watcher.why().map(\.key) == ["zip", "address", "zip"])
    #expect(watcher.why().map(\.hasLeft) == [false, false, true])
    #expect(
      watcher.why().last?.description
        == "'zip' was written in turn 1 (\"1a\" → \"1b\"), to an object that had left the path")
    loop.turn {
      person.address = first
      second.zip = "2c"
      person.address = second
    }
    #expect(watcher.why().map(\.hasLeft) == [false, false, false])
  }

  // W4, W5
  @Test func `records keep small values and names, and run no code of the program`() throws {
    struct Loud: CustomStringConvertible {
      var description: String { fatalError("A record has asked for a description") }
    }
    final class Box: ObservableModel {
      static let properties = ModelProperties(for: Box.self) {
        Property("value", get: { $0.value })
      }
      let observation = ModelObservation()
      var value: Any? { didSet { observation.didSet(0, from: oldValue, to: value) } }
    }
    loop.record(true)
    let box = Box()
    let watcher = try box.observe("value", in: loop) { _ in }
    let long = String(repeating: "x", count: 100_000)
    let values: [Any] = [true, 1, 1.5, "a\n", UInt64.max, long, Loud(), Address("1")]
    loop.turn { for value in values { box.value = value } }
    #expect(
      watcher.why().map(\.new) == [
        .boolean(true), .integer(1), .number(1.5), .text("a\n"), .number(Double(UInt64.max)),
        .text(String(repeating: "x", count: 60) + "…"), .object("Loud"), .object("Address"),
      ])
    #expect(watcher.why().map(\.old).first == .some(RecordedValue.none))
    #expect(watcher.why()[3].description.contains(#"(1.5 → "a\n")"#))
    weak var last: Address?
    loop.turn {
      let address = Address("2")
      last = address
      box.value = address
      box.value = nil
    }
    #expect(watcher.why().map(\.old) == [.object("Address"), .object("Address")])
    #expect(last == nil)
  }

  // W5
  @Test func `a log contains the values of lazy properties`() throws {
    let cell = Cell(1)
    let watcher = try cell.observe("value", in: loop) { _ in }
    var events: [String] = []
    loop.log { event in
      if event.kind == .compute || event.kind == .write {
        events.append(
          "\(event.kind) \(event.key!): \(event.old.map { "\($0)" } ?? "?"), \(event.new!)")
      }
    }
    loop.turn { cell.source = 5 }
    #expect(events == ["write source: 1, 5", "compute Cell.value: 1, 5"])
    watcher.stop()
  }

  @Test func `a host's record and the loop's record are separate`() throws {
    let other = Loop(clock: .virtual)
    loop.record(true)
    other.record(true)
    let watchers = try [loop, other].map { try person.observe("age", in: $0) { _ in } }
    loop.turn { person.age = 1 }
    #expect(watchers.map { $0.why().count } == [1, 0])
    loop.record(false)
    other.turn { person.age = 2 }
    #expect(watchers.map { $0.why().count } == [0, 2])
  }
}
