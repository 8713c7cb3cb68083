import Foundation
import Observables
import TestSupport
import Testing

/// Z13: chains of computed properties that would overflow a stack.
///
/// The cells do not keep each other alive, and optimized code releases an array after its last use.
@Suite struct LazyDepthTests {
  private let loop = Loop()
  private let long = Size.of(50_000, light: 20_000)
  /// The thread sanitizer follows no more than 65,536 calls.
  private let deep = Size.of(10_000, light: 1_000)

  @Test func `a long chain of declared properties is computed, invalidated and delivered`() throws {
    try loop.turn { () throws in
      let cells = Cell.chain(long)
      defer { withExtendedLifetime(cells) {} }
      #expect(try cells[long - 1].$value.get() == long)
      cells[0].source = 5
      #expect(!cells[long - 1].$value.isValid)
      #expect(try cells[long - 1].$value.get() == long + 4)
      var calls = 0
      let watcher = try cells[long - 1].observe("value", in: loop) { _ in calls += 1 }
      cells[0].source = 6
      loop.flush()
      #expect(calls == 1 && cells[long - 1].value == long + 5)
      watcher.stop()
      cells[long / 2].$value.invalidate()
      #expect(try cells[long - 1].$value.get() == long + 5)
      #expect(cells[0].runs == 3 && cells[long - 1].runs == 3)
    }
  }

  @Test func `a long chain can be observed before it is computed`() throws {
    try loop.turn { () throws in
      let cells = Cell.chain(long)
      defer { withExtendedLifetime(cells) {} }
      var values: [Int] = []
      try cells[long - 1].observe("value", in: loop) { values.append($0.value) }
      cells[0].source = 2
      loop.flush()
      try cells[long - 1].observeImmediately("value", in: loop) { cell, _ in
        values.append(-cell.value)
      }
      cells[0].source = 3
      loop.flush()
      #expect(values == [long + 1, -long - 2, long + 2])
    }
  }

  @Test(arguments: ["from its start", "from its end", "at once"])
  func `a long chain is released`(way: String) throws {
    let probe = LifetimeProbe()
    try loop.turn { () throws in
      var cells = Cell.chain(long, probe: probe)
      #expect(try cells[long - 1].$value.get() == long)
      withExtendedLifetime(cells) {}
      switch way {
      case "from its start": for index in cells.indices { cells[index] = cells[long - 1] }
      case "from its end": while cells.popLast() != nil {}
      default: break
      }
    }
    loop.flush()
    #expect(probe.alive == 0)
    #expect(loop.statistics.observedObjects == 0)
  }

  @Test func `a long chain outlives its loop`() throws {
    var cells: [Cell] = []
    let probe = LifetimeProbe()
    do {
      let other = Loop()
      try other.turn { () throws in
        cells = Cell.chain(long, probe: probe)
        #expect(try cells[long - 1].$value.get() == long)
      }
    }
    withExtendedLifetime(cells) {}
    cells = []
    #expect(probe.alive == 0)
  }

  @Test func `10,000 cold tracked getters compute, and any number of warm ones`() async throws {
    let (long, deep) = (long, deep)
    try await onLargeStack {
      let cells = TrackedCell.chain(deep)
      defer { withExtendedLifetime(cells) {} }
      #expect(try cells[deep - 1].$value.get() == deep)
      cells[0].source = 2
      #expect(try cells[deep - 1].$value.get() == deep + 1)
      let more = TrackedCell.chain(long)
      defer { withExtendedLifetime(more) {} }
      // Cold getters are read in steps.
      for index in stride(from: deep / 2, to: long, by: deep / 2) {
        _ = try more[index].$value.get()
      }
      more[0].source = 3
      #expect(!more[long - 1].$value.isValid)
      #expect(try more[long - 1].$value.get() == long + 2)
    }
  }

  @Test func `cold tracked getters that are too deep are an error that names the chain`()
    async throws
  {
    let step = deep / 2
    try await onLargeStack {
      let cells = TrackedCell.chain(30_000)
      defer { withExtendedLifetime(cells) {} }
      let error = #expect(throws: LazyError.self) { try cells[29_999].$value.get() }
      #expect("\(error!)".contains("'value'"))
      #expect("\(error!)".contains("deep"))
      #expect(!cells[29_999].$value.isValid)
      // Other chains still work, and so does this one, a part at a time.
      for index in stride(from: step, to: 30_000, by: step) { _ = try cells[index].$value.get() }
      #expect(try cells[29_999].$value.get() == 30_000)
    }
  }

  @Test func `an error at the start of a long chain reaches its end`() throws {
    try loop.turn { () throws in
      let cells = Cell.chain(long)
      defer { withExtendedLifetime(cells) {} }
      cells[0].habit = { _ in throw Failure() }
      #expect(throws: Failure.self) { try cells[long - 1].$value.get() }
      cells[0].habit = nil
      #expect(try cells[long - 1].$value.get() == long)
    }
  }

  @Test func `a long ring is an error`() throws {
    try loop.turn { () throws in
      let cells = Cell.chain(10_000)
      defer { withExtendedLifetime(cells) {} }
      cells[0].left = cells[9_999]
      #expect(throws: LazyError.self) { try cells[5_000].$value.get() }
      cells[0].left = nil
      #expect(try cells[9_999].$value.get() == 10_000)
    }
  }

  private struct Failure: Error {}
}

/// Runs a turn of a loop on a thread whose stack has room for native computations of a debug build.
private func onLargeStack(_ body: @escaping @Sendable () throws -> Void) async throws {
  try await withCheckedThrowingContinuation { continuation in
    let thread = Thread { continuation.resume(with: Result { try Loop().turn(body) }) }
    thread.stackSize = Size.of(256, light: 16) << 20
    thread.start()
  }
}
