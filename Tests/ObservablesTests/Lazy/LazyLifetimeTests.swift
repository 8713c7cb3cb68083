import Observables
import TestSupport
import Testing

/// L1–L6 with lazy properties: unreferenced objects are released, and unneeded properties have no
/// links.
@Suite struct LazyLifetimeTests {
  private let loop = Loop()
  private let probe = LifetimeProbe()

  private func tracked(_ isTracked: Bool, left: Cell? = nil) -> Cell {
    isTracked ? TrackedCell(left: left, probe: probe) : Cell(left: left, probe: probe)
  }

  @Test(arguments: [false, true]) func `an object with watched properties is released`(
    isTracked: Bool
  ) throws {
    try loop.turn { () throws in
      let source = tracked(isTracked)
      var ended: [String] = []
      do {
        let cell = tracked(isTracked, left: source)
        let options = WatcherOptions(onEnd: { ended.append("\($0)") })
        try cell.observe("value", in: loop, options: options) { _ in }
        try cell.observeImmediately("value", in: loop) { _, _ in }
        source.source = 2
        #expect(try cell.$value.get() == 3)
        loop.flush()
      }
      #expect(probe.alive == 1)
      source.source = 3
      loop.flush()
      loop.endTurn()
      while loop.step() {}
      #expect(ended == ["value"])
    }
    #expect(probe.alive == 0)
  }

  @Test(arguments: [false, true]) func `an object lives until its pending change is delivered`(
    isTracked: Bool
  ) throws {
    try loop.turn { () throws in
      let source = tracked(isTracked)
      var values: [Int] = []
      do {
        let cell = tracked(isTracked, left: source)
        try cell.observe("value", in: loop) { values.append($0.value) }
        source.source = 2
      }
      #expect(probe.alive == 2)
      loop.flush()
      #expect(values == [3])
      loop.endTurn()
      #expect(probe.alive == 1)
    }
  }

  @Test(arguments: [false, true]) func `a dependency does not keep its dependents alive`(
    isTracked: Bool
  ) throws {
    try loop.turn { () throws in
      let source = tracked(isTracked)
      for _ in 0..<100 {
        let cell = tracked(isTracked, left: source)
        #expect(try cell.$value.get() == 1)
      }
      loop.endTurn()
      #expect(probe.alive == 1)
      #expect(loop.statistics.observedObjects <= 1)
      source.source = 9
    }
  }

  @Test(arguments: [false, true]) func `a property notices the death of its dependency`(
    isTracked: Bool
  ) throws {
    try loop.turn { () throws in
      var source: Cell? = tracked(isTracked)
      let cell = tracked(isTracked, left: source)
      #expect(try cell.$value.get() == 1)
      source = nil
      loop.endTurn()
      // A weak reference becomes nil without a report.
      #expect(cell.left == nil)
      cell.$value.invalidate()
      #expect(try cell.$value.get() == 0)
    }
  }

  @Test func `a handle of a lazy property keeps its object alive`() throws {
    do {
      let value = Cell(5, probe: probe).$value
      #expect(try value.get() == 5 && value.isValid && probe.alive == 1)
      value.invalidate()
      #expect(value.peek == nil)
      #expect(try value.get() == 5)
    }
    #expect(probe.alive == 0)
  }

  @Test(arguments: [false, true]) func `a getter may drop the last reference to its object`(
    isTracked: Bool
  ) throws {
    try loop.turn { () throws in
      final class Holder {
        var cell: Cell?
      }
      let holder = Holder()
      holder.cell = tracked(isTracked)
      holder.cell!.habit = { _ in holder.cell = nil }
      let lazy = holder.cell!.$value
      #expect(try lazy.get() == 0)
      #expect(holder.cell == nil)
    }
    loop.endTurn()
    #expect(probe.alive == 0)
  }

  @Test(arguments: [false, true]) func `a callback may drop the last reference`(isTracked: Bool)
    throws
  {
    try loop.turn { () throws in
      var cells: [Cell] = []
      cells = [tracked(isTracked)]
      cells.append(tracked(isTracked, left: cells[0]))
      var calls: [String] = []
      try cells[0].observe("value", in: loop) { _ in
        calls.append("first")
        cells.removeLast()
      }
      try cells[1].observe("value", in: loop) { _ in calls.append("second") }
      cells[0].source = 1
      loop.flush()
      #expect(calls == ["first", "second"])
      // The closure holds its own object.
      cells = []
    }
    loop.endTurn()
    #expect(probe.alive == 0)
  }

  @Test func `rounds of computing, watching and dropping leave nothing`() throws {
    try loop.turn { () throws in
      let source = Cell()
      for round in 0..<Size.of(20_000, light: 1_000) {
        let cell = tracked(round % 2 == 0, left: source)
        let watcher = round % 3 == 0 ? try cell.observe("value", in: loop) { _ in } : nil
        source.source = round
        #expect(try cell.$value.get() == round + 1)
        if round % 5 == 0 { loop.flush() }
        if round % 7 == 0 { watcher?.stop() }
        if round % 11 == 0 { cell.$value.invalidate() }
        if round % 100 == 0 { loop.endTurn() }
      }
      loop.endTurn()
      #expect(probe.alive == 0)
      #expect(loop.statistics.watchers == 0)
      #expect(loop.statistics.observedObjects <= 1)
    }
  }
}
