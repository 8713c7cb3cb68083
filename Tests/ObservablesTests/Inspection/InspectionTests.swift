import Observables
import Testing

/// W2, W4: what a Swift program can ask about its watchers.
struct InspectionTests {
  private let loop = Loop(clock: .virtual)
  private let person = Person("Ann", address: Address("1"))

  // W2
  @Test func `describe tells who observes what, from where, and the whole path`() throws {
    #expect(person.describe() == "Person is not observed")
    let line = #line + 1
    try person.observe("address.zip", in: loop) { _ in }
    try person.observeImmediately("name", in: loop, options: WatcherOptions(name: "log")) { _, _ in
    }
    let place = "registered at ObservablesTests/InspectionTests.swift"
    #expect(
      person.describe() == """
        Person is observed:
          address
            on 'address.zip', \(place):\(line)
          name
            log on 'name', \(place):\(line + 1) [immediate]
        """)
    #expect(person.address!.describe().hasSuffix("zip\n    on 'address.zip', \(place):\(line)"))
  }

  // W2
  @Test func `describe tells what lazy properties depend on, and computes nothing`() throws {
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
  @Test func `why tells the writes behind the last call`() throws {
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
        "'zip' was written in turn 2", "'address' was written in turn 2",
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
  @Test func `whyNot says what kept a watcher silent`() throws {
    loop.record(true)
    let watcher = try person.observe("friend.name", in: loop) { _ in }
    #expect(watcher.whyNot().reason == .unreachable)
    #expect(watcher.whyNot().detail.contains("'friend'"))
    person.friend = Person("Bob")
    #expect(watcher.whyNot().reason == .pending)
    loop.turn {}
    loop.turn { person.friend!.name = "Bob" }
    #expect(watcher.whyNot().reason == .equal)
    #expect(watcher.whyNot().detail == "'name' was written, with the value that it had")
    watcher.pause()
    #expect(watcher.whyNot().reason == .paused)
    watcher.stop()
    #expect(watcher.whyNot().reason == .stopped)
  }

  // W4
  @Test func `a log tells what happened, when the turn is over`() throws {
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
        "turn 1: observe w on 'age' at \(place)", "turn 1: write 'age'",
        "turn 1: write 'age' (equal)", "turn 1: call w at \(place)", "turn 2: end w at \(place)",
      ])
    loop.log(nil)
    loop.turn { person.age = 2 }
    #expect(events.count == 5)
  }

  @Test func `a host's record and the loop's own are apart`() throws {
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
