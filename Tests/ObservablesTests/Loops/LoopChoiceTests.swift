import Observables
import Testing

/// The loop that observes an object if none is named.
struct LoopChoiceTests {
  private func check(_ outcome: ExitTest.Result?, _ sentences: String...) {
    let errors = String(decoding: outcome?.standardErrorContent ?? [], as: UTF8.self)
    for sentence in sentences { #expect(errors.contains(sentence), "\(errors)") }
  }

  @Test func `the loop that already observes the object is chosen in any turn`()
    async throws
  {
    let counts = try await onOwnThread {
      let (first, second) = (Loop(), Loop())
      let (person, numbers) = (Person("Ann"), ObservableArray([1]))
      try person.observe("name", in: first) { _ in }
      try numbers.observe("*", in: first) { _ in }
      try second.turn {
        try person.observe("age") { _ in }
        try numbers.observe("count") { _ in }
      }
      return [first.statistics.watchers, second.statistics.watchers]
    }
    #expect(counts == [4, 0])
  }

  @Test func `of several loops that observe an object, the one in a turn is chosen`() async throws {
    let counts = try await onOwnThread {
      let (first, second) = (Loop(), Loop())
      let person = Person("Ann")
      for loop in [first, second] { try person.observe("name", in: loop) { _ in } }
      try first.turn { _ = try person.observe("age") { _ in } }
      return [first.statistics.watchers, second.statistics.watchers]
    }
    #expect(counts == [2, 1])
  }

  @Test func `otherwise the loop in a turn or callback is chosen`() async throws {
    let counts = try await onOwnThread {
      let (first, second) = (Loop(), Loop())
      let person = Person("Ann")
      try first.turn { _ = try Person().observe("age") { _ in } }
      try person.observe("name", in: second) { _ in
        _ = try Person().observe("age", options: WatcherOptions(initial: true)) { _ in }
      }
      person.name = "Bob"
      // No turn is under way, but a callback of the loop is.
      second.flush()
      return [first.statistics.turns, second.statistics.calls]
    }
    #expect(counts == [1, 2])
  }

  @Test func `otherwise the only loop of the thread is chosen`() async throws {
    let counts = try await onOwnThread {
      let loop = Loop()
      let person = Person("Ann")
      try person.observe("name") { _ in }
      let source = Person("Bob")
      try person.bind(["age"], to: source)
      return withExtendedLifetime(source) { loop.statistics.watchers }
    }
    #expect(counts == 2)
  }

  // Z10
  @Test func `a tracked property depends on its reads, whichever loop computes it`()
    async throws
  {
    let values = try await onOwnThread {
      let first = Loop()
      let (left, cell) = (Cell(1), TrackedCell())
      cell.left = left
      var values: [Int] = []
      try cell.observe("value", in: first) { values.append($0.value) }
      // The cell on the left is unobserved, or observed by another loop.
      let second = Loop()
      first.turn { left.source = 2 }
      try left.observe("source", in: second) { _ in }
      cell.invalidate()
      first.turn { left.source = 3 }
      first.turn { left.source = 4 }
      return withExtendedLifetime(second) { values }
    }
    #expect(values == [3, 4, 5])
  }

  // X3
  @Test func `changes are one batch for each loop of the thread`() async throws {
    let calls = try await onOwnThread {
      let (first, second) = (Loop(), Loop())
      let person = Person("Ann")
      var calls = 0
      try person.observeImmediately("name", "age", in: first) { _, _ in calls += 1 }
      let changes = [
        DeepChange(path: ["name"], kind: .set, old: "Ann", new: "Bob"),
        DeepChange(path: ["age"], kind: .set, old: 0, new: 1),
      ]
      try person.apply(changes)
      return withExtendedLifetime(second) { calls }
    }
    #expect(calls == 1)
  }

  @Test func `the main thread without a loop uses the main loop`() async {
    await #expect(processExitsWith: .success) {
      try await MainActor.run {
        try Person().observe("name") { _ in }
        guard Loop.current === Loop.main, Loop.main.statistics.turns == 0 else {
          preconditionFailure("another loop")
        }
      }
    }
  }

  @Test func `two equally suited loops are an error that names both`() async {
    check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let (first, second) = (Loop(), Loop(file: "other", line: 5))
        try Person().observe("name") { _ in }
        withExtendedLifetime((first, second)) {}
      }, "Misuse: It is not clear which loop observes the object, the loop made at",
      "LoopChoiceTests.swift:", " or the loop made at other:5: pass it as 'in:'")
  }

  @Test func `the main loop and another one of its thread are two`() async {
    check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        try await MainActor.run {
          _ = Loop.main
          let loop = Loop()
          try Person().observe("name") { _ in }
          withExtendedLifetime(loop) {}
        }
      }, "the object, Loop.main or the loop made at ObservablesTests/LoopChoiceTests.swift:")
  }

  @Test func `two nested turns are an error that names both`() async {
    check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let (first, second) = (Loop(), Loop())
        try first.turn { try second.turn { _ = try Person().observe("name") { _ in } } }
      }, "It is not clear which loop observes the object")
  }

  @Test func `a thread without a loop is an error`() async {
    check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        try await onOwnThread { _ = try Person().observe("name") { _ in } }
      }, "Misuse: There is no loop on this thread")
  }
}
