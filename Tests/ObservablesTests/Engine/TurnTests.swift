import Observables
import TestSupport
import Testing

/// T1–T7, T11, T12: the calls of a turn, their number and their order.
struct TurnTests {
  private let loop = Loop()
  private let log = Log()

  @discardableResult
  private func watch(
    _ person: Person, _ path: Path, _ name: String,
    _ options: WatcherOptions = WatcherOptions(), then body: @escaping () throws -> Void = {}
  ) throws -> Watcher {
    try person.observe(path, in: loop, options: options) { [log] _ in
      log.note(name)
      do { try body() } catch { log.note("\(error)") }
    }
  }

  // T1
  @Test func `a watcher is called once however many of its paths changed`() throws {
    let person = Person()
    try person.observe("name", "age", in: loop) { [log] person in
      log.note("\(person.name) \(person.age)")
    }
    person.name = "Ann"
    person.age = 1
    person.age = 2
    loop.endTurn()
    #expect(log.events == ["Ann 2"])
  }

  // T1
  @Test func `nothing is called before the turn ends`() throws {
    let person = Person()
    try watch(person, "name", "w")
    loop.turn {
      person.name = "x"
      #expect(log.events == [])
    }
    #expect(log.events == ["w"])
  }

  // T2
  @Test func `two registrations of one function are two calls`() throws {
    let person = Person()
    let body: (Person) -> Void = { [log] _ in log.note("w") }
    try person.observe("name", in: loop, body)
    try person.observe("name", in: loop, body)
    person.name = "x"
    loop.endTurn()
    #expect(log.events == ["w", "w"])
  }

  // T2
  @Test func `the callback receives the observed object, and the observer exists`() throws {
    let (person, observer) = (Person("Ann"), Person("Bob"))
    try person.observe("age", in: loop, options: WatcherOptions(observer: observer)) {
      [log, unowned observer] person in
      log.note("\(person.name) \(observer.name)")
    }
    person.age = 1
    loop.endTurn()
    #expect(log.events == ["Ann Bob"])
  }

  // T3
  @Test func `the earliest registered watcher is called first, in any order of writes`() throws {
    let (a, b) = (Person(), Person())
    try watch(a, "name", "1")
    try watch(b, "name", "2")
    try watch(a, "age", "3")
    a.age = 1
    b.name = "x"
    a.name = "x"
    loop.endTurn()
    #expect(log.events == ["1", "2", "3"])
  }

  // T3, T4
  @Test func `triggered watchers run in the same flush, in order of registration`() throws {
    let person = Person()
    try watch(person, "name", "1") { person.age = 1 }
    try watch(person, "score", "2")
    try watch(person, "age", "3")
    try watch(person, "address", "4")
    person.address = Address()
    person.name = "x"
    #expect(loop.flush() == 3)
    #expect(log.events == ["1", "3", "4"])
  }

  // T4
  @Test func `an earlier watcher that did not run yet is called in the same flush`() throws {
    let person = Person()
    try watch(person, "age", "1")
    try watch(person, "name", "2") { person.age = 1 }
    try watch(person, "name", "3")
    person.name = "x"
    loop.flush()
    #expect(log.events == ["2", "1", "3"])
  }

  // T4
  @Test func `a watcher that has run waits for the next flush, which is the next turn`() throws {
    let person = Person()
    try watch(person, "age", "age") { if person.age < 3 { person.age += 1 } }
    person.age = 1
    loop.flush()
    #expect(log.take() == ["age"])
    #expect(loop.statistics.pending == 1)
    loop.endTurn()
    #expect(log.take() == ["age", "age"])
    #expect(loop.statistics.pending == 0)
  }

  // T4
  @Test func `two watchers that trigger each other settle without recursion`() throws {
    let person = Person()
    try watch(person, "age", "age") { person.score = Double(person.age) }
    try watch(person, "score", "score") { person.age = min(5, Int(person.score) + 1) }
    person.age = 1
    loop.endTurn()
    #expect(person.age == 5)
    #expect(
      log.events == [
        "age", "score", "age", "score", "age", "score", "age", "score", "age", "score",
      ]
    )
  }

  // T4
  @Test func `after a thousand turns of re-triggering the calls are dropped and named`() throws {
    let person = Person()
    var errors: [String] = []
    loop.onError = { errors.append("\($0)") }
    var count = 0
    let options = WatcherOptions(name: "endless")
    try person.observe("age", in: loop, options: options) { person in
      count += 1
      person.age += 1
    }
    try watch(person, "name", "other")
    person.age = 1
    loop.endTurn()
    #expect(count == 1_000)
    #expect(
      errors == [
        """
        after 1000 turns in which watchers did nothing but trigger themselves or each other, \
        these calls were dropped: endless
        """
      ])
    person.name = "x"
    loop.endTurn()
    #expect(log.events == ["other"])
  }

  // T4
  @Test func `a watcher whose calls were dropped is called for the next change`() throws {
    let person = Person()
    loop.onError = { [log] _ in log.note("error") }
    var isEndless = true
    try watch(person, "age", "w") { if isEndless { person.age += 1 } }
    person.age = 1
    loop.endTurn()
    isEndless = false
    #expect(log.take().last == "error")
    person.age = -1
    loop.endTurn()
    #expect(log.events == ["w"])
  }

  // T5
  @Test func `writing the same value delivers nothing`() throws {
    let person = Person("Ann", address: Address())
    try watch(person, "name", "w")
    try watch(person, "address", "w")
    person.name = "Ann"
    let address = person.address
    person.address = address
    loop.endTurn()
    #expect(log.events == [])
  }

  // T5
  @Test func `NaN equals NaN`() throws {
    let person = Person()
    try watch(person, "score", "w")
    person.score = .nan
    loop.endTurn()
    person.score = -.nan
    loop.endTurn()
    #expect(log.events == ["w"])
  }

  // T5
  @Test func `a change that is reverted within a turn delivers once`() throws {
    let person = Person("A")
    try watch(person, "name", "w")
    person.name = "B"
    person.name = "A"
    loop.endTurn()
    #expect(log.events == ["w"])
  }

  // T6
  @Test func `the callback reads the latest state`() throws {
    let person = Person()
    try person.observe("name", in: loop) { [log] in log.note($0.name) }
    for name in ["a", "b", "c"] { person.name = name }
    loop.endTurn()
    #expect(log.events == ["c"])
  }

  // T7
  @Test func `a stopped watcher gets no pending calls`() throws {
    let person = Person()
    let watcher = try watch(person, "name", "w")
    person.name = "x"
    #expect(watcher.stop() == 1)
    loop.endTurn()
    #expect(log.events == [])
    #expect(!watcher.isActive)
  }

  // T7
  @Test func `a watcher stopped by an earlier one is not called in the current flush`() throws {
    let person = Person()
    var second: Watcher?
    try watch(person, "name", "1") { second?.stop() }
    second = try watch(person, "name", "2")
    try watch(person, "name", "3")
    person.name = "x"
    loop.endTurn()
    #expect(log.events == ["1", "3"])
  }

  // T7, T11
  @Test func `a watcher may stop itself`() throws {
    let person = Person()
    var watcher: Watcher?
    watcher = try watch(person, "name", "w") { watcher?.stop() }
    person.name = "x"
    loop.endTurn()
    person.name = "y"
    loop.endTurn()
    #expect(log.events == ["w"])
  }

  // T7, T11
  @Test func `a watcher may stop itself, and its own writes do not call it again`() throws {
    let person = Person()
    var watcher: Watcher?
    watcher = try watch(person, "name", "w") {
      person.name += "x"
      watcher?.stop()
      person.name += "y"
    }
    person.name = "x"
    loop.endTurn()
    #expect(log.events == ["w"])
    #expect(loop.statistics.watchers == 0)
  }

  // T11
  @Test func `a watcher added during a flush is called from the next change on`() throws {
    let person = Person()
    try watch(person, "name", "1") { [unowned person] in
      try person.observe("name", in: loop) { [log] _ in log.note("new") }
    }
    person.name = "x"
    loop.endTurn()
    #expect(log.take() == ["1"])
    person.name = "y"
    loop.endTurn()
    #expect(log.take() == ["1", "new"])
  }

  // T11
  @Test func `a watcher added during a flush is called for later writes in it`() throws {
    let person = Person()
    try watch(person, "name", "1") { [unowned person] in
      try person.observe("age", in: loop) { [log] _ in log.note("new") }
      person.age += 1
    }
    person.name = "x"
    loop.flush()
    #expect(log.events == ["1", "new"])
  }

  // T11
  @Test func `the observed object may lose its last reference in its own callback`() throws {
    var person: Person? = Person()
    try watch(person!, "name", "w") { person = nil }
    person!.name = "x"
    loop.endTurn()
    #expect(log.events == ["w"])
    #expect(loop.statistics.watchers == 0)
  }

  // T12
  @Test func `a flush inside a watcher traps with a sentence`() async {
    await #expect(processExitsWith: .failure) {
      let loop = Loop()
      let person = Person()
      try person.observe("name", in: loop) { _ in loop.flush() }
      person.name = "x"
      loop.endTurn()
    }
  }

  // T12
  @Test func `a flush inside a batch traps with a sentence`() async {
    await #expect(processExitsWith: .failure) {
      let loop = Loop()
      loop.batch { _ = loop.flush() }
    }
  }

  // L5, T1
  @Test func `a stop by path ends both registrations of it and nothing else`() throws {
    let person = Person()
    try watch(person, "name", "1")
    try watch(person, "name", "2")
    try watch(person, "age", "3")
    #expect(person.stopObserving("name") == 2)
    #expect(person.stopObserving("name") == 0)
    person.name = "x"
    person.age = 1
    loop.endTurn()
    #expect(log.events == ["3"])
  }

  // L5
  @Test func `a stop by path removes only that path from a watcher with others`() throws {
    let person = Person()
    let watcher = try watch(person, "name", "w")
    try watcher.observe("age")
    #expect(person.stopObserving("name") == 1)
    #expect(watcher.isActive)
    person.name = "x"
    loop.endTurn()
    #expect(log.take() == [])
    person.age = 1
    loop.endTurn()
    #expect(log.take() == ["w"])
    #expect(person.stopObserving("age") == 1)
    #expect(!watcher.isActive)
  }

  // L5
  @Test func `stopping twice is harmless`() throws {
    let watcher = try watch(Person(), "name", "w")
    watcher.stop()
    #expect(watcher.stop() == 0)
  }

  // L5
  @Test func `stop by observer ends that observer's watchers`() throws {
    let (person, a, b) = (Person(), Log(), Log())
    try person.observe("name", "age", in: loop, options: WatcherOptions(observer: a)) {
      [unowned a] _ in a.note("a")
    }
    try person.observe("name", in: loop, options: WatcherOptions(observer: b)) { [unowned b] _ in
      b.note("b")
    }
    #expect(person.stopObserving(observer: a) == 2)
    person.name = "x"
    loop.endTurn()
    #expect(a.events == [])
    #expect(b.events == ["b"])
  }

  @Test func `an initial call comes in the turn of registration, once with the changes`() throws {
    let person = Person()
    try watch(person, "name", "w", WatcherOptions(initial: true))
    person.name = "x"
    loop.endTurn()
    loop.endTurn()
    #expect(log.events == ["w"])
  }

  @Test func `once ends the watcher after its first call`() throws {
    let person = Person()
    let watcher = try watch(person, "name", "w", WatcherOptions(once: true))
    loop.endTurn()
    #expect(watcher.isActive)
    person.name = "x"
    loop.endTurn()
    person.name = "y"
    loop.endTurn()
    #expect(log.events == ["w"])
    #expect(!watcher.isActive)
  }

  @Test func `changes while paused are one call after resume`() throws {
    let person = Person()
    let watcher = try watch(person, "name", "w")
    watcher.pause()
    person.name = "x"
    loop.endTurn()
    person.name = "y"
    loop.endTurn()
    #expect(log.take() == [])
    watcher.resume()
    loop.endTurn()
    #expect(log.take() == ["w"])
    person.name = "z"
    loop.endTurn()
    #expect(log.take() == ["w"])
  }

  @Test func `pausing holds a pending call back until resume`() throws {
    let person = Person()
    let watcher = try watch(person, "name", "w")
    person.name = "x"
    watcher.pause()
    loop.endTurn()
    #expect(log.take() == [])
    watcher.resume()
    watcher.resume()
    loop.endTurn()
    #expect(log.take() == ["w"])
  }

  @Test func `a paused watcher follows replaced objects when it resumes`() throws {
    let person = Person(address: Address("1"))
    let old = person.address!
    let watcher = try watch(person, "address.zip", "w")
    watcher.pause()
    person.address = Address("2")
    loop.endTurn()
    watcher.resume()
    loop.endTurn()
    #expect(log.take() == ["w"])
    old.zip = "silent"
    loop.endTurn()
    #expect(log.take() == [])
    person.address!.zip = "heard"
    loop.endTurn()
    #expect(log.take() == ["w"])
  }

  @Test func `run calls now, and schedule in this turn's flush`() throws {
    let person = Person()
    let watcher = try watch(person, "name", "w")
    watcher.run()
    #expect(log.take() == ["w"])
    watcher.schedule()
    watcher.schedule()
    #expect(log.take() == [])
    loop.endTurn()
    #expect(log.take() == ["w"])
  }

  @Test func `a run that writes the watched value is called again in the flush`() throws {
    let person = Person()
    let watcher = try watch(person, "age", "w") { if person.age < 1 { person.age += 1 } }
    watcher.run()
    #expect(log.take() == ["w"])
    loop.endTurn()
    #expect(log.take() == ["w"])
    loop.endTurn()
    #expect(log.take() == [])
  }

  // T5
  @Test func `equals replaces the comparison for its watcher alone`() throws {
    let person = Person()
    let near = WatcherOptions(equals: { abs(($0 as! Double) - ($1 as! Double)) < 1 })
    try watch(person, "score", "near", near)
    try watch(person, "score", "any")
    person.score = 0.5
    loop.endTurn()
    #expect(log.take() == ["any"])
    person.score = 3
    loop.endTurn()
    #expect(log.take() == ["near", "any"])
  }

  // T5, C9
  @Test func `equals compares operators and sizes with the value delivered last`() throws {
    let numbers = ObservableArray([1, 2])
    var asked: [String] = []
    for path: Path in ["@sum", "count"] {
      let options = WatcherOptions(equals: { old, new in
        asked.append("\(old!)>\(new!)")
        return (new as! Int) - (old as! Int) < 3
      })
      try numbers.observe(path, in: loop, options: options) { [log] _ in log.note("\(path)") }
    }
    for number in 3...5 {
      numbers.append(number - 2)
      loop.endTurn()
    }
    #expect(asked == ["3>4", "2>3", "3>6", "2>4", "6>9", "2>5"])
    #expect(log.take() == ["@sum", "@sum", "count"])
  }

  // T5
  @Test func `equals that is never true delivers even the same value`() throws {
    let person = Person("Ann")
    try watch(person, "name", "w", WatcherOptions(equals: { _, _ in false }))
    person.name = "Ann"
    loop.endTurn()
    #expect(log.events == ["w"])
  }

  // P6
  @Test func `a replacement that equals calls the same still moves the wiring`() throws {
    let person = Person(address: Address("1"))
    let old = person.address!
    let options = WatcherOptions(equals: { old, new in new is Address })
    try watch(person, "address.zip", "w", options)
    person.address = Address("2")
    loop.endTurn()
    #expect(log.take() == [])
    old.zip = "silent"
    loop.endTurn()
    #expect(log.take() == [])
    person.address!.zip = "heard"
    loop.endTurn()
    #expect(log.take() == ["w"])
  }

  // W1
  @Test func `statistics count the events`() throws {
    let person = Person()
    try watch(person, "name", "w")
    person.name = "x"
    #expect(loop.statistics.pending == 1)
    loop.endTurn()
    let statistics = loop.statistics
    #expect(statistics.watchers == 1)
    #expect(statistics.observedObjects == 1)
    #expect(statistics.calls == 1)
    #expect(statistics.turns == 1)
    #expect(statistics.errors == 0)
  }
}
