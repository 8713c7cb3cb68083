import Observables

/// A node of a graph of integers.
///
/// Paths and getters use this class for all kinds of nodes.
class Cell: ObservableModel {
  class var properties: ModelProperties { fatalError("A cell has properties of its own") }
  let observation = ModelObservation()
  var value: Int { fatalError("A cell has a value of its own") }
}

/// A writable node.
final class Source: Cell {
  private static let own = ModelProperties(for: Source.self) {
    Property("value", get: { $0.value }, set: { $0.value = $1 })
  }
  override class var properties: ModelProperties { own }
  private var stored: Int

  init(_ value: Int) { stored = value }

  override var value: Int {
    get {
      observation.access(0, of: self)
      return stored
    }
    set {
      let old = stored
      stored = newValue
      observation.didSet(0, from: old, to: newValue)
    }
  }
}

/// `left * factor + amount`.
///
/// Each of these classes declares its dependencies; its subclass tracks them.
class Scaled: Cell {
  private static let declared = ModelProperties(for: Scaled.self) {
    Property("left", get: { $0.left })
    Property("value", lazy: { $0.$result }, from: ["left.value"]) { $0.evaluate() }
  }
  fileprivate static let tracked = ModelProperties(for: Scaled.self) {
    Property("value", tracked: { $0.$result }) { $0.evaluate() }
  }
  override class var properties: ModelProperties { declared }
  private let left: Cell
  private let factor: Int
  private let amount: Int
  @Lazy private var result: Int

  required init(_ left: Cell, factor: Int, amount: Int) {
    (self.left, self.factor, self.amount) = (left, factor, amount)
  }

  final override var value: Int { result }
  private func evaluate() -> Int { left.value &* factor &+ amount }
}

final class TrackedScaled: Scaled {
  override class var properties: ModelProperties { tracked }
}

/// `left + right * factor`.
class Joined: Cell {
  private static let declared = ModelProperties(for: Joined.self) {
    Property("left", get: { $0.left })
    Property("right", get: { $0.right })
    Property("value", lazy: { $0.$result }, from: ["left.value", "right.value"]) { $0.evaluate() }
  }
  fileprivate static let tracked = ModelProperties(for: Joined.self) {
    Property("value", tracked: { $0.$result }) { $0.evaluate() }
  }
  override class var properties: ModelProperties { declared }
  private let left: Cell
  private let right: Cell
  private let factor: Int
  @Lazy private var result: Int

  required init(_ left: Cell, _ right: Cell, factor: Int) {
    (self.left, self.right, self.factor) = (left, right, factor)
  }

  final override var value: Int { result }
  private func evaluate() -> Int { left.value &+ right.value &* factor }
}

final class TrackedJoined: Joined {
  override class var properties: ModelProperties { tracked }
}

/// The sum of any number of cells.
class Summed: Cell {
  private static let declared = ModelProperties(for: Summed.self) {
    Property("inputs", get: { $0.inputs })
    Property("value", lazy: { $0.$result }, from: ["inputs.value"]) { $0.evaluate() }
  }
  fileprivate static let tracked = ModelProperties(for: Summed.self) {
    Property("value", tracked: { $0.$result }) { $0.evaluate() }
  }
  override class var properties: ModelProperties { declared }
  private let inputs: ObservableArray<Cell>
  @Lazy private var result: Int

  required init(_ inputs: [Cell]) { self.inputs = ObservableArray(inputs) }

  final override var value: Int { result }
  private func evaluate() -> Int { inputs.reduce(0) { $0 &+ $1.value } }
}

final class TrackedSummed: Summed {
  override class var properties: ModelProperties { tracked }
}

/// The sum of repeated reads of one cell.
class Repeated: Cell {
  private static let declared = ModelProperties(for: Repeated.self) {
    Property("left", get: { $0.left })
    Property("value", lazy: { $0.$result }, from: ["left.value"]) { $0.evaluate() }
  }
  fileprivate static let tracked = ModelProperties(for: Repeated.self) {
    Property("value", tracked: { $0.$result }) { $0.evaluate() }
  }
  override class var properties: ModelProperties { declared }
  private let left: Cell
  private let times: Int
  @Lazy private var result: Int

  required init(_ left: Cell, times: Int) { (self.left, self.times) = (left, times) }

  final override var value: Int { result }

  private func evaluate() -> Int {
    var sum = 0
    for _ in 0..<times { sum &+= left.value }
    return sum
  }
}

final class TrackedRepeated: Repeated {
  override class var properties: ModelProperties { tracked }
}
