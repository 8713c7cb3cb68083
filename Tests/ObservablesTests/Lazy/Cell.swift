import Observables
import TestSupport

/// An element of long chains.
///
/// Its value is one more than the value of the cell on its left, or its source. The left cell is
/// held weakly: chains of strong references overflow the stack by themselves.
class Cell: ObservableModel {
  class var properties: ModelProperties { declared }
  private static let declared = ModelProperties(for: Cell.self) {
    Property("source", get: { $0.source }, set: { $0.source = $1 })
    Property("left", get: { $0.left }, set: { $0.left = $1 })
    Property("value", lazy: { $0.$value }, from: ["source", "left.value"]) { try $0.compute() }
  }
  let observation = ModelObservation()
  var source: Int {
    get {
      observation.access(0, of: self)
      return storedSource
    }
    set {
      let old = storedSource
      storedSource = newValue
      observation.didSet(0, from: old, to: newValue)
    }
  }
  var left: Cell? {
    get {
      observation.access(1, of: self)
      return storedLeft
    }
    set {
      let old = storedLeft
      storedLeft = newValue
      observation.didSet(1, from: old, to: newValue)
    }
  }
  @Lazy var value: Int

  private var storedSource: Int
  private weak var storedLeft: Cell?
  private let probe: LifetimeProbe?
  /// Code that the getter runs before it computes.
  var habit: ((Cell) throws -> Void)?
  private(set) var runs = 0

  required init(_ source: Int = 0, left: Cell? = nil, probe: LifetimeProbe? = nil) {
    (storedSource, storedLeft, self.probe) = (source, left, probe)
    probe?.born()
  }

  deinit { probe?.died() }

  fileprivate func compute() throws -> Int {
    runs += 1
    try habit?(self)
    guard let left else { return source }
    return try left.$value.get() + 1
  }

  /// A chain from its start to its end.
  static func chain(_ count: Int, probe: LifetimeProbe? = nil) -> [Cell] {
    var cells: [Cell] = [Self(1, probe: probe)]
    cells.reserveCapacity(count)
    for _ in 1..<count { cells.append(Self(left: cells.last, probe: probe)) }
    return cells
  }
}

/// A cell whose dependencies are found by tracking.
final class TrackedCell: Cell {
  override class var properties: ModelProperties { tracked }
  private static let tracked = ModelProperties(for: TrackedCell.self) {
    Property("source", get: { $0.source }, set: { $0.source = $1 })
    Property("left", get: { $0.left }, set: { $0.left = $1 })
    Property("value", tracked: { $0.$value }) { try $0.compute() }
  }
}
