import Foundation
import Observables
import Testing

/// T13: loops that get their turns from a driver.
struct DrivenLoopTests {
  /// A driver that records requests for turns, with the work to do.
  private final class Queue: Sendable {
    private let works = Shared([(seconds: Double, work: @Sendable () -> Void)]())
    var driver: LoopDriver {
      LoopDriver { [works] seconds, work in works.withLock { $0.append((seconds, work)) } }
    }
    var asked: [Double] { works.withLock { $0.map(\.seconds) } }
    /// Does the requested work once, and returns the number of requests.
    @discardableResult
    func run() -> Int {
      let due = works.withLock { works in
        defer { works = [] }
        return works.map(\.work)
      }
      for work in due { work() }
      return due.count
    }
  }

  private let queue = Queue()
  private let person = Person("Ann")

  @Test func `the first write asks for a turn, further ones belong to it`() throws {
    let loop = Loop(driver: queue.driver)
    var names: [String] = []
    try person.observe("name", in: loop) { names.append($0.name) }
    try person.observe("age", in: loop) { names.append("\($0.age)") }
    #expect(queue.asked == [])
    person.name = "Eve"
    person.age = 3
    person.name = "Bob"
    #expect(queue.asked == [0] && names == [])
    queue.run()
    #expect(names == ["Bob", "3"])
    #expect(queue.run() == 0)
    person.age = 4
    #expect(queue.asked == [0])
  }

  // T4
  @Test func `triggered calls come in the same turn, or in one that they ask for`() throws {
    let loop = Loop(driver: queue.driver)
    var ages: [Int] = []
    try person.observe("age", in: loop) { person in
      ages.append(person.age)
      if person.age < 3 { person.age += 1 }
    }
    person.age = 1
    while queue.run() > 0 {}
    #expect(ages == [1, 2, 3])
  }

  // T8
  @Test func `messages ask once, on any thread`() {
    let loop = Loop(driver: queue.driver)
    let (done, log) = (DispatchSemaphore(value: 0), Shared([Int]()))
    Thread { [inbox = loop.inbox] in
      for number in 0..<3 { inbox.post { log.withLock { $0.append(number) } } }
      done.signal()
    }.start()
    done.wait()
    #expect(queue.asked == [0])
    queue.run()
    #expect(log.withLock { $0 } == [0, 1, 2])
    withExtendedLifetime(loop) {}
  }

  @Test func `a timer asks for its time, an earlier one once more`() {
    let loop = Loop(driver: queue.driver)
    loop.after(60) {}
    loop.after(90) {}
    loop.after(30) {}
    #expect(queue.asked.map { ($0 / 30).rounded() } == [2, 1])
    var calls = 0
    loop.after(0) { calls += 1 }
    queue.run()
    #expect(calls == 1)
  }

  @Test func `work inside a callback waits for the end of the callback`() throws {
    let loop = Loop(driver: queue.driver)
    var events: [String] = []
    try person.observe("name", in: loop) { [queue] person in
      events.append("begin")
      person.age += 1
      queue.run()
      events.append("end")
    }
    loop.inbox.post {}
    try person.observe("age", in: loop) { _ in events.append("age") }
    person.name = "Eve"
    while queue.run() > 0 {}
    #expect(events == ["begin", "end", "age"])
  }

  @Test func `a deallocated loop gets no turns`() {
    var loop: Loop? = Loop(driver: queue.driver)
    loop!.after(0) { Issue.record("called") }
    loop = nil
    queue.run()
    #expect(queue.asked == [])
  }
}

/// T13: the loop on the main queue.
@MainActor
struct MainQueueTests {
  @Test func `the turn of a write ends with an item of the queue`() async throws {
    let person = Person("Ann")
    var calls = 0
    await withCheckedContinuation { continuation in
      try! person.observe("name", in: .main) { person in
        MainActor.assumeIsolated {
          calls += 1
          #expect(person.name == "Bob")
          continuation.resume()
        }
      }
      person.name = "Eve"
      person.name = "Bob"
      #expect(calls == 0)
    }
    #expect(calls == 1)
    person.stopObserving()
  }

  @Test func `timers and messages from other threads are items, too`() async {
    let inbox = Loop.main.inbox
    await withCheckedContinuation { continuation in
      Thread {
        inbox.post { MainActor.assumeIsolated { continuation.resume() } }
      }.start()
    }
    await withCheckedContinuation { continuation in
      _ = Loop.main.after(0.001) { MainActor.assumeIsolated { continuation.resume() } }
    }
    #expect(Loop.main === Loop.current)
  }

  // T8
  @Test func `writes on other threads wake the loop`() async {
    let tally = Tally()
    await withCheckedContinuation { continuation in
      let watcher = Shared(SharedWatcher?.none)
      let made = tally.observe("count", on: Loop.main.inbox, initial: true) { tally in
        if tally.count == 100, let watcher = watcher.withLock({ $0.take() }) {
          watcher.stop()
          continuation.resume()
        }
      }
      watcher.withLock { $0 = made }
      Thread { for _ in 0..<100 { tally.increment() } }.start()
    }
    #expect(tally.count == 100)
    // Items left in the queue at the end of the process would leak.
    await withCheckedContinuation { continuation in
      Loop.main.inbox.post { continuation.resume() }
    }
  }
}
