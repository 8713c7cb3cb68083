import Observables

/// Makes the nodes of a shape, with declared or tracked dependencies.
struct ShapeGraph {
  let isTracked: Bool
  let loop: Loop

  static func all(in loop: Loop) -> [ShapeGraph] {
    [ShapeGraph(isTracked: false, loop: loop), ShapeGraph(isTracked: true, loop: loop)]
  }

  var name: String { isTracked ? "tracked" : "declared" }

  func plus(_ left: Cell, _ amount: Int) -> Cell { scaled(left, by: 1, plus: amount) }

  func scaled(_ left: Cell, by factor: Int, plus amount: Int = 0) -> Cell {
    (isTracked ? TrackedScaled.self : Scaled.self).init(left, factor: factor, amount: amount)
  }

  func add(_ left: Cell, _ right: Cell, factor: Int = 1) -> Cell {
    (isTracked ? TrackedJoined.self : Joined.self).init(left, right, factor: factor)
  }

  func sum(_ inputs: [Cell]) -> Cell {
    (isTracked ? TrackedSummed.self : Summed.self).init(inputs)
  }

  func repeated(_ left: Cell, times: Int) -> Cell {
    (isTracked ? TrackedRepeated.self : Repeated.self).init(left, times: times)
  }

  func switching(_ selector: Cell, odd: Cell, even: Cell, times: Int) -> Cell {
    (isTracked ? TrackedSwitching.self : Switching.self).init(
      selector, odd: odd, even: even, times: times)
  }

  func busy(_ left: Cell, _ work: @escaping () -> Void) -> Cell {
    (isTracked ? TrackedBusy.self : Busy.self).init(left, work: work)
  }

  func packed(_ inputs: [Cell]) -> Packed {
    (isTracked ? TrackedPacked.self : Packed.self).init(inputs)
  }

  func picked(_ packed: Packed, at index: Int) -> Cell {
    (isTracked ? TrackedPicked.self : Picked.self).init(packed, at: index)
  }

  /// Calls `body` with the value of a cell each time it changes.
  func effect(_ cell: Cell, _ body: @escaping (Int) -> Void) throws {
    try cell.observe("value", in: loop) { body($0.value) }
  }

  /// Writes, and runs the effects.
  func write(_ value: Int, to source: Source) {
    source.value = value
    loop.flush()
  }
}
