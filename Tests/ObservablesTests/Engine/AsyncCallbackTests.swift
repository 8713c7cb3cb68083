import Foundation
import Observables
import TestSupport
import Testing

/// A gate at which a task waits until the test opens it.
private struct Gate: Sendable {
  private let stream: AsyncStream<Void>
  private let opening: AsyncStream<Void>.Continuation

  init() { (stream, opening) = AsyncStream.makeStream() }

  func open() { opening.yield() }
  func pass() async { for await _ in stream { return } }
}

private struct Failure: Error {}

/// Callbacks that are tasks: one per delivery, never two at once, the latest state wins.
@Suite(.timeLimit(.minutes(30))) struct AsyncCallbackTests {
  private let loop = Loop()
  private let log = Log()
  private let gate = Gate()
  private let person = Person("Ann")

  init() { loop.onError = { [log] in log.note("\($0)") } }

  /// Runs turns until nothing is ready.
  private func settle() { for _ in 0..<10 { loop.step() } }

  /// Lets a waiting task end; it would keep everything that it uses alive.
  private func letGo() {
    gate.open()
    settle()
  }

  @Test func `changes while a task runs start it once more, with the latest state`() throws {
    try person.observe("age", in: loop) { [log, gate] person in
      log.note("begin \(person.age)")
      await gate.pass()
      log.note("end \(person.age)")
    }
    loop.turn { person.age = 1 }
    #expect(log.events == [])
    settle()
    loop.turn { person.age = 2 }
    loop.turn { person.age = 3 }
    settle()
    #expect(log.take() == ["begin 1"])
    gate.open()
    settle()
    #expect(log.take() == ["end 3", "begin 3"])
    gate.open()
    settle()
    #expect(log.take() == ["end 3"])
    loop.turn { person.age = 4 }
    settle()
    #expect(log.take() == ["begin 4"])
    letGo()
  }

  // T1
  @Test func `writes of a task are delivered at the end of the part that makes them`() throws {
    try person.observe("name", in: loop) { [gate] person in
      person.age = 1
      person.age = 2
      await gate.pass()
      person.age = 3
    }
    try person.observe("age", in: loop) { [log] in log.note("\($0.age)") }
    loop.turn { person.name = "Bob" }
    settle()
    gate.open()
    settle()
    #expect(log.events == ["2", "3"])
  }

  // T10
  @Test func `an error of a task is reported with its watcher, which stays`() throws {
    let options = WatcherOptions(name: "save")
    let watcher = try person.observe("age", in: loop, options: options) { _ in
      await Task.yield()
      throw Failure()
    }
    loop.turn { person.age = 1 }
    settle()
    loop.turn { person.age = 2 }
    settle()
    let text =
      "Failure()\nin watcher save (registered at ObservablesTests/AsyncCallbackTests.swift:"
    #expect(log.events.count == 2 && log.events.allSatisfy { $0.hasPrefix(text) })
    #expect(watcher.isActive)
  }

  // T7
  @Test func `stopping the watcher cancels its task, and starts no further one`() throws {
    let watcher = try person.observe("age", in: loop) { [log, gate] _ in
      await gate.pass()
      log.note("cancelled: \(Task.isCancelled)")
      try Task.checkCancellation()
    }
    loop.turn { person.age = 1 }
    settle()
    loop.turn { person.age = 2 }
    watcher.stop()
    settle()
    #expect(log.events == ["cancelled: true"])
    #expect(loop.statistics.errors == 0 && !loop.isAlive)
  }

  @Test func `a watcher of one call lets its task finish`() throws {
    let options = WatcherOptions(once: true)
    let watcher = try person.observe("age", in: loop, options: options) { [log, gate] person in
      await gate.pass()
      log.note("\(person.age), cancelled: \(Task.isCancelled)")
    }
    loop.turn { person.age = 1 }
    settle()
    #expect(!watcher.isActive)
    loop.turn { person.age = 2 }
    gate.open()
    settle()
    #expect(log.events == ["2, cancelled: false"])
  }

  @Test func `a paused watcher starts its task when it resumes`() throws {
    let watcher = try person.observe("age", in: loop) { [log, gate] person in
      log.note("begin \(person.age)")
      await gate.pass()
    }
    loop.turn { person.age = 1 }
    settle()
    loop.turn { person.age = 2 }
    watcher.pause()
    gate.open()
    settle()
    #expect(log.take() == ["begin 1"])
    watcher.resume()
    settle()
    #expect(log.take() == ["begin 2"])
    letGo()
  }

  // L3
  @Test func `an observer is kept while a task runs, and ends the watcher afterwards`() throws {
    var view: Person? = Person("view")
    let options = WatcherOptions(observer: view!)
    let watcher = try person.observe("age", "name", in: loop, options: options) {
      [log, gate, unowned view] person in
      await gate.pass()
      log.note("\(view!.name) \(person.age)")
    }
    loop.turn { person.age = 1 }
    settle()
    view = nil
    gate.open()
    settle()
    #expect(log.take() == ["view 1"])
    loop.turn { person.age = 2 }
    settle()
    #expect(log.events == [] && !watcher.isActive)
  }

  // L6
  @Test func `neither the object nor the callback outlives the watcher`() throws {
    let probe = LifetimeProbe()
    var person: Person? = Person("Bob", probe: probe)
    try person!.observe("age", in: loop) { [gate] person in
      person.name = "Eve"
      await gate.pass()
    }
    loop.turn { person!.age = 1 }
    settle()
    person = nil
    #expect(probe.alive == 1)
    gate.open()
    settle()
    #expect(probe.alive == 0 && loop.statistics.watchers == 0)
  }

  // T8
  @Test func `a loop runs until the task is over, each part of it on the loop's thread`()
    async throws
  {
    let isThere = try await onOwnThread {
      let (loop, person, thread) = (Loop(), Person("Ann"), pthread_self())
      var isThere: [Bool] = []
      try person.observe("age", in: loop) { _ in
        isThere.append(pthread_equal(pthread_self(), thread) != 0)
        try await Task.sleep(for: .milliseconds(1))
        isThere.append(pthread_equal(pthread_self(), thread) != 0)
        await Task.detached {}.value
        isThere.append(pthread_equal(pthread_self(), thread) != 0)
      }
      loop.turn { person.age = 1 }
      loop.run()
      return isThere
    }
    #expect(isThere == [true, true, true])
  }

  @Test func `a thread-safe model starts tasks by the inbox of a loop`() async throws {
    let thread = LoopThread { _ in }
    let tally = Tally()
    let counts = AsyncStream<Int>.makeStream()
    let watcher = tally.observe("count", "name", on: thread.inbox, initial: true) { tally in
      await Task.yield()
      counts.continuation.yield(tally.count)
    }
    var iterator = counts.stream.makeAsyncIterator()
    #expect(await iterator.next() == 0)
    tally.count = 5
    #expect(await iterator.next() == 5)
    watcher.stop()
    thread.stop()
  }
}

/// Tasks of the main actor.
@MainActor
struct MainActorCallbackTests {
  @Test func `a closure of the main actor runs there`() async throws {
    let person = Person("Ann")
    var names: [String] = []
    await withCheckedContinuation { continuation in
      try! person.observe("name", in: .main) { person in
        MainActor.assertIsolated()
        await Task.yield()
        MainActor.assertIsolated()
        names.append(person.name)
        if person.name == "Eve" { continuation.resume() }
      }
      person.name = "Bob"
      person.name = "Eve"
    }
    #expect(names == ["Eve"])
    person.stopObserving()
    await Task.yield()
  }
}
