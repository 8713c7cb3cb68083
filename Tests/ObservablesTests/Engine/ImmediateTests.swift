import Observables
import TestSupport
import Testing

/// T9: watchers that are called inside the write.
struct ImmediateTests {
  private let loop = Loop()
  private let log = Log()

  @discardableResult
  private func watch(
    _ person: Person, _ path: Path, _ name: String,
    _ options: WatcherOptions = WatcherOptions(), then body: @escaping () -> Void = {}
  ) throws -> Watcher {
    try person.observeImmediately(path, in: loop, options: options) { [log] _, _ in
      log.note(name)
      body()
    }
  }

  // T9
  @Test func `a watcher gets path, key, old and new value inside the write`() throws {
    let person = Person("Ann", address: Address("1"))
    try person.observeImmediately("address.zip", in: loop) { [log] person, change in
      log.note("\(person.name) \(change.path) \(change.key) \(change.old!) \(change.new!)")
    }
    person.address!.zip = "2"
    log.note("written")
    #expect(log.events == ["Ann address.zip zip 1 2", "written"])
  }

  // T9
  @Test func `old and new value of a property that is nil are nil`() throws {
    let person = Person()
    try person.observeImmediately("address", in: loop) { [log] _, change in
      log.note("\(change.old == nil) \(change.new is Address)")
    }
    person.address = Address()
    #expect(log.events == ["true true"])
  }

  // T9
  @Test func `the callback reads the stored value`() throws {
    let person = Person()
    try person.observeImmediately("age", in: loop) { [log] person, _ in log.note("\(person.age)") }
    person.age = 7
    #expect(log.events == ["7"])
  }

  // T9
  @Test func `calls come in order of registration, before coalesced ones`() throws {
    let person = Person()
    try person.observe("name", in: loop) { [log] _ in log.note("coalesced") }
    try watch(person, "*", "1")
    try watch(person, "name", "2")
    try watch(person, "*", "3")
    person.name = "x"
    loop.endTurn()
    #expect(log.events == ["1", "2", "3", "coalesced"])
  }

  // T9
  @Test func `a watcher of several paths is called once per write`() throws {
    let person = Person()
    let watcher = try watch(person, "name", "w")
    try watcher.observe("*")
    person.name = "x"
    person.age = 1
    #expect(log.events == ["w", "w"])
  }

  // P6, T9
  @Test func `a watcher follows a replaced object at once`() throws {
    let person = Person(address: Address("1"))
    let old = person.address!
    try watch(person, "address.zip", "w")
    person.address = Address("2")
    old.zip = "silent"
    #expect(log.take() == ["w"])
    person.address!.zip = "3"
    #expect(log.take() == ["w"])
  }

  // T5
  @Test func `the same value calls no watcher`() throws {
    let person = Person("Ann")
    try watch(person, "name", "w")
    person.name = "Ann"
    #expect(log.events == [])
  }

  // T9
  @Test func `a callback is not re-entered: its changes call it again after it returned`() throws {
    let person = Person()
    try person.observeImmediately("age", in: loop) { [log] person, change in
      log.note("enter \(change.new!)")
      if person.age < 3 { person.age += 1 }
      log.note("leave")
    }
    person.age = 1
    #expect(log.events == ["enter 1", "leave", "enter 2", "leave", "enter 3", "leave"])
  }

  // T9, P6
  @Test func `a write to a branch that the callback put in calls it again`() throws {
    let person = Person(address: Address("1"))
    var isFirst = true
    try person.observeImmediately("address.zip", in: loop) { [log] person, change in
      log.note(change.key)
      guard isFirst else { return }
      isFirst = false
      person.address = Address("2")
      person.address!.zip = "3"
    }
    person.address!.zip = "x"
    #expect(log.events == ["zip", "address", "zip"])
  }

  // T9
  @Test func `after a hundred calls caused by itself an error names the watcher`() throws {
    let person = Person()
    var errors: [String] = []
    loop.onError = { errors.append("\($0)") }
    var count = 0
    let options = WatcherOptions(name: "endless")
    try person.observeImmediately("age", in: loop, options: options) { person, _ in
      count += 1
      person.age += 1
    }
    person.age = 1
    #expect(count == 101)
    #expect(
      errors == [
        "the immediate watcher endless triggered itself 100 times; the call was dropped"
      ])
    count = 0
    person.age = 1
    #expect(count == 101)
  }

  // T9
  @Test func `two watchers that trigger each other without end are stopped by the limit`() throws {
    let (a, b) = (Person(), Person())
    var errors = 0
    loop.onError = { _ in errors += 1 }
    try a.observeImmediately("age", in: loop) { a, _ in b.age = a.age }
    try b.observeImmediately("age", in: loop) { b, _ in a.age = b.age + 1 }
    a.age = 1
    #expect(errors > 0)
    #expect(a.age < 1_000)
  }

  // T9
  @Test func `calls nested deeper than fifty are queued in order`() throws {
    let people = (0..<120).map { Person("\($0)") }
    var (depth, deepest) = (0, 0)
    for (index, person) in people.enumerated() {
      try person.observeImmediately("age", in: loop) { [log] _, _ in
        depth += 1
        deepest = max(deepest, depth)
        log.note("\(index)")
        if index + 1 < people.count { people[index + 1].age += 1 }
        depth -= 1
      }
    }
    people[0].age = 1
    #expect(deepest == 50)
    #expect(log.events == people.map(\.name))
  }

  // T9
  @Test func `a batch delays calls to its end, once each, with the first change`() throws {
    let person = Person()
    try person.observeImmediately("age", in: loop) { [log] person, change in
      log.note("\(change.old!) \(change.new!) \(person.age)")
    }
    loop.batch {
      person.age = 1
      loop.batch { person.age = 2 }
      #expect(log.events == [])
    }
    #expect(log.events == ["0 1 2"])
  }

  // T9
  @Test func `a batch that throws makes the calls, too`() throws {
    struct Failure: Error {}
    let person = Person()
    try watch(person, "age", "w")
    #expect(throws: Failure.self) {
      try loop.batch { () throws(Failure) in
        person.age = 1
        throw Failure()
      }
    }
    #expect(log.events == ["w"])
  }

  // L2, T9
  @Test func `a batch keeps an object alive until its watchers were called`() throws {
    var person: Person? = Person("Ann")
    try person!.observeImmediately("age", in: loop) { [log] person, _ in log.note(person.name) }
    loop.batch {
      person!.age = 1
      person = nil
    }
    #expect(log.events == ["Ann"])
    #expect(loop.statistics.watchers == 0)
  }

  // T7
  @Test func `a watcher stopped by an earlier one is not called`() throws {
    let person = Person()
    var second: Watcher?
    try watch(person, "name", "1") { second?.stop() }
    second = try watch(person, "name", "2")
    person.name = "x"
    #expect(log.events == ["1"])
  }

  // T7
  @Test func `a watcher may stop itself after a write that triggers it`() throws {
    let person = Person()
    var watcher: Watcher?
    watcher = try watch(person, "age", "w") {
      person.age += 1
      watcher?.stop()
    }
    person.age = 1
    person.age = 10
    #expect(log.events == ["w"])
    #expect(loop.statistics.watchers == 0)
  }

  // T11
  @Test func `a watcher added inside a call is called for the next change`() throws {
    let person = Person()
    var isFirst = true
    try watch(person, "name", "1") { [unowned person, loop, log] in
      guard isFirst else { return }
      isFirst = false
      _ = try? person.observeImmediately("name", in: loop) { _, _ in log.note("new") }
    }
    person.name = "x"
    person.name = "y"
    #expect(log.events == ["1", "1", "new"])
  }

  // T9
  @Test func `writes of a callback reach coalesced watchers in this turn`() throws {
    let person = Person()
    try watch(person, "name", "immediate") { person.age += 1 }
    try person.observe("age", in: loop) { [log] _ in log.note("coalesced") }
    person.name = "x"
    loop.endTurn()
    #expect(log.events == ["immediate", "coalesced"])
  }

  // T9
  @Test func `writes of a coalesced watcher are delivered inside its call`() throws {
    let person = Person()
    try person.observe("name", in: loop) { [log] person in
      person.age += 1
      log.note("coalesced")
    }
    try watch(person, "age", "immediate")
    person.name = "x"
    loop.endTurn()
    #expect(log.events == ["immediate", "coalesced"])
  }

  @Test func `a paused watcher gets the first change when it resumes`() throws {
    let person = Person()
    let watcher = try person.observeImmediately("age", in: loop) { [log] _, change in
      log.note("\(change.new!)")
    }
    watcher.pause()
    person.age = 1
    person.age = 2
    #expect(log.take() == [])
    watcher.resume()
    #expect(log.take() == ["1"])
    person.age = 3
    #expect(log.take() == ["3"])
  }

  @Test func `a watcher paused and resumed within a batch waits for the end`() throws {
    let person = Person()
    let watcher = try watch(person, "age", "w")
    loop.batch {
      watcher.pause()
      person.age = 1
      watcher.resume()
      #expect(log.events == [])
    }
    #expect(log.events == ["w"])
  }

  @Test func `a watcher scheduled while paused is called after resume`() throws {
    let person = Person()
    let watcher = try watch(person, "age", "w")
    watcher.pause()
    watcher.schedule()
    loop.endTurn()
    #expect(log.take() == [])
    watcher.resume()
    loop.endTurn()
    #expect(log.take() == ["w"])
    person.age = 1
    #expect(log.take() == ["w"])
  }

  @Test func `once ends the watcher after the first change`() throws {
    let person = Person()
    let watcher = try watch(person, "age", "w", WatcherOptions(once: true)) { person.age += 1 }
    person.age = 1
    #expect(log.events == ["w"])
    #expect(!watcher.isActive)
  }

  @Test func `an initial call comes at the end of the turn, without values`() throws {
    let person = Person()
    let options = WatcherOptions(initial: true)
    try person.observeImmediately("age", in: loop, options: options) { [log] _, change in
      log.note("\(change.path) \(change.new == nil)")
    }
    loop.endTurn()
    #expect(log.events == ["age true"])
  }

  @Test func `run calls the watcher, and again for its own changes`() throws {
    let person = Person()
    let watcher = try watch(person, "age", "w") { if person.age < 2 { person.age += 1 } }
    watcher.run()
    #expect(log.events == ["w", "w", "w"])
  }

  // T5
  @Test func `equals decides about its calls`() throws {
    let person = Person()
    let options = WatcherOptions(equals: { ($0 as! Int) / 10 == ($1 as! Int) / 10 })
    try watch(person, "age", "w", options)
    person.age = 9
    person.age = 10
    #expect(log.events == ["w"])
  }

  // T12
  @Test func `a flush inside an immediate watcher traps with a sentence`() async {
    await #expect(processExitsWith: .failure) {
      let loop = Loop()
      let person = Person()
      try person.observeImmediately("age", in: loop) { _, _ in loop.flush() }
      person.age = 1
    }
  }

  // L3
  @Test func `the object may lose its last reference in the callback`() throws {
    var person: Person? = Person()
    let weakly = { [weak person] in person?.age = 2 }
    try watch(person!, "age", "w") {
      weakly()
      person = nil
    }
    person!.age = 1
    #expect(log.events == ["w", "w"])
  }

  // T9, L3
  @Test func `a watcher may have several paths and an observer, with which it ends`() throws {
    let person = Person("Ann", address: Address("1"))
    var view: Person? = Person("view")
    let options = WatcherOptions(observer: view!)
    try person.observeImmediately("name", "address.zip", in: loop, options: options) {
      [log, unowned view] _, change in
      log.note("\(view!.name) \(change.path) \(change.new!)")
    }
    person.name = "Eve"
    person.address!.zip = "2"
    view = nil
    person.name = "Bob"
    #expect(log.events == ["view name Eve", "view address.zip 2"])
    loop.turn {}
    #expect(loop.statistics.watchers == 0)
  }

  // T9
  @Test func `one path with an observer, and several paths without one`() throws {
    let person = Person("Ann", address: Address("1"))
    var view: Person? = Person("view")
    try person.observeImmediately("name", in: loop, options: WatcherOptions(observer: view!)) {
      [log, unowned view] _, change in
      log.note("\(view!.name) \(change.new!)")
    }
    try person.observeImmediately("name", "address.zip", in: loop) { [log] _, change in
      log.note("\(change.path)")
    }
    person.name = "Eve"
    view = nil
    person.name = "Bob"
    person.address!.zip = "2"
    #expect(log.events == ["view Eve", "name", "name", "address.zip"])
  }
}
