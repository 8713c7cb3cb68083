import Observables

/// Adds one of two cells repeatedly, depending on a third cell.
class Switching: Cell {
  private static let declared = ModelProperties(for: Switching.self) {
    Property("selector", get: { $0.selector })
    Property("odd", get: { $0.odd })
    Property("even", get: { $0.even })
    Property("value", lazy: { $0.$result }, from: ["selector.value", "odd.value", "even.value"]) {
      $0.evaluate()
    }
  }
  fileprivate static let tracked = ModelProperties(for: Switching.self) {
    Property("value", tracked: { $0.$result }) { $0.evaluate() }
  }
  override class var properties: ModelProperties { declared }
  private let selector: Cell
  private let odd: Cell
  private let even: Cell
  private let times: Int
  @Lazy private var result: Int

  required init(_ selector: Cell, odd: Cell, even: Cell, times: Int) {
    (self.selector, self.odd, self.even, self.times) = (selector, odd, even, times)
  }

  final override var value: Int { result }

  private func evaluate() -> Int {
    var sum = 0
    for _ in 0..<times { sum &+= selector.value & 1 == 1 ? odd.value : even.value }
    return sum
  }
}

final class TrackedSwitching: Switching {
  override class var properties: ModelProperties { tracked }
}

/// One more than a cell, after some work.
class Busy: Cell {
  private static let declared = ModelProperties(for: Busy.self) {
    Property("left", get: { $0.left })
    Property("value", lazy: { $0.$result }, from: ["left.value"]) { $0.evaluate() }
  }
  fileprivate static let tracked = ModelProperties(for: Busy.self) {
    Property("value", tracked: { $0.$result }) { $0.evaluate() }
  }
  override class var properties: ModelProperties { declared }
  private let left: Cell
  private let work: () -> Void
  @Lazy private var result: Int

  required init(_ left: Cell, work: @escaping () -> Void) { (self.left, self.work) = (left, work) }

  final override var value: Int { result }

  private func evaluate() -> Int {
    work()
    return left.value &+ 1
  }
}

final class TrackedBusy: Busy {
  override class var properties: ModelProperties { tracked }
}

/// The values of many cells as one list.
class Packed: ObservableModel {
  private static let declared = ModelProperties(for: Packed.self) {
    Property("inputs", get: { $0.inputs })
    Property("list", lazy: { $0.$list }, from: ["inputs.value"]) { $0.evaluate() }
  }
  fileprivate static let tracked = ModelProperties(for: Packed.self) {
    Property("list", tracked: { $0.$list }) { $0.evaluate() }
  }
  class var properties: ModelProperties { declared }
  let observation = ModelObservation()
  private let inputs: ObservableArray<Cell>
  @Lazy var list: [Int]

  required init(_ inputs: [Cell]) { self.inputs = ObservableArray(inputs) }

  private func evaluate() -> [Int] { inputs.map(\.value) }
}

final class TrackedPacked: Packed {
  override class var properties: ModelProperties { tracked }
}

/// One value of such a list.
class Picked: Cell {
  private static let declared = ModelProperties(for: Picked.self) {
    Property("packed", get: { $0.packed })
    Property("value", lazy: { $0.$result }, from: ["packed.list"]) { $0.evaluate() }
  }
  fileprivate static let tracked = ModelProperties(for: Picked.self) {
    Property("value", tracked: { $0.$result }) { $0.evaluate() }
  }
  override class var properties: ModelProperties { declared }
  private let packed: Packed
  private let index: Int
  @Lazy private var result: Int

  required init(_ packed: Packed, at index: Int) { (self.packed, self.index) = (packed, index) }

  final override var value: Int { result }
  private func evaluate() -> Int { packed.list[index] }
}

final class TrackedPicked: Picked {
  override class var properties: ModelProperties { tracked }
}
