import Observables
import TestSupport
import Testing

private struct Refused: Error, CustomStringConvertible {
  let what: String
  var description: String { "\(what) is refused" }
}

/// T10: callbacks that throw.
struct ThrowingCallbackTests {
  private let loop = Loop()
  private let log = Log()

  init() { loop.onError = { [log] in log.note("\($0)") } }

  // T10
  @Test func `an error of a callback is reported with its watcher, and the others are called`()
    throws
  {
    let person = Person("Ann")
    var errors: [WatcherError] = []
    loop.onError = { if let error = $0 as? WatcherError { errors.append(error) } }
    let options = WatcherOptions(name: "guard")
    let line = #line + 1
    let watcher = try person.observe("name", in: loop, options: options) {
      throw Refused(what: $0.name)
    }
    try person.observe("name", in: loop) { [log] in log.note($0.name) }
    loop.turn { person.name = "Bob" }
    loop.turn { person.name = "Eve" }
    #expect(log.events == ["Bob", "Eve"])
    #expect(errors.map { ($0.underlying as? Refused)?.what } == ["Bob", "Eve"])
    #expect(watcher.isActive && loop.statistics.errors == 2)
    let site = "ObservablesTests/ThrowingCallbackTests.swift:\(line)"
    #expect(errors[0].watcher == "guard" && errors[0].site == site)
    #expect("\(errors[0])" == "Bob is refused\nin watcher guard (registered at \(site))")
  }

  @Test func `a watcher without a name is named by its place`() throws {
    let person = Person("Ann")
    let line = #line + 1
    try person.observe("name", in: loop) { _ in throw Refused(what: "all") }
    loop.turn { person.name = "Bob" }
    #expect(
      log.events == [
        "all is refused\nin watcher ObservablesTests/ThrowingCallbackTests.swift:\(line)"
      ])
  }

  // T9, T10
  @Test func `an immediate watcher, one with an observer, and one of edits may throw`() throws {
    let (person, view) = (Person("Ann"), Address("1"))
    let (numbers, ages) = (ObservableArray([1]), ObservableDictionary(["Ann": 1, "Bob": 2]))
    loop.onError = { [log] in log.note("\(($0 as? WatcherError)?.underlying as Any? ?? $0)") }
    try person.observeImmediately("name", in: loop) { _, change in
      throw Refused(what: "\(change.new ?? "")")
    }
    try person.observe("name", in: loop, options: WatcherOptions(observer: view)) { _ in
      throw Refused(what: view.zip)
    }
    try numbers.observeEdits(in: loop) { _, edits in throw Refused(what: "\(edits.count)") }
    try ages.observeKeys(["Ann", "Bob"], in: loop) { key, _, _, _ in throw Refused(what: key) }
    person.name = "Eve"
    #expect(log.take() == ["Eve is refused"])
    loop.turn {
      numbers.append(2)
      (ages["Ann"], ages["Bob"]) = (3, 4)
    }
    #expect(
      log.events == ["1 is refused", "1 is refused", "Ann is refused", "Bob is refused"])
  }

  // T10
  @Test func `a registration by an inbox may throw in its callback, too`() async throws {
    let errors = Shared([String]())
    let thread = LoopThread { loop in
      loop.onError = { error in
        errors.withLock { $0.append("\((error as? WatcherError)?.underlying as Any)") }
      }
    }
    let tally = Tally()
    tally.observe("count", on: thread.inbox, initial: true) { throw Refused(what: "\($0.count)") }
    await withCheckedContinuation { continuation in
      thread.inbox.post { Loop.current!.nextTurn { continuation.resume() } }
    }
    #expect(errors.withLock { $0 } == ["Optional(0 is refused)"])
  }
}
