import Foundation
import Observables
import Synchronization
import Testing

/// Counts calls on any thread.
private final class Calls: Sendable {
  private let count = Atomic(0)
  func add() { count.add(1, ordering: .sequentiallyConsistent) }
  var value: Int { count.load(ordering: .sequentiallyConsistent) }
}

/// T7: watchers that any thread holds and stops.
@Suite(.timeLimit(.minutes(30))) struct WatcherThreadTests {
  /// A loop thread with a person, which only its messages use.
  private final class Stage: Sendable {
    private final class Objects {
      weak var loop: Loop?
      let person = Person("Ann")
    }
    nonisolated(unsafe) private let objects: Objects
    let thread: LoopThread

    init() {
      nonisolated(unsafe) let objects = Objects()
      self.objects = objects
      thread = LoopThread { objects.loop = $0 }
    }

    /// Writes in each turn until `isOver` is true.
    func write(until isOver: Shared<Bool>) {
      nonisolated(unsafe) let objects = objects
      @Sendable func write() {
        objects.person.age += 1
        if !isOver.withLock({ $0 }) { objects.loop?.nextTurn(write) }
      }
      thread.inbox.post(write)
    }

    func turn<Result: Sendable>(
      _ body: @escaping @Sendable (Person, Loop) throws -> Result
    ) async throws -> Result {
      nonisolated(unsafe) let objects = objects
      let result = try await withCheckedThrowingContinuation { continuation in
        thread.inbox.post {
          continuation.resume(with: Swift.Result { try body(objects.person, objects.loop!) })
        }
      }
      // The turn is over when the next message is handled.
      await withCheckedContinuation { continuation in
        thread.inbox.post { continuation.resume() }
      }
      return result
    }
  }

  @Test func `a watcher stopped by another thread is not called again`() async throws {
    let (stage, calls) = (Stage(), Calls())
    let watcher = try await stage.turn { person, loop in
      try person.observe("age", in: loop, options: WatcherOptions(name: "age")) { _ in calls.add() }
    }
    try await stage.turn { person, _ in person.age = 1 }
    #expect(calls.value == 1 && watcher.isActive && watcher.name == "age")
    #expect(watcher.stop() == 0)
    #expect(!watcher.isActive)
    try await stage.turn { person, _ in person.age = 2 }
    #expect(calls.value == 1)
    #expect(try await stage.turn { _, loop in loop.statistics.watchers } == 0)
    #expect(watcher.stop() == 0)
    stage.thread.stop()
    watcher.stop()
  }

  @Test func `pending calls of a stopped watcher are not made`() async throws {
    let (stage, calls) = (Stage(), Calls())
    let watchers = try await stage.turn { person, loop in
      [
        try person.observe("age", in: loop) { _ in calls.add() },
        try person.observeImmediately("name", in: loop) { _, _ in calls.add() },
      ]
    }
    try await stage.turn { [watchers] person, _ in
      person.age = 1
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        for watcher in watchers { watcher.stop() }
        done.signal()
      }
      done.wait()
      // The loop has not handled the message yet.
      person.name = "Bob"
    }
    #expect(calls.value == 0)
    #expect(try await stage.turn { _, loop in loop.statistics.watchers } == 0)
  }

  @Test func `on the loop's thread a watcher ends at once, even if another thread was first`()
    async throws
  {
    let stage = Stage()
    let watcher = try await stage.turn { person, loop in
      try person.observe("age", "name", in: loop) { _ in }
    }
    let paths = try await stage.turn { _, loop in
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        watcher.stop()
        done.signal()
      }
      done.wait()
      return [watcher.stop(), loop.statistics.watchers]
    }
    #expect(paths == [2, 0])
  }

  @Test func `a watcher stopped by another thread does not report its end`() async throws {
    let (stage, calls) = (Stage(), Calls())
    try await stage.turn { _, loop in
      var person: Person? = Person("Bob")
      let options = WatcherOptions(onEnd: { _ in calls.add() })
      let watcher = try person!.observe("age", in: loop, options: options) { _ in }
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        watcher.stop()
        done.signal()
      }
      done.wait()
      person = nil
    }
    try await stage.turn { _, _ in }
    #expect(calls.value == 0)
  }

  @Test func `many threads stop the watchers of a loop that keeps calling them`() async throws {
    let stage = Stage()
    let made: [(Watcher, Calls)] = try await stage.turn { person, loop in
      try (0..<400).map { number in
        let calls = Calls()
        let watcher =
          number % 2 == 0
          ? try person.observe("age", in: loop) { _ in calls.add() }
          : try person.observeImmediately("age", in: loop) { _, _ in calls.add() }
        return (watcher, calls)
      }
    }
    let isOver = Shared(false)
    stage.write(until: isOver)
    let areQuiet = await withTaskGroup(of: Bool.self) { group in
      for part in 0..<4 {
        group.addTask {
          await withCheckedContinuation { continuation in
            Thread.detachNewThread {
              var isQuiet = true
              for index in stride(from: part, to: made.count, by: 4) {
                let (watcher, calls) = made[index]
                // Some are stopped twice, from two threads.
                made[(index + 4) % made.count].0.stop()
                watcher.stop()
                let count = calls.value
                if watcher.isActive { isQuiet = false }
                // A call that had begun may still be counted.
                Thread.sleep(forTimeInterval: 0.0001)
                if calls.value > count + 1 { isQuiet = false }
              }
              continuation.resume(returning: isQuiet)
            }
          }
        }
      }
      return await group.reduce(true) { $0 && $1 }
    }
    isOver.withLock { $0 = true }
    #expect(areQuiet)
    #expect(try await stage.turn { _, loop in loop.statistics.watchers } == 0)
    let counts = made.map(\.1.value)
    try await stage.turn { person, _ in person.age = -1 }
    #expect(made.map(\.1.value) == counts)
  }

  @Test func `a watcher may be stopped while its loop ends`() async throws {
    for _ in 0..<50 {
      let stage = Stage()
      let watchers = try await stage.turn { person, loop in
        try (0..<10).map { _ in try person.observe("age", in: loop) { _ in } }
      }
      await withTaskGroup(of: Void.self) { group in
        group.addTask { for watcher in watchers { watcher.stop() } }
        group.addTask { stage.thread.stop() }
      }
      #expect(watchers.allSatisfy { !$0.isActive })
    }
  }

  // B: thread-safe models in tasks of any thread.
  @Test func `a task of any thread gets the values of a model by the inbox of a loop`() async throws
  {
    let thread = LoopThread { _ in }
    let tally = Tally()
    let seen = await Task.detached {
      var seen: [Int] = []
      for await count in tally.values("count", as: Int.self, on: thread.inbox) {
        seen.append(count)
        if count == 3 { break }
        tally.count = 3
      }
      return seen
    }.value
    #expect(seen == [0, 3])
    // The watcher behind the stream has ended.
    let watchers = await withCheckedContinuation { continuation in
      thread.inbox.post {
        Loop.current!.nextTurn {
          continuation.resume(returning: Loop.current!.statistics.watchers)
        }
      }
    }
    #expect(watchers == 0)
    thread.stop()
    for await _ in tally.values("count", as: Int.self, on: thread.inbox) {
      Issue.record("the loop is gone")
    }
  }

  @Test func `an error in a stream's path goes to the loop, and ends the stream`() async throws {
    let errors = Shared([String]())
    let thread = LoopThread { loop in
      loop.onError = { error in errors.withLock { $0.append("\(error)") } }
    }
    for await _ in Tally().values("cuont", as: Int.self, on: thread.inbox) {
      Issue.record("there is no such value")
    }
    #expect(
      errors.withLock { $0 } == [
        "component 1 of key path 'cuont': Tally has no property 'cuont' (did you mean 'count'?)"
      ])
  }

  @Test func `observing in a task without a loop is an error, and no trap`() async throws {
    let tally = Tally()
    await Task.detached {
      tally.count += 1
      #expect(throws: PathError.self) { try tally.values("count", as: Int.self) }
      let error = #expect(throws: PathError.self) { try tally.observe("count") { _ in } }
      #expect(error?.code == .noLoop)
      #expect(
        error?.description
          == "the loop is not on this thread: observe the model via the loop's inbox, with 'on:'")
      #expect(throws: PathError.self) { try tally.observeImmediately("count") { _, _ in } }
      #expect((try? tally.value(at: "count") as? Int) == 1)
      #expect(tally.stopObserving() == 0)
      #expect(tally.observedKeys == [] && tally.observerCount(of: "count") == 0)
    }.value
  }

  // T7
  @Test func `a loop that only makes turns releases watchers that other threads stop`() {
    let (loop, person, tally) = (Loop(), Person("Ann"), Tally())
    let counts = (0..<3).map { _ in
      for _ in 0..<100 {
        let watcher = try! person.observe("name", in: loop) { _ in }
        let values = try! tally.values("count", as: Int.self, in: loop)
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
          watcher.stop()
          done.signal()
        }
        done.wait()
        withExtendedLifetime(values) {}
      }
      loop.turn {}
      // Stopped by the other thread, and by the unread stream.
      return loop.statistics.watchers
    }
    #expect(counts == [0, 0, 0])
    #expect(loop.inbox.messageCount <= 1)
  }
}
