/// The state of one operator (C9): the contributions of its members, so that a member that comes,
/// leaves or changes costs O(log n) at most.
package struct Aggregate {
  /// The value of an operator.
  package enum Value: Equatable {
    case none
    case integer(Int)
    case float(Double)
    case boolean(Bool)
    case text([UInt8])
    indirect case value(AnyHashable)
    /// A union: its contents are read from the members.
    case list
    /// The operator cannot take one of the values.
    case failure(Operand)
  }

  private let operation: Operation
  private var state: State
  /// The last value that `takeChange` saw, for an operator with a single value.
  package var delivered: Value
  /// The failure that `takeChange` saw since.
  private var failure: Value?

  private enum State {
    case total(Total)
    case extreme(Extreme)
    case truth(Truth)
    case union(Union)
  }

  /// The state for no members.
  package init(_ operation: Operation) {
    self.operation = operation
    state = Aggregate.initialState(of: operation)
    delivered = .none
    delivered = value
  }

  private static func initialState(of operation: Operation) -> State {
    switch operation {
    case .sum, .avg: .total(Total())
    case .min, .max: .extreme(Extreme(isLargest: operation == .max))
    case .any, .all: .truth(Truth())
    case .unionOfObjects, .distinctUnionOfObjects, .unionOfArrays, .distinctUnionOfArrays,
      .unionOfSets, .distinctUnionOfSets:
      .union(Union(isDistinct: operation.isDistinct))
    case .count, .first, .last:
      preconditionFailure("'@\(operation)' puts no values together")
    }
  }

  /// How many different values are kept.
  var size: Int {
    switch state {
    case .total, .truth: 0
    case .extreme(let extreme): extreme.size
    case .union(let union): union.size
    }
  }

  /// Adds a member with this value, which came.
  package mutating func add(_ operand: Operand, times: Int = 1) { change(operand, by: times) }

  /// Removes a member with this value, which left.
  package mutating func remove(_ operand: Operand, times: Int = 1) { change(operand, by: -times) }

  private mutating func change(_ operand: Operand, by count: Int) {
    switch state {
    case .total(var total):
      state = .truth(Truth())
      total.change(operand, by: count)
      state = .total(total)
    case .extreme(var extreme):
      state = .truth(Truth())
      extreme.change(operand, by: count)
      state = .extreme(extreme)
    case .truth(var truth):
      truth.change(operand, by: count)
      state = .truth(truth)
    case .union(var union):
      state = .truth(Truth())
      union.change(operand, by: count)
      state = .union(union)
    }
  }

  /// Removes all members.
  package mutating func removeAll() {
    guard case .union(var union) = state else {
      state = Aggregate.initialState(of: operation)
      return
    }
    state = .truth(Truth())
    union.removeAll()
    state = .union(union)
  }

  /// Notes that the members are in another order, which matters to a union that keeps it.
  package mutating func noteOrder() {
    guard case .union(var union) = state else { return }
    union.isReordered = true
    state = .union(union)
  }

  /// The value now.
  ///
  /// - Complexity: O(log n), amortized.
  package var value: Value {
    mutating get {
      switch state {
      case .total(var total):
        state = .truth(Truth())
        defer { state = .total(total) }
        return total.value(isAverage: operation == .avg)
      case .extreme(var extreme):
        state = .truth(Truth())
        defer { state = .extreme(extreme) }
        return extreme.value
      case .truth(let truth):
        return .boolean(operation == .any ? truth.trues > 0 : truth.falses == 0)
      case .union:
        return .list
      }
    }
  }

  /// Makes the present value the one to compare with first; a failure is no value, and any value
  /// differs from it.
  package mutating func begin() {
    if case .union = state {
      _ = takeChange()
      return
    }
    delivered = value
    if case .failure = delivered { failure = delivered }
  }

  /// Whether the value is another one than at the last call, or at `begin()`.
  package mutating func takeChange() -> Bool {
    if case .union(var union) = state {
      state = .truth(Truth())
      defer { state = .union(union) }
      return union.takeChange()
    }
    let value = value
    if case .failure = value {
      // Each failure is reported once; the value before it stays the one to compare with.
      defer { failure = value }
      return failure != value
    }
    failure = nil
    defer { delivered = value }
    return !Aggregate.isSame(value, delivered)
  }

  /// Whether two values are the same: NaN equals NaN, and 1 equals 1.0 (T5).
  private static func isSame(_ a: Value, _ b: Value) -> Bool {
    switch (a, b) {
    case (.float(let a), .float(let b)): a == b || a.isNaN && b.isNaN
    case (.integer(let a), .float(let b)), (.float(let b), .integer(let a)):
      Double(a) == b && Int(exactly: b) == a
    default: a == b
    }
  }
}

extension Aggregate {
  /// The state of `@sum` and `@avg`.
  private struct Total {
    /// The sum of the integers, wide enough for 2^63 of them.
    private var integers: Int128 = 0
    private var integerCount = 0
    private var floatCount = 0
    /// The sum of the floats; nil while there are none.
    private var floats: ExactSum?
    private var failures = Failures()

    mutating func change(_ operand: Operand, by count: Int) {
      switch operand {
      case .none: break
      case .integer(let number):
        integers &+= Int128(number) * Int128(count)
        integerCount += count
      case .float(let number):
        if floats == nil { floats = ExactSum() }
        floats!.add(number, times: count)
        floatCount += count
        if floatCount == 0 { floats = nil }
      default: failures.change(operand, by: count)
      }
    }

    mutating func value(isAverage: Bool) -> Value {
      if let failure = failures.first { return .failure(failure) }
      if isAverage {
        let count = integerCount + floatCount
        return count <= 0 ? .none : .float(exactValue(dividedBy: count))
      }
      // A sum of integers only wraps around.
      if floatCount == 0 { return .integer(Int(truncatingIfNeeded: integers)) }
      return .float(exactValue(dividedBy: 1))
    }

    private mutating func exactValue(dividedBy divisor: Int) -> Double {
      if floats == nil, integers.magnitude <= 1 << 53, divisor <= 1 << 53 {
        return Double(integers) / Double(divisor)
      }
      if floats != nil, integers == 0 { return floats!.divided(by: divisor) }
      var all = floats ?? ExactSum()
      all.add(integers)
      return all.divided(by: divisor)
    }
  }

  /// The state of `@any` and `@all`.
  private struct Truth {
    var trues = 0
    var falses = 0

    mutating func change(_ operand: Operand, by count: Int) {
      switch operand {
      case .none, .boolean(false): falses += count
      default: trues += count
      }
    }
  }

  /// The state of unions: how often each value is there.
  private struct Union {
    let isDistinct: Bool
    /// How often each value is there; a float with an integer's value counts as that integer.
    private var counts: [Operand: Int] = [:]
    /// The differences between the counts and those at the last delivery.
    private var changes: [Operand: Int] = [:]
    var isReordered = false

    init(isDistinct: Bool) { self.isDistinct = isDistinct }

    var size: Int { counts.count + changes.count }

    mutating func change(_ operand: Operand, by count: Int) {
      if operand == .none { return }
      let operand = operand.normalized
      counts.change(operand, by: count)
      changes.change(operand, by: count)
      // An empty dictionary would keep its memory.
      if counts.isEmpty { counts = [:] }
    }

    mutating func removeAll() {
      for (operand, count) in counts { changes.change(operand, by: -count) }
      counts = [:]
    }

    mutating func takeChange() -> Bool {
      defer {
        changes = [:]
        isReordered = false
      }
      if !isDistinct { return isReordered || !changes.isEmpty }
      return changes.contains { operand, change in
        let count = counts[operand] ?? 0
        return (count > 0) != (count > change)
      }
    }
  }
}

extension Operand {
  /// The operand that stands for all equal ones: 1 for 1.0.
  var normalized: Operand {
    guard case .float(let number) = self, let integer = Int(exactly: number) else { return self }
    return .integer(integer)
  }
}

extension Dictionary<Operand, Int> {
  /// Changes a count; none is kept at 0.
  fileprivate mutating func change(_ operand: Operand, by count: Int) {
    let sum = (self[operand] ?? 0) + count
    self[operand] = sum == 0 ? nil : sum
  }
}
