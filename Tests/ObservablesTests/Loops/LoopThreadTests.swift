import Foundation
import Observables
import TestSupport
import Testing

/// T8: a thread with a loop: its end, messages that come later, and actors that run on it.
@Suite(.timeLimit(.minutes(30))) struct LoopThreadTests {
  private struct Refused: Error {}

  @Test func `a loop whose inbox is full of messages handles each`() async {
    let thread = LoopThread()
    let count = Shared(0)
    await withTaskGroup { group in
      for _ in 0..<8 {
        group.addTask { for _ in 0..<1_000 { thread.inbox.post { count.withLock { $0 += 1 } } } }
      }
    }
    await withCheckedContinuation { done in thread.inbox.post { done.resume() } }
    #expect(count.withLock { $0 } == 8_000)
    thread.stop()
  }

  @Test func `a loop thread prepares its loop on that thread, and ends`() async {
    let events = Shared<[String]>([])
    let thread = LoopThread { loop in
      events.withLock { $0.append(Loop.current === loop ? "prepared" : "elsewhere") }
      let person = Person()
      try! person.observe("age", in: loop) { person in
        events.withLock { $0.append("\(person.age)") }
      }
      person.age = 1
    }
    await withCheckedContinuation { done in thread.inbox.post { done.resume() } }
    thread.stop()
    thread.stop()
    #expect(events.withLock { $0 } == ["prepared", "1"])
  }

  @Test func `a loop thread has finished its preparation when its initializer returns`() async {
    for count in 1...100 {
      let tally = Tally()
      let (counts, heard) = AsyncStream.makeStream(of: Int.self)
      let thread = LoopThread { loop in
        try! tally.observe("count", in: loop) { heard.yield($0.count) }
      }
      tally.count = count
      #expect(await counts.first { _ in true } == count)
      thread.stop()
    }
  }

  @Test func `an unreferenced loop thread ends by itself`() async {
    await withCheckedContinuation { done in
      let ending = LastWords { done.resume() }
      _ = LoopThread { loop in loop.onError = { _ in _ = ending } }
    }
  }

  @Test func `a message to a stopped thread is called there, outside of turns`() async {
    let before = Shared("")
    let thread = LoopThread { _ in before.withLock { $0 = "\(pthread_self())" } }
    let watched = Shared<[Int]>([])
    let tally = Tally()
    tally.observe("count", on: thread.inbox) { tally in
      watched.withLock { $0.append(tally.count) }
    }
    thread.stop()
    let isSame = await withCheckedContinuation { done in
      let isPosted = thread.inbox.post {
        tally.count = 1
        done.resume(
          returning: before.withLock { $0 } == "\(pthread_self())" && Loop.current == nil)
      }
      #expect(isPosted)
    }
    #expect(isSame && watched.withLock { $0.isEmpty })
  }

  @Test func `a message to a loop that is gone is refused`() async throws {
    let inbox = try await onOwnThread { Loop().inbox }
    #expect(!inbox.post { Issue.record("the loop is gone") })
    await #expect(throws: LoopEnded.self) { try await inbox.run { _ in 1 } }
    // Nobody holds the thread.
    let other = LoopThread().inbox
    while other.post({}) { await Task.yield() }
    await #expect(throws: LoopEnded.self) { try await other.run { _ in 1 } }
  }

  @Test func `a function that runs on the thread gets the loop, and returns its result or error`()
    async throws
  {
    let thread = LoopThread()
    let log = Shared<[String]>([])
    let isLoop = try await thread.run { loop in
      let person = Person()
      try person.observe("age", in: loop) { _ in log.withLock { $0.append("called") } }
      person.age = 1
      log.withLock { $0.append("written") }
      return loop === Loop.current
    }
    #expect(isLoop && log.withLock { $0 } == ["written", "called"])
    await #expect(throws: Refused.self) { try await thread.run { _ in throw Refused() } }
    thread.stop()
    await #expect(throws: LoopEnded.self) { try await thread.run { _ in 1 } }
  }

  @Test func `functions that wait when the thread is stopped get an answer`() async {
    for _ in 1...50 {
      let thread = LoopThread()
      await withTaskGroup { group in
        for _ in 0..<4 { group.addTask { while (try? await thread.run { _ in 1 }) != nil {} } }
        group.addTask { thread.stop() }
      }
    }
  }

  @Test func `messages that the loop has taken but not called are called and released`() async {
    let thread = LoopThread()
    let isReleased = Shared(false)
    // The loop takes both at once, and ends after the first.
    thread.inbox.post {
      thread.inbox.post { Loop.current?.stop() }
      let ending = LastWords { isReleased.withLock { $0 = true } }
      thread.inbox.post { _ = ending }
    }
    // Three, because the loop may have taken the first two together with those above. The third is
    // called after those have been released.
    await withCheckedContinuation { done in
      thread.inbox.post { thread.inbox.post { thread.inbox.post { done.resume() } } }
    }
    #expect(isReleased.withLock { $0 })
    thread.stop()
  }

  // T1
  @Test func `code of an actor runs on the thread, in turns`() async throws {
    let ledger = Ledger()
    let entered = try await ledger.enter(3)
    #expect(entered == [])
    try await ledger.thread.run { _ in }
    await ledger.enterTwice()
    try await ledger.thread.run { _ in }
    let log = await ledger.log
    #expect(log == ["3", "4", "6"])
  }

  @Test func `a callback on the thread is code of the actor`() async throws {
    let ledger = Ledger()
    try await ledger.followWithoutWaiting()
    _ = try await ledger.enter(3)
    try await ledger.thread.run { _ in }
    let log = await ledger.log
    #expect(log == ["3", "isolated"])
  }

  @Test func `calls of an actor are made although its thread has stopped`() async throws {
    let ledger = Ledger()
    _ = try await ledger.enter(3)
    ledger.thread.stop()
    _ = try await ledger.enter(4)
    let log = await ledger.log
    #expect(log == ["3"])
  }

  @Test func `an actor may stop its own thread`() async throws {
    let ledger = Ledger()
    try await ledger.enterAndStop(3)
    await #expect(throws: LoopEnded.self) { try await ledger.thread.run { _ in 1 } }
    // The turn was over before the loop ended.
    let log = await ledger.log
    #expect(log == ["3"])
  }

  // L6
  @Test func `the last reference to an actor ends its thread`() async {
    await withCheckedContinuation { done in
      let ending = LastWords { done.resume() }
      Task {
        let ledger = Ledger()
        try await ledger.thread.run { loop in loop.onError = { _ in _ = ending } }
      }
    }
  }
}

/// An actor on the thread of a loop, and a model that belongs to it.
private actor Ledger {
  let thread = LoopThread()
  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
  private var person: Person?
  private(set) var log: [String] = []

  /// Writes to the model; returns the log before the watchers of this turn are called.
  func enter(_ age: Int) throws -> [String] {
    let person = try person ?? follow()
    person.age = age
    return log
  }

  func enterAndStop(_ age: Int) throws {
    _ = try enter(age)
    thread.stop()
  }

  func enterTwice() async {
    person?.age = 4
    await Task.yield()
    person?.age = 5
    person?.age = 6
  }

  private func follow() throws -> Person {
    let person = Person()
    self.person = person
    try person.observe("age") { person in self.log.append("\(person.age)") }
    return person
  }

  /// Registers a callback that is not code of the actor.
  func followWithoutWaiting() throws {
    let person = try person ?? follow()
    let callback: @Sendable () -> Void = { self.assumeIsolated { $0.log.append("isolated") } }
    try person.observe("age") { _ in callback() }
  }

  #if os(Linux)  // macOS has it since 15.4.
    isolated deinit {}
  #endif
}
