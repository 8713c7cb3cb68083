import Observables

/// A node of the graphs in the cases of lazy properties, with declared dependencies.
class GraphNode: ObservableModel {
  class var properties: ModelProperties { declared }
  private static let declared = ModelProperties(for: GraphNode.self) {
    Property("source", get: { $0.source }, set: { $0.source = $1 })
    Property("left", get: { $0.left }, set: { $0.left = $1 })
    Property("right", get: { $0.right }, set: { $0.right = $1 })
    Property("inputs", get: { $0.inputs }, set: { $0.inputs = $1 })
    Property(
      "value", lazy: { $0.$value }, from: ["source", "left.value", "right.value", "inputs.value"]
    ) { try $0.compute() }
    Property("deep", lazy: { $0.$deep }, from: ["left.left.source"]) { $0.computeDeep() }
    Property("total", lazy: { $0.$total }, from: ["inputs.@sum.value"]) { try $0.computeTotal() }
    Property("double", lazy: { $0.$double }, from: ["value"], isCached: false) {
      try $0.computeDouble()
    }
    Property("kept", lazy: { $0.$kept }) { $0.computeKept() }
  }
  let observation = ModelObservation()

  var source: Int {
    get { read(0, \.source) }
    set { observation.didSet(0, from: exchange(\.source, newValue), to: newValue) }
  }
  var left: GraphNode? {
    get { read(1, \.left) }
    set { observation.didSet(1, from: exchange(\.left, newValue), to: newValue) }
  }
  var right: GraphNode? {
    get { read(2, \.right) }
    set { observation.didSet(2, from: exchange(\.right, newValue), to: newValue) }
  }
  var inputs: Inputs? {
    get { read(3, \.inputs) }
    set { observation.didSet(3, from: exchange(\.inputs, newValue), to: newValue) }
  }
  @Lazy var value: Int
  @Lazy var deep: Int
  @Lazy var total: Int
  @Lazy var double: Int
  @Lazy var kept: Int

  private struct Stored {
    var source: Int
    var left, right: GraphNode?
    var inputs: Inputs?
  }
  private var stored: Stored
  private let operation: GraphOperation
  /// The number of computations of each property.
  private(set) var runs: [String: Int] = [:]

  typealias Inputs = ObservableArray<GraphNode>

  required init(_ operation: GraphOperation, source: Int) {
    self.operation = operation
    stored = Stored(source: source)
  }

  private func read<Value>(_ slot: Int, _ path: KeyPath<Stored, Value>) -> Value {
    observation.access(slot, of: self)
    return stored[keyPath: path]
  }

  /// Stores a value, and returns the former one.
  private func exchange<Value>(_ path: WritableKeyPath<Stored, Value>, _ value: Value) -> Value {
    defer { stored[keyPath: path] = value }
    return stored[keyPath: path]
  }

  func lazy(_ name: String) throws -> LazyHandle<Int> {
    switch name {
    case "value": $value
    case "deep": $deep
    case "total": $total
    case "double": $double
    case "kept": $kept
    default: throw CaseError("a node has no lazy property \(name)")
    }
  }

  /// Nodes may hold each other.
  func unlink() { (left, right, inputs) = (nil, nil, nil) }

  // MARK: Getters

  private func leftValue() throws -> Int { try left?.$value.get() ?? 0 }

  fileprivate func compute() throws -> Int {
    runs["value", default: 0] += 1
    switch operation {
    case .source: return source
    case .sum:
      var sum = source
      if let left { sum += try left.$value.get() }
      if let right { sum += try right.$value.get() }
      if let inputs { for node in inputs { sum += try node.$value.get() } }
      return sum
    case .choose:
      if try leftValue() == 0 { return source }
      return try right?.$value.get() ?? 0
    case .sign: return try leftValue().signum()
    case .root:
      let value = try leftValue()
      if value < 0 { throw CaseError("no root of \(value)") }
      return value
    case .careful: return (try? leftValue()) ?? -1000
    }
  }

  fileprivate func computeDeep() -> Int {
    runs["deep", default: 0] += 1
    return left?.left?.source ?? 0
  }

  fileprivate func computeTotal() throws -> Int {
    runs["total", default: 0] += 1
    return try (inputs.map(Array.init) ?? []).reduce(0) { try $0 + $1.$value.get() }
  }

  fileprivate func computeDouble() throws -> Int {
    runs["double", default: 0] += 1
    return try $value.get() * 2
  }

  fileprivate func computeKept() -> Int {
    runs["kept", default: 0] += 1
    return source
  }
}

/// The functions that nodes compute.
enum GraphOperation: String {
  case source, sum, choose, sign, root, careful
}

/// A node whose dependencies are found by tracking.
final class TrackedNode: GraphNode {
  override class var properties: ModelProperties { tracked }
  private static let tracked = ModelProperties(for: TrackedNode.self) {
    Property("source", get: { $0.source }, set: { $0.source = $1 })
    Property("left", get: { $0.left }, set: { $0.left = $1 })
    Property("right", get: { $0.right }, set: { $0.right = $1 })
    Property("inputs", get: { $0.inputs }, set: { $0.inputs = $1 })
    Property("value", tracked: { $0.$value }) { try $0.compute() }
    Property("deep", tracked: { $0.$deep }) { $0.computeDeep() }
    Property("total", tracked: { $0.$total }) { try $0.computeTotal() }
    Property("double", lazy: { $0.$double }, from: ["value"], isCached: false) {
      try $0.computeDouble()
    }
    Property("kept", lazy: { $0.$kept }) { $0.computeKept() }
  }
}
