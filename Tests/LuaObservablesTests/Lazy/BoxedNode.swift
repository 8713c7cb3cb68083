import Lua
import LuaObservables
import Observables

/// A Swift node in a graph of tables.
///
/// It refers to boxes, which are tables whose `it` is a table or a Swift object, and to a list of
/// either.
final class BoxedNode: ObservableModel {
  static let properties = ModelProperties(for: BoxedNode.self) {
    Property("source", get: { $0.source }, set: { $0.source = $1 })
    Property("left", get: { $0.left }, set: { $0.left = $1 })
    Property("right", get: { $0.right }, set: { $0.right = $1 })
    Property("inputs", get: { $0.inputs }, set: { $0.inputs = $1 })
    Property(
      "value", lazy: { $0.$value },
      from: ["source", "left.it.value", "right.it.value", "inputs.*.value"]
    ) { try $0.compute() }
    Property("deep", lazy: { $0.$deep }) { $0.computed("deep", 0) }
    Property("total", lazy: { $0.$total }, from: ["inputs.@sum.value"]) { try $0.computeTotal() }
    Property("double", lazy: { $0.$double }, from: ["value"], isCached: false) {
      try $0.computed("double", $0.$value.get() * 2)
    }
    Property("kept", lazy: { $0.$kept }) { $0.computed("kept", $0.source) }
  }
  let observation = ModelObservation()
  var source: Int { didSet { observation.didSet(0, from: oldValue, to: source) } }
  var left: LuaTable? { didSet { observation.didSet(1, from: oldValue, to: left) } }
  var right: LuaTable? { didSet { observation.didSet(2, from: oldValue, to: right) } }
  var inputs: LuaTable? { didSet { observation.didSet(3, from: oldValue, to: inputs) } }
  @Lazy var value: Int
  @Lazy var deep: Int
  @Lazy var total: Int
  @Lazy var double: Int
  @Lazy var kept: Int

  private let operation: GraphOperation
  private unowned let host: LuaHost
  /// The number of computations of each property.
  private(set) var runs: [String: Int] = [:]

  init(_ operation: GraphOperation, source: Int, host: LuaHost) {
    self.operation = operation
    self.source = source
    self.host = host
  }

  private func computed(_ name: String, _ value: Int) -> Int {
    runs[name, default: 0] += 1
    return value
  }

  private func value(of box: LuaTable?) throws -> Int {
    guard let box else { return 0 }
    return try number(host.value(of: box, at: "it.value"))
  }

  private func values(of list: LuaTable?) throws -> [Int] {
    guard let list else { return [] }
    return try (0..<list.length).map { try number(host.value(of: list, at: Path("#\($0).value"))) }
  }

  private func number(_ value: LuaValue) throws -> Int {
    guard case .integer(let number) = value else { throw CaseError("\(value) is no number") }
    return Int(number)
  }

  private func compute() throws -> Int {
    runs["value", default: 0] += 1
    switch operation {
    case .source: return source
    case .sum:
      return try values(of: inputs).reduce(source + value(of: left) + value(of: right), +)
    case .choose: return try value(of: left) == 0 ? source : value(of: right)
    case .sign: return try value(of: left).signum()
    case .root:
      let value = try value(of: left)
      if value < 0 { throw CaseError("no root of \(value)") }
      return value
    case .careful: return (try? value(of: left)) ?? -1000
    }
  }

  private func computeTotal() throws -> Int {
    runs["total", default: 0] += 1
    return try values(of: inputs).reduce(0, +)
  }
}
