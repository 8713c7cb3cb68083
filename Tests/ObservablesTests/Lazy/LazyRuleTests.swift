import Observables
import Testing

/// Rules for getters of Swift models, and the errors that callers receive.
@Suite struct LazyRuleTests {
  private let loop = Loop()
  private struct Failure: Error, Equatable {
    let number: Int
  }

  private func pair(_ isTracked: Bool) -> (Cell, Cell) {
    let source = isTracked ? TrackedCell(1) : Cell(1)
    return (source, isTracked ? TrackedCell(left: source) : Cell(left: source))
  }

  // Z8
  @Test(arguments: [false, true]) func `an error goes to the reader, and the next read tries again`(
    isTracked: Bool
  ) {
    loop.turn {
      let (source, cell) = pair(isTracked)
      var number = 0
      source.habit = { _ in
        number += 1
        if number < 3 { throw Failure(number: number) }
      }
      #expect(throws: Failure(number: 1)) { try cell.$value.get() }
      #expect(!cell.$value.isValid && !source.$value.isValid)
      #expect(throws: Failure(number: 2)) { try cell.$value.get() }
      #expect(throws: Never.self) { try cell.$value.get() }
      #expect(cell.$value.isValid && number == 3)
    }
  }

  // Z8
  @Test(arguments: [false, true])
  func `without a reader an error is reported and the watcher stays`(
    isTracked: Bool
  ) throws {
    var errors: [String] = []
    loop.onError = { errors.append("\($0)") }
    let (source, cell) = pair(isTracked)
    var calls = 0
    try loop.turn { () throws in
      try cell.observe("value", in: loop) { _ in calls += 1 }
      source.habit = { source in
        // Values read before the error are dependencies.
        _ = source.source
        throw Failure(number: 7)
      }
      source.source = 2
    }
    #expect(errors.count == 1 && errors[0].contains("value") && errors[0].contains("7"))
    #expect(calls == 0)
    loop.turn {
      source.habit = nil
      source.source = 3
    }
    #expect(errors.count == 1 && calls == 1 && cell.value == 4)
  }

  // Z8
  @Test func `force computes as many properties as possible, then throws the first error`() {
    loop.turn {
      let poet = Poet()
      #expect(throws: LazyError.self) { try poet.force() }
      #expect(poet.invalidNames.contains("left") && poet.invalidNames.contains("right"))
      #expect(poet.validNames.contains("full") && poet.validNames.contains("address"))
    }
  }

  // T12
  @Test(arguments: [false, true]) func `a getter that writes its own dependency gets an error`(
    isTracked: Bool
  ) throws {
    try loop.turn { () throws in
      let (source, cell) = pair(isTracked)
      _ = try cell.$value.get()
      var depth = 0
      cell.habit = { _ in
        depth += 1
        if depth < 100 { source.source += 1 }
      }
      source.source = 5
      _ = try? cell.$value.get()
      #expect(depth < 100)
      cell.habit = nil
      #expect(try cell.$value.get() == source.source + 1)
    }
  }

  // T12
  @Test(arguments: [false, true])
  func `a getter may register, stop, invalidate, override and batch`(
    isTracked: Bool
  ) throws {
    let misdeeds: [(Cell, Loop) throws -> Void] = [
      { cell, loop in try cell.observe("value", in: loop) { _ in } },
      { cell, loop in try cell.observe("*", in: loop) { _ in }.stop() },
      { cell, _ in cell.stopObserving() },
      { cell, _ in cell.$value.invalidate() },
      { cell, _ in cell.invalidate() },
      { cell, _ in cell.value = 17 },
      { cell, loop in loop.batch { cell.left?.source = 8 } },
      { cell, _ in _ = try? cell.$value.get() },
      { cell, _ in _ = cell.$value.peek },
      { cell, _ in try? cell.force() },
      { cell, _ in _ = cell.validNames },
      { cell, _ in _ = cell.observedKeys },
      { cell, loop in loop.nextTurn { cell.source = 3 } },
      { cell, _ in cell.left = nil },
      { cell, _ in cell.left = cell },
    ]
    loop.onError = { _ in }
    for misdeed in misdeeds {
      for isWatched in [false, true] {
        let (source, cell) = pair(isTracked)
        var depth = 0
        cell.habit = { [loop] cell in
          depth += 1
          if depth < 1_000 { try misdeed(cell, loop) }
        }
        try loop.turn { () throws in
          if isWatched {
            try cell.observe("value", in: loop) { _ in }
            try cell.observeImmediately("value", in: loop) { _, _ in }
          }
          for number in 2...4 {
            _ = try? cell.$value.get()
            source.source = number
            _ = try? cell.$value.get()
          }
        }
        #expect(depth < 1_000)
        // Whatever the getter did, it computes again.
        cell.habit = nil
        cell.left = source
        source.source = 10
        cell.$value.invalidate()
        #expect(try cell.$value.get() == 11)
      }
    }
  }

  // Z14
  @Test func `unknown names are errors with a suggestion`() {
    loop.turn {
      let poet = Poet()
      for body: (String) throws -> Void in [
        { try poet.invalidate($0) }, { _ = try poet.isValid($0) }, { _ = try poet.peek($0) },
      ] {
        let error = #expect(throws: ModelError.self) { try body("ful") }
        #expect(error?.suggestion == "full")
      }
      #expect(throws: Never.self) { try poet.invalidate("first") }
      #expect(throws: PathError.self) { try poet.observe("ful", in: loop) { _ in } }
    }
  }

  // Z5
  @Test func `a write to a read-only property by name is refused`() {
    loop.turn {
      let poet = Poet()
      #expect(throws: ModelError.self) { try Poet.properties.set("both", of: poet, to: "x") }
      #expect(throws: ModelError.self) { try Poet.properties.set("full", of: poet, to: 5) }
      #expect(throws: Never.self) { try Poet.properties.set("full", of: poet, to: "x") }
      #expect(poet.full == "x")
    }
  }

  // Z3
  @Test func `a dependency with another root`() throws {
    try loop.turn { () throws in
      let settings = Cell(2)
      final class Shown: ObservableModel {
        nonisolated(unsafe) static var settings: Cell!
        static let properties = ModelProperties(for: Shown.self) {
          Property("size", get: { $0.size }, set: { $0.size = $1 })
          Property("shown", lazy: { $0.$shown }, from: [.init(settings, "source"), "size"]) {
            $0.size * settings.source
          }
        }
        let observation = ModelObservation()
        var size = 3 { didSet { observation.didSet(0, from: oldValue, to: size) } }
        @Lazy var shown: Int
      }
      Shown.settings = settings
      let shown = Shown()
      #expect(shown.shown == 6)
      settings.source = 4
      #expect(!shown.$shown.isValid && shown.shown == 12)
      var calls = 0
      try shown.observe("shown", in: loop) { _ in calls += 1 }
      settings.source = 5
      shown.size = 1
      loop.flush()
      #expect(calls == 1 && shown.shown == 5)
    }
  }

  // W1
  @Test func `dependencies are not counted as observers`() throws {
    try loop.turn { () throws in
      let (source, cell) = pair(false)
      var log: [String] = []
      cell.onObserved(in: loop) { key, isObserved in log.append("\(key) \(isObserved)") }
      source.onObserved(in: loop) { key, isObserved in log.append("source: \(key) \(isObserved)") }
      _ = try cell.$value.get()
      #expect(source.observerCount(of: "source") == 0 && source.observedKeys == [])
      let watcher = try cell.observe("value", in: loop) { _ in }
      #expect(cell.observerCount(of: "value") == 1 && cell.observedKeys == ["value"])
      #expect(source.observedKeys == [])
      watcher.stop()
      #expect(log == ["value true", "value false"])
    }
  }

  @Test func `a change without values invalidates`() throws {
    let cell = Cell(1)
    var calls = 0
    try loop.turn { try cell.observe("value", in: loop) { _ in calls += 1 } }
    loop.turn { cell.observation.didChange(0) }
    // The value is the same as before.
    #expect(calls == 0 && cell.runs == 2)
  }
}
