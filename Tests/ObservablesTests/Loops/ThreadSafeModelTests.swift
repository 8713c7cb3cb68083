import Foundation
import Observables
import TestSupport
import Testing

/// T8: models that several threads use, watched by a loop.
struct ThreadSafeModelTests {
  private let loop = Loop()
  private let tally = Tally()

  /// Runs `body` on another thread, and waits for its end.
  private func elsewhere(_ body: @escaping @Sendable () -> Void) {
    let done = DispatchSemaphore(value: 0)
    Thread {
      body()
      done.signal()
    }.start()
    done.wait()
  }

  @Test func `eight threads write, and every last value is delivered on the loop's thread`() throws
  {
    // The loop owns its watchers, which stop it.
    unowned let loop = self.loop
    let writes = Size.of(100_000, light: 5_000)
    let tallies = (0..<8).map { _ in Tally() }
    let here = pthread_self()
    var last = [Int](repeating: 0, count: 8)
    var (total, isHere) = (0, true)
    loop.retain()
    func check() {
      isHere = isHere && pthread_equal(here, pthread_self()) != 0
      if total == 8 * writes, last.allSatisfy({ $0 == writes }) { loop.stop() }
    }
    try tally.observe("count", in: loop) {
      total = $0.count
      check()
    }
    for (index, tally) in tallies.enumerated() {
      try tally.observe("count", in: loop) {
        last[index] = $0.count
        check()
      }
    }
    for own in tallies {
      Thread { [tally] in
        for number in 1...writes {
          tally.increment()
          own.count = number
        }
      }.start()
    }
    loop.run()
    #expect(total == 8 * writes && last == [Int](repeating: writes, count: 8))
    #expect(isHere)
    #expect(loop.statistics.calls <= 9 * loop.statistics.turns)
  }

  @Test func `a write on the loop's own thread belongs to the current turn`() throws {
    var counts: [Int] = []
    var changes: [String] = []
    try tally.observe("count", in: loop) { counts.append($0.count) }
    try tally.observeImmediately("count", in: loop) { _, change in
      changes.append("\(change.old ?? "nil") → \(change.new ?? "nil")")
    }
    loop.turn {
      tally.count = 1
      tally.count = 2
    }
    #expect(counts == [2])
    #expect(changes == ["0 → 1", "1 → 2"])
  }

  @Test func `writes elsewhere that arrive together are one call, without values`()
    throws
  {
    var counts: [Int] = []
    var changes: [String] = []
    try tally.observe("count", in: loop) { counts.append($0.count) }
    try tally.observeImmediately("*", in: loop) { _, change in
      changes.append("\(change.key) \(change.old ?? "nil")")
    }
    elsewhere { [tally] in
      tally.count = 1
      tally.count = 2
      tally.name = "Ann"
      tally.count = 3
    }
    #expect(counts == [])
    loop.step()
    #expect(counts == [3])
    #expect(changes == ["count nil", "name nil"])
  }

  // T5
  @Test func `writing the same value on another thread wakes no loop`() throws {
    tally.count = 1
    var calls = 0
    try tally.observe("count", in: loop) { _ in calls += 1 }
    elsewhere { [tally] in
      tally.count = 1
      tally.name = ""
    }
    #expect(!loop.isAlive)
    loop.step()
    #expect(calls == 0)
  }

  // P6
  @Test func `paths follow objects that other threads replace`() throws {
    var counts: [Int?] = []
    try tally.observe("next.count", in: loop) { counts.append($0.next?.count) }
    let (first, second) = (Tally(), Tally())
    elsewhere { [tally] in tally.next = first }
    loop.step()
    elsewhere { first.count = 1 }
    loop.step()
    elsewhere { [tally] in tally.next = second }
    loop.step()
    elsewhere {
      first.count = 2
      second.count = 7
    }
    loop.step()
    #expect(counts == [0, 1, 0, 7])
  }

  // Z2
  @Test func `properties computed from a thread-safe model are computed again`() throws {
    var values: [Int] = []
    try tally.observe("doubled", in: loop) { values.append($0.doubled) }
    elsewhere { [tally] in tally.count = 4 }
    loop.step()
    #expect(values == [8])
  }

  // L2
  @Test func `a model released right after a write elsewhere has called its watchers`() throws {
    let probe = SharedProbe()
    var tally: Tally? = Tally(probe: probe)
    var counts: [Int] = []
    try tally!.observe("count", in: loop) { counts.append($0.count) }
    let box = Shared(tally)
    tally = nil
    elsewhere {
      box.withLock {
        $0!.count = 5
        $0 = nil
      }
    }
    #expect(probe.alive == 1)
    loop.step()
    #expect(counts == [5])
    loop.step()
    #expect(probe.alive == 0 && loop.statistics.watchers == 0)
  }

  // L3
  @Test func `a model released elsewhere ends its watchers in a turn of the loop`() throws {
    var ended: [String] = []
    let here = pthread_self()
    var tally: Tally? = Tally()
    try tally!.observe(
      "count", in: loop,
      options: WatcherOptions(onEnd: { path in
        ended.append("\(path) \(pthread_equal(here, pthread_self()) != 0)")
      })
    ) { _ in }
    let box = Shared(tally)
    tally = nil
    elsewhere { box.withLock { $0 = nil } }
    #expect(ended == [])
    while loop.step() {}
    #expect(ended == ["count true"] && loop.statistics.watchers == 0)
  }

  // L4
  @Test func `a path through a model released elsewhere changes to nil`() throws {
    final class Holder: ObservableModel {
      static let properties = ModelProperties(for: Holder.self) {
        Property("tally", get: { $0.tally }, set: { $0.tally = $1 })
      }
      let observation = ModelObservation()
      weak var tally: Tally? {
        didSet { observation.didSet(0, from: oldValue, to: tally) }
      }
    }
    let holder = Holder()
    var tally: Tally? = Tally()
    holder.tally = tally
    var counts: [Int?] = []
    try holder.observe("tally.count", in: loop) { counts.append($0.tally?.count) }
    let box = Shared(tally)
    tally = nil
    loop.step()
    elsewhere { box.withLock { $0 = nil } }
    while loop.step() {}
    #expect(counts == [nil])
  }

  @Test func `many threads may make, watch, write and drop models at once`() {
    let probe = SharedProbe()
    let threads = (0..<4).map { _ in LoopThread { _ in } }
    let done = DispatchSemaphore(value: 0)
    for round in 0..<8 {
      Thread {
        for number in 0..<Size.of(500, light: 50) {
          let tally = Tally(probe: probe)
          let watcher = tally.observe("count", on: threads[(round + number) % 4].inbox) { _ in }
          tally.observe("name", on: threads[number % 4].inbox, initial: true) { $0.increment() }
          tally.count = number
          if number % 2 == 0 { watcher.stop() }
          tally.name = "\(number)"
        }
        done.signal()
      }.start()
    }
    for _ in 0..<8 { done.wait() }
    for thread in threads {
      // Messages come in order: this handles all messages posted before, and messages that those
      // cause.
      for _ in 0..<4 {
        let idle = DispatchSemaphore(value: 0)
        thread.inbox.post { idle.signal() }
        idle.wait()
      }
    }
    for thread in threads { thread.stop() }
    #expect(probe.alive == 0)
  }
}

/// T7, T8: watchers that other threads register and stop.
struct SharedWatcherTests {
  private let loop = Loop()
  private let tally = Tally()

  @Test func `any thread may register, and the loop calls from the next turn on`() {
    let counts = Shared([Int]())
    let watcher = Shared(SharedWatcher?.none)
    Thread { [tally, inbox = loop.inbox] in
      let made = tally.observe("count", on: inbox, initial: true) { tally in
        counts.withLock { $0.append(tally.count) }
      }
      watcher.withLock { $0 = made }
      inbox.post { tally.count = 3 }
    }.start()
    while counts.withLock({ $0.last != 3 }) { loop.step() }
    watcher.withLock { $0 }?.stop()
    tally.count = 4
    loop.step()
    #expect(counts.withLock { $0 } == [0, 3])
    #expect(loop.statistics.watchers == 0)
  }

  // T7
  @Test func `a stopped watcher is never called, even for a pending call`() {
    let calls = Shared(0)
    let watcher = tally.observe("count", on: loop.inbox) { _ in calls.withLock { $0 += 1 } }
    loop.step()
    loop.turn {
      tally.count = 1
      watcher.stop()
    }
    #expect(calls.withLock { $0 } == 0)
    watcher.stop()
    while loop.step() {}
    #expect(loop.statistics.watchers == 0)
  }

  @Test func `a watcher stopped before the loop has received it never begins`() {
    let watcher = tally.observe("count", on: loop.inbox, initial: true) { _ in
      Issue.record("called")
    }
    watcher.stop()
    while loop.step() {}
    #expect(loop.statistics.watchers == 0)
  }

  // P9
  @Test func `a misspelt name is reported to the loop`() {
    var errors: [String] = []
    loop.onError = { errors.append("\($0)") }
    tally.observe("cuont", on: loop.inbox) { _ in }
    loop.step()
    #expect(errors.count == 1 && errors[0].contains("did you mean 'count'?"))
  }

  // L3
  @Test func `a watcher may have several paths, an observer, and be immediate`() {
    final class View: Sendable {}
    let log = Shared<[String]>([])
    var view: View? = View()
    tally.observe("count", "name", on: loop.inbox) { _ in log.withLock { $0.append("both") } }
    tally.observe("count", on: loop.inbox, observer: view!) { _ in
      log.withLock { $0.append("count") }
    }
    tally.observe("count", "name", on: loop.inbox, observer: view!) { _ in
      log.withLock { $0.append("view") }
    }
    tally.observeImmediately("name", on: loop.inbox) { _, change in
      log.withLock { $0.append("now \(change.key)") }
    }
    tally.observeImmediately("count", "name", on: loop.inbox) { _, change in
      log.withLock { $0.append("any \(change.key)") }
    }
    tally.observeImmediately("count", on: loop.inbox, observer: view!) { _, change in
      log.withLock { $0.append("view \(change.key)") }
    }
    tally.observeImmediately("name", on: loop.inbox, observer: view!) { _, change in
      log.withLock { $0.append("view \(change.key)") }
    }
    loop.step()
    loop.turn {
      tally.count = 1
      tally.name = "b"
    }
    #expect(
      log.withLock { $0 } == [
        "any count", "view count", "now name", "any name", "view name", "both", "count", "view",
      ])
    view = nil
    log.withLock { $0 = [] }
    loop.turn {
      tally.count = 2
      tally.name = "c"
    }
    #expect(log.withLock { $0 } == ["any count", "now name", "any name", "both"])
    while loop.step() {}
    #expect(loop.statistics.watchers == 3)
  }

  @Test func `an observer gone before the loop has received it registers nothing`() {
    final class View: Sendable {}
    tally.observe("count", on: loop.inbox, observer: View()) { _ in Issue.record("called") }
    loop.step()
    #expect(loop.statistics.watchers == 0)
  }
}
