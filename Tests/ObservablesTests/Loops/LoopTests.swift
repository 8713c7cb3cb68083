import Foundation
import Observables
import Synchronization
import TestSupport
import Testing

/// T1, T8: loops, timers, messages and threads.
struct LoopTests {
  private let log = Log()

  @Test func `the latest loop of a thread is the current one`() {
    let outer = Loop()
    do {
      let inner = Loop()
      #expect(Loop.current === inner)
    }
    #expect(Loop.current === outer)
    var (first, second) = (Loop?(Loop()), Loop?(Loop()))
    first = nil
    #expect(Loop.current === second)
    second = nil
    #expect(Loop.current === outer)
    withExtendedLifetime(first) {}
  }

  // T1
  @Test func `each callback of a step is a separate turn`() throws {
    let loop = Loop()
    let person = Person()
    try person.observe("age", in: loop) { [log] in log.note("\($0.age)") }
    loop.nextTurn { person.age += 1 }
    loop.nextTurn { person.age += 1 }
    loop.inbox.post { [box = Box(person)] in box.value.age += 1 }
    #expect(loop.step() == false)
    #expect(log.events == ["1", "2", "3"])
  }

  // T1
  @Test func `changes pending before a step are delivered first`() throws {
    let loop = Loop()
    let person = Person()
    try person.observe("age", in: loop) { [log] in log.note("\($0.age)") }
    person.age = 5
    loop.nextTurn { [log] in log.note("turn") }
    loop.step()
    #expect(log.events == ["5", "turn"])
  }

  // T1
  @Test func `a turn that throws delivers`() throws {
    struct Failure: Error {}
    let loop = Loop()
    let person = Person()
    try person.observe("age", in: loop) { [log] in log.note("\($0.age)") }
    #expect(throws: Failure.self) {
      try loop.turn { () throws(Failure) in
        person.age = 1
        throw Failure()
      }
    }
    #expect(log.events == ["1"])
  }

  @Test func `timers are called in order of time, then of making`() {
    let loop = Loop(clock: .virtual)
    for (name, seconds) in [("c", 2.0), ("a", 1.0), ("b", 1.0), ("d", 3.0)] {
      loop.after(seconds) { [log] in log.note("\(name) \(loop.now)") }
    }
    loop.advance(by: 2.5)
    #expect(log.take() == ["a 1.0", "b 1.0", "c 2.0"])
    #expect(loop.now == 2.5)
    loop.run()
    #expect(log.take() == ["d 3.0"])
    #expect(loop.now == 3)
  }

  @Test func `a repeating timer continues until it is stopped`() {
    let loop = Loop(clock: .virtual)
    var timer: LoopTimer?
    timer = loop.every(10) { [log] in
      log.note("\(loop.now)")
      if loop.now == 30 { timer?.stop() }
    }
    loop.run()
    #expect(log.events == ["10.0", "20.0", "30.0"])
    #expect(timer?.isActive == false)
    timer?.stop()
  }

  @Test func `a repeating timer keeps its pace if its calls are late`() {
    let loop = Loop()
    var timer: LoopTimer?
    var (due, calls) = (0.0, 0)
    timer = loop.every(0.001) {
      if let next = timer?.due {
        // Only a call that is late by a whole interval delays the calls after it.
        #expect(next == due + 0.001 || loop.now >= due + 0.001)
        due = next
      }
      calls += 1
      if calls == 20 { timer?.stop() }
    }
    due = timer?.due ?? 0
    loop.run()
    #expect(calls == 20)
  }

  @Test func `a stopped timer is not called, even if both were due`() {
    let loop = Loop(clock: .virtual)
    var second: LoopTimer?
    loop.after(1) { [log] in
      log.note("1")
      second?.stop()
    }
    second = loop.after(1) { [log] in log.note("2") }
    loop.run()
    #expect(log.events == ["1"])
  }

  @Test func `a timer need not keep the loop running`() {
    let loop = Loop(clock: .virtual)
    let timer = loop.every(1) { [log] in log.note("tick") }
    timer.keepsLoopRunning = false
    loop.after(2.5) { [log] in log.note("end") }
    loop.run()
    #expect(log.events == ["tick", "tick", "end"])
    #expect(!loop.isAlive)
    timer.keepsLoopRunning = true
    #expect(loop.isAlive)
    timer.stop()
    #expect(!loop.isAlive)
  }

  @Test func `a timer of zero seconds that makes another lets messages through`() {
    let loop = Loop(clock: .virtual)
    var count = 0
    func again() {
      count += 1
      if count < 100 { loop.after(0, again) }
      if count == 2 { loop.inbox.post { [box = Box(log)] in box.value.note("message") } }
      if count == 4 { log.note("four") }
    }
    loop.after(0, again)
    loop.run()
    #expect(log.events == ["message", "four"])
    #expect(count == 100)
  }

  @Test func `many stopped timers leave nothing behind`() {
    let loop = Loop(clock: .virtual)
    let probe = LifetimeProbe()
    for _ in 0..<10_000 {
      let captured = Person(probe: probe)
      loop.after(1_000) { captured.age += 1 }.stop()
    }
    #expect(probe.alive == 0)
    loop.run()
    #expect(loop.now == 0)
  }

  @Test func `virtual time also passes for timers made in callbacks`() {
    let loop = Loop(clock: .virtual)
    loop.after(1) { [log] in
      loop.after(1) { log.note("\(loop.now)") }
      loop.nextTurn { log.note("next \(loop.now)") }
    }
    loop.advance(by: 2)
    #expect(log.events == ["next 1.0", "2.0"])
  }

  @Test func `stop makes run return after the current turn, and the rest comes later`() {
    let loop = Loop(clock: .virtual)
    loop.nextTurn { [log] in
      log.note("1")
      loop.stop()
      log.note("stopped")
    }
    loop.nextTurn { [log] in log.note("2") }
    loop.run()
    #expect(log.take() == ["1", "stopped"])
    loop.run()
    #expect(log.take() == ["2"])
  }

  @Test func `messages that arrived before a stop come when the loop runs again`() {
    let loop = Loop(clock: .virtual)
    let box = Box(log)
    let inner = Box(loop)
    loop.inbox.post { inner.value.stop() }
    loop.inbox.post { box.value.note("kept") }
    loop.run()
    #expect(log.take() == [])
    loop.step()
    #expect(log.take() == ["kept"])
  }

  // T8
  @Test func `a message from another thread wakes an idle loop`() {
    let loop = Loop()
    let box = Box(loop)
    loop.retain()
    let idle = Shared(false)
    let thread = Thread {
      // The loop may or may not sleep already: both must work.
      idle.withLock { $0 = true }
      box.value.inbox.post {
        box.value.release()
      }
    }
    thread.start()
    loop.run()
    #expect(idle.withLock { $0 })
    #expect(!loop.isAlive)
  }

  // T4
  @Test func `errors without a caller go to onError`() throws {
    let loop = Loop()
    loop.onError = { [log] in log.note("\(type(of: $0))") }
    let person = Person()
    try person.observe("age", in: loop) { $0.age += 1 }
    person.age = 1
    loop.endTurn()
    #expect(log.events.count == 1)
    #expect(loop.statistics.errors == 1)
  }
}

/// Carries a value to code that runs on the thread it belongs to.
final class Box<Value>: @unchecked Sendable {
  // Used only on the thread of the test's loop.
  let value: Value
  init(_ value: Value) { self.value = value }
}

/// A value that several threads change.
final class Shared<Value: Sendable>: Sendable {
  private let value: Mutex<Value>
  init(_ value: Value) { self.value = Mutex(value) }
  func withLock<Result: Sendable>(_ body: (inout sending Value) -> Result) -> Result {
    value.withLock { (value: inout sending Value) -> sending Result in body(&value) }
  }
}
