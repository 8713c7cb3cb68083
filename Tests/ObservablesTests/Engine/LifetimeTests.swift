import LibC
import Observables
import TestSupport
import Testing

/// L1–L5: ownership, and the ends of watchers.
struct LifetimeTests {
  private let loop = Loop()
  private let log = Log()
  private let probe = LifetimeProbe()

  @discardableResult
  private func watch(_ person: Person, _ path: Path, _ name: String = "w") throws -> Watcher {
    try person.observe(path, in: loop) { [log] _ in log.note(name) }
  }

  // L1
  @Test func `dropping the handle changes nothing`() throws {
    let person = Person()
    _ = try watch(person, "name")
    person.name = "x"
    loop.endTurn()
    #expect(log.events == ["w"])
  }

  // L1
  @Test func `keeping the handle keeps nothing alive`() throws {
    var person: Person? = Person(probe: probe)
    let watcher = try watch(person!, "name")
    person = nil
    #expect(probe.alive == 0)
    #expect(!watcher.isActive)
  }

  // L1
  @Test func `objects captured by a callback are released with the observed object`() throws {
    var person: Person? = Person(probe: probe)
    let captured = Person(probe: probe)
    try person!.observe("name", in: loop) { [captured] _ in captured.age += 1 }
    _ = consume captured
    #expect(probe.alive == 2)
    person = nil
    #expect(probe.alive == 0)
  }

  // L1
  @Test func `objects captured by a callback are released when the watcher is stopped`() throws {
    let person = Person(probe: probe)
    let watcher = try { [probe] in
      let captured = Person(probe: probe)
      return try person.observe("name", in: loop) { _ in captured.age += 1 }
    }()
    #expect(probe.alive == 2)
    watcher.stop()
    #expect(probe.alive == 1)
  }

  // L1, L5
  @Test func `a captured object may stop other watchers of the object when it is released`() throws
  {
    let person = Person()
    let others = Others()
    for _ in 1...3 {
      let last = Stopping(others)
      try person.observe("name", in: loop) { _ in _ = last }
      others.watchers.append(try watch(person, "name"))
    }
    // The first watcher releases the others when it ends: they are not counted.
    #expect(person.stopObserving() == 3)
    #expect(others.watchers.isEmpty)
    person.name = "x"
    loop.endTurn()
    #expect(log.events == [])
  }

  // L1, L5
  @Test func `a watcher made while the only one ends is not stopped in its place`() throws {
    let person = Person()
    try {
      let last = Ending { [log, loop] in
        _ = try! person.observe("name", in: loop) { _ in log.note("new") }
      }
      try person.observe("name", in: loop) { _ in _ = last }
    }()
    #expect(person.stopObserving("name") == 1)
    person.name = "x"
    loop.endTurn()
    #expect(log.events == ["new"])
  }

  // L1
  @Test func `stopping a watcher that holds its own object ends both`() throws {
    let watcher = try { [probe, loop] in
      let person = Person(probe: probe)
      let options = WatcherOptions(observer: log)
      return try person.observe("name", "address.zip", in: loop, options: options) { _ in
        person.age += 1
      }
    }()
    #expect(probe.alive == 1)
    #expect(watcher.stop() == 2)
    #expect(probe.alive == 0)
    loop.endTurn()
    #expect(loop.statistics.observedObjects == 0)
  }

  // L2
  @Test func `a written object is kept alive until its watchers were called`() throws {
    var person: Person? = Person(probe: probe)
    try person!.observe("name", in: loop) { [log] in log.note($0.name) }
    person!.name = "Ann"
    person = nil
    #expect(probe.alive == 1)
    loop.endTurn()
    #expect(log.events == ["Ann"])
    #expect(probe.alive == 0)
  }

  // L2
  @Test func `a stopped pending watcher releases its object`() throws {
    var person: Person? = Person(probe: probe)
    let watcher = try watch(person!, "name")
    person!.name = "Ann"
    person = nil
    watcher.stop()
    #expect(probe.alive == 0)
    loop.endTurn()
    #expect(log.events == [])
  }

  // L1
  @Test func `a paused watcher keeps nothing alive`() throws {
    var person: Person? = Person(probe: probe)
    let watcher = try watch(person!, "name")
    person!.name = "before"
    watcher.pause()
    person!.name = "after"
    person = nil
    loop.endTurn()
    #expect(probe.alive == 0)
    watcher.resume()
    loop.endTurn()
    #expect(log.events == [])
  }

  // L3
  @Test func `watchers end silently with their observer`() throws {
    let person = Person()
    var observer: Log? = Log()
    try person.observe("name", in: loop, options: WatcherOptions(observer: observer!)) { [log] _ in
      log.note("w")
    }
    observer = nil
    person.name = "x"
    loop.endTurn()
    #expect(log.events == [])
    #expect(loop.statistics.watchers == 0)
  }

  // L3
  @Test func `an observer that is released during a call lives until the call ends`() throws {
    let person = Person()
    var observer: Log? = Log()
    let options = WatcherOptions(observer: observer!)
    try person.observe("name", in: loop, options: options) { [log, unowned observer] _ in
      release()
      observer!.note("alive")
      log.note(observer!.events[0])
    }
    try person.observeImmediately("age", in: loop, options: options) {
      [log, unowned observer] _, _ in
      observer!.note("alive")
      log.note("at once \(observer!.events.count)")
    }
    func release() { observer = nil }
    person.age = 1
    person.name = "x"
    loop.endTurn()
    #expect(log.events == ["at once 1", "alive"])
    loop.turn { (person.age, person.name) = (2, "y") }
    #expect(log.events.count == 2)
  }

  /// Whether freed memory is used again soon: not under the sanitizers.
  private static let reusesMemory =
    dlsym(nil, "__asan_init") == nil && dlsym(nil, "__tsan_init") == nil

  // L3
  @Test(.enabled(if: reusesMemory))
  func `a loop that is dropped leaves no memory behind`() async {
    await #expect(processExitsWith: .success) {
      func useLoop() throws {
        let (loop, person) = (Loop(), Person())
        try person.observe("name", in: loop) { _ in }
        try person.observeImmediately("address.zip", in: loop) { _, _ in }
        loop.turn { (person.name, person.address) = ("x", Address("1")) }
      }
      /// The resident memory of the process, in pages.
      func pages() throws -> Int {
        let file = try #require(fopen("/proc/self/statm", "r"))
        defer { fclose(file) }
        var text = [CChar](repeating: 0, count: 100)
        let length = fread(&text, 1, 99, file)
        let fields = String(decoding: text.prefix(length).map(UInt8.init), as: UTF8.self)
          .split(separator: " ")
        return try #require(Int(fields[1]))
      }
      for _ in 0..<1000 { try useLoop() }
      let before = try pages()
      for _ in 0..<5000 { try useLoop() }
      // If a pool of records is not freed, it takes a page for each loop.
      let growth = try pages() - before
      exit(growth < 500 ? EXIT_SUCCESS : EXIT_FAILURE)
    }
  }

  // L3
  @Test func `the observer of a pending watcher dies before the flush`() throws {
    let person = Person()
    var observer: Log? = Log()
    try person.observe("name", in: loop, options: WatcherOptions(observer: observer!)) { [log] _ in
      log.note("w")
    }
    person.name = "x"
    observer = nil
    loop.endTurn()
    #expect(log.events == [])
    #expect(person.observedKeys == [])
  }

  // L3
  @Test func `keys are unobserved after the death of their observer`() throws {
    let person = Person()
    var observer: Log? = Log()
    try person.observe("name", in: loop, options: WatcherOptions(observer: observer!)) { _ in }
    #expect(person.observedKeys == ["name"])
    observer = nil
    #expect(person.observedKeys == [])
    #expect(person.observerCount(of: "name") == 0)
  }

  // L3
  @Test func `the end of the observed object calls on_end with the path in the next turn`() throws {
    var person: Person? = Person(address: Address())
    let options = WatcherOptions(onEnd: { [log] path in log.note("end \(path)") })
    try person!.observe("address.zip", in: loop, options: options) { [log] _ in log.note("w") }
    person = nil
    #expect(log.events == [])
    loop.step()
    #expect(log.events == ["end address.zip"])
  }

  // L3
  @Test func `a turn made by the program also calls on_end`() throws {
    var (person, friend): (Person?, Person?) = (Person(), Person())
    let options = WatcherOptions(onEnd: { [log] path in log.note("end \(path)") })
    try person!.observe("name", in: loop, options: options) { _ in }
    try friend!.observe("age", in: loop, options: options) { _ in }
    person = nil
    loop.turn {
      log.note("turn")
      friend = nil
    }
    #expect(log.take() == ["end name", "turn"])
    loop.turn { loop.turn { log.note("inner") } }
    #expect(log.take() == ["end age", "inner"])
    while loop.step() {}
    #expect(log.take() == [])
  }

  // L3
  @Test func `on_end is not called for a stopped watcher`() throws {
    let person = Person()
    let options = WatcherOptions(onEnd: { [log] path in log.note("end \(path)") })
    let watcher = try person.observe("name", in: loop, options: options) { _ in }
    watcher.stop()
    loop.step()
    #expect(log.events == [])
  }

  // L3
  @Test func `closing a loop ends everything and calls nothing`() throws {
    let person = Person()
    var inner: Loop? = Loop()
    let options = WatcherOptions(onEnd: { [log] path in log.note("end \(path)") })
    let watcher = try person.observe("name", in: inner, options: options) { _ in }
    inner = nil
    #expect(!watcher.isActive)
    #expect(log.events == [])
  }

  @Test func `an object of a closed loop may be observed by another`() throws {
    let person = Person()
    var inner: Loop? = Loop()
    try person.observe("name", in: inner) { _ in }
    person.name = "pending"
    inner = nil
    try watch(person, "name")
    person.name = "x"
    loop.endTurn()
    #expect(log.events == ["w"])
  }

  // L4
  @Test func `the death of a weakly held object in the middle is a change`() throws {
    let person = Person()
    var boss: Person? = Person("Eve")
    person.boss = boss
    try person.observe("boss.name", in: loop) { [log] in log.note($0.boss?.name ?? "nil") }
    boss = nil
    loop.endTurn()
    #expect(log.take() == ["nil"])
    person.boss = person
    loop.endTurn()
    #expect(log.take() == [person.name])
  }

  // L4
  @Test func `an immediate watcher is called in the flush for a death in the middle`() throws {
    let person = Person()
    var boss: Person? = Person("Eve")
    person.boss = boss
    try person.observeImmediately("boss.name", in: loop) { [log] _, change in
      log.note("\(change.path) \(change.new == nil)")
    }
    boss = nil
    loop.endTurn()
    #expect(log.events == ["boss.name true"])
  }

  // L4
  @Test func `a whole branch that dies in the middle of a flush is a change once`() throws {
    let person = Person()
    var boss: Person? = Person("Eve", address: Address("1"))
    person.boss = boss
    try person.observe("name", in: loop) { _ in boss = nil }
    try watch(person, "boss.address.zip")
    person.name = "x"
    loop.endTurn()
    #expect(log.events == ["w"])
  }

  // L3
  @Test func `objects may end in every order`() throws {
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 2, 0]] {
      var people: [Person?] = (0..<3).map { Person("\($0)", probe: probe) }
      people[0]!.boss = people[1]
      people[1]!.boss = people[2]
      try watch(people[0]!, "boss.boss.name", "\(order)")
      for index in order {
        people[index] = nil
        loop.endTurn()
      }
      #expect(probe.alive == 0)
      #expect(loop.statistics.watchers == 0)
      #expect(loop.statistics.observedObjects == 0)
    }
  }

  // T11, L1
  @Test func `dropping a captured object may flush, observe and stop`() throws {
    final class Trouble {
      let action: () -> Void
      init(_ action: @escaping () -> Void) { self.action = action }
      deinit { action() }
    }
    let person = Person()
    var other: Watcher?
    other = try watch(person, "name", "other")
    let watcher = try { [loop, log] in
      let trouble = Trouble {
        other?.stop()
        _ = try? person.observe("age", in: loop) { _ in log.note("new") }
        person.age += 1
        loop.flush()
        log.note("dropped")
      }
      return try person.observe("name", in: loop) { _ in _ = trouble }
    }()
    watcher.stop()
    loop.endTurn()
    #expect(log.events == ["new", "dropped"])
  }

  // P8, L1
  @Test func `rings of objects end when they are cut`() throws {
    var people = (0..<500).map { Person("\($0)", probe: probe) }
    for (index, person) in people.enumerated() { person.friend = people[(index + 1) % 500] }
    let names = Array(repeating: "friend", count: 750) + ["name"]
    for person in people { try watch(person, Path(names: names)) }
    people[3].name = "x"
    loop.endTurn()
    #expect(log.take().count == 1)
    people[3].friend = nil
    loop.endTurn()
    #expect(log.take().count == 500)
    people = []
    #expect(probe.alive == 0)
    #expect(loop.statistics.watchers == 0)
  }

  // T12
  @Test func `a path along twenty thousand objects is made, observed, cut and released`() throws {
    var people = (0..<20_000).map { Person("\($0)", probe: probe) }
    for (person, next) in zip(people, people.dropFirst()) { person.boss = next }
    let names = Array(repeating: "boss", count: 19_999) + ["name"]
    try watch(people[0], Path(names: names))
    people[19_999].name = "x"
    loop.endTurn()
    people[10_000].boss = nil
    loop.endTurn()
    people[10_000].boss = people[10_001]
    loop.endTurn()
    people[19_999].name = "y"
    loop.endTurn()
    #expect(log.take() == ["w", "w", "w", "w"])
    people.removeSubrange(1...)
    loop.endTurn()
    #expect(log.take() == ["w"])
    people = []
    #expect(probe.alive == 0)
    #expect(loop.statistics.observedObjects == 0)
  }

  // L5
  @Test func `a hundred thousand watchers of one key are registered and stopped`() throws {
    let person = Person()
    let total = Size.of(100_000, light: 5_000)
    var count = 0
    var watchers = try (0..<total).map { _ in
      try person.observe("name", in: loop) { _ in count += 1 }
    }
    person.name = "x"
    loop.endTurn()
    #expect(count == total)
    // An order that begins at neither end of the list.
    watchers = watchers.enumerated().sorted { $0.offset % 1_000 < $1.offset % 1_000 }.map(\.element)
    for watcher in watchers { watcher.stop() }
    loop.endTurn()
    #expect(person.observedKeys == [])
    #expect(loop.statistics.observedObjects == 0)
  }

  // P3
  @Test func `many watchers fan out over the same objects`() throws {
    let person = Person()
    person.friend = Person()
    person.boss = person.friend
    var count = 0
    for _ in 0..<20_000 { try person.observe("*.name", in: loop) { _ in count += 1 } }
    person.friend!.name = "x"
    loop.endTurn()
    #expect(count == 20_000)
    #expect(person.friend!.observerCount(of: "name") == 20_000)
  }

  @Test func `a million watchers registered and stopped leave nothing`() throws {
    let people = (0..<1_000).map { Person("\($0)") }
    var calls = 0
    for _ in 0..<Size.of(10, light: 2) {
      var watchers: [Watcher] = []
      for _ in 0..<Size.of(100, light: 10) {
        for person in people {
          watchers.append(try person.observe("age", in: loop) { _ in calls += 1 })
        }
      }
      for watcher in watchers { watcher.stop() }
      loop.endTurn()
    }
    #expect(loop.statistics.watchers == 0)
    #expect(loop.statistics.observedObjects == 0)
    for person in people { person.age = 1 }
    loop.endTurn()
    #expect(calls == 0)
  }

  // L1
  @Test func `a loop releases everything that was registered in it`() throws {
    weak var engine: Loop?
    do {
      let inner = Loop()
      engine = inner
      let person = Person(probe: probe)
      try person.observe("name", in: inner) { _ in }
      try person.observe("address.zip", in: inner) { _ in }
      person.name = "pending"
    }
    #expect(engine == nil)
    #expect(probe.alive == 0)
  }

  // L2
  @Test func `writes of a dying model keep nothing alive, and end its watchers`() throws {
    final class Owner: ObservableModel {
      static let properties = ModelProperties(for: Owner.self) {
        Property("person", get: { $0.person }, set: { $0.person = $1 })
        Property("count", get: { $0.count }, set: { $0.count = $1 })
      }
      // It is deallocated before the observation.
      var person: Person? { didSet { observation.didSet(0, from: oldValue, to: person) } }
      var count = 0 { didSet { observation.didSet(1, from: oldValue, to: count) } }
      let observation = ModelObservation()
      private let probe: LifetimeProbe
      init(_ probe: LifetimeProbe) {
        self.probe = probe
        probe.born()
      }
      func close() {
        count += 1
        person?.name = "gone"
        person = nil
      }
      deinit {
        close()
        probe.died()
      }
    }
    for isReferredToWeakly in [false, true] {
      let probe = LifetimeProbe()
      var owner: Owner? = Owner(probe)
      weak let weakOwner = isReferredToWeakly ? owner : nil
      owner!.person = Person("Ann", probe: probe)
      var (names, ends, immediate): ([String?], Int, Int) = ([], 0, 0)
      let options = WatcherOptions(onEnd: { _ in ends += 1 })
      try owner!.observe("person.name", in: loop, options: options) {
        names.append($0.person?.name)
      }
      try owner!.observe("count", in: loop, options: options) { _ in names.append("count") }
      try owner!.observeImmediately("count", in: loop, options: options) { _, _ in immediate += 1 }
      loop.turn { owner = nil }
      #expect(weakOwner == nil && probe.alive == 0)
      loop.step()
      #expect(names == [] && ends == 3 && immediate == 1)
      #expect(loop.statistics.watchers == 0 && loop.statistics.observedObjects == 0)
    }
  }
}

/// Watchers that are stopped when an object that refers to this one is deallocated.
private final class Others {
  var watchers: [Watcher] = []
}

private final class Ending {
  private let body: () -> Void
  init(_ body: @escaping () -> Void) { self.body = body }
  deinit { body() }
}

private final class Stopping {
  private let others: Others
  init(_ others: Others) { self.others = others }

  deinit {
    let watchers = others.watchers
    others.watchers = []
    for watcher in watchers { watcher.stop() }
  }
}
