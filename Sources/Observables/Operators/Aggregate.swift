/// The state of one operator (C9); it keeps the contributions of the members, so an added, removed
/// or changed member costs at most O(log n).
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
    /// The operator cannot accept one of the values.
    case failure(Operand)
  }

  private let operation: Operation
  private var contributions: any Contributions
  /// For an operator with a single value, the last value that `takeChange` saw.
  package var delivered: Value
  /// The failure that `takeChange` has seen since then.
  private var failure: Value?

  /// Makes the state for no members.
  package init(_ operation: Operation) {
    self.operation = operation
    contributions = Aggregate.noContributions(to: operation)
    delivered = .none
    delivered = value
  }

  private static func noContributions(to operation: Operation) -> any Contributions {
    switch operation {
    case .sum, .avg: Total(isAverage: operation == .avg)
    case .min, .max: Extreme(isLargest: operation == .max)
    case .any, .all: Truth(isAny: operation == .any)
    case .unionOfObjects, .distinctUnionOfObjects, .unionOfArrays, .distinctUnionOfArrays,
      .unionOfSets, .distinctUnionOfSets:
      Union(isDistinct: operation.isDistinct)
    case .count, .first, .last:
      preconditionFailure("'@\(operation)' does not combine values")
    }
  }

  /// The number of different values that are kept.
  var size: Int { contributions.size }

  package mutating func add(_ operand: Operand, times: Int = 1) { change(operand, by: times) }

  package mutating func remove(_ operand: Operand, times: Int = 1) { change(operand, by: -times) }

  private mutating func change(_ operand: Operand, by count: Int) {
    contributions.change(operand, by: count)
  }

  package mutating func removeAll() {
    if !contributions.removeAll() { contributions = Aggregate.noContributions(to: operation) }
  }

  /// Notes that the order of the members has changed, which matters to a union that keeps it.
  package mutating func noteOrder() { contributions.noteOrder() }

  /// The current value.
  ///
  /// - Complexity: O(log n), amortized.
  package var value: Value { mutating get { contributions.value } }

  /// Makes the current value the first one to compare with; a failure is not a value, so any value
  /// differs from it.
  package mutating func begin() {
    if contributions.takeChange() != nil { return }
    delivered = value
    if case .failure = delivered { failure = delivered }
  }

  /// Whether the value differs from the value at the last call, or at `begin()`.
  ///
  /// With `afterFailure`, a value after a failure differs from the value before it, too.
  package mutating func takeChange(afterFailure: Bool = false) -> Bool {
    if let hasChanged = contributions.takeChange() { return hasChanged }
    let value = value
    if case .failure = value {
      // Each failure is reported once. Later values are compared with the value before it.
      defer { failure = value }
      return failure != value
    }
    defer { (delivered, failure) = (value, nil) }
    return afterFailure && failure != nil || !Aggregate.isSame(value, delivered)
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

/// The contributions of the members to an operator.
///
/// This is not an enum because its tag would occupy the unused bits of a pointer, and leak checkers
/// would not recognize the pointer.
private protocol Contributions {
  mutating func change(_ operand: Operand, by count: Int)
  var value: Aggregate.Value { mutating get }
  var size: Int { get }
  /// Removes all contributions; returns false if the caller should make the initial state instead.
  mutating func removeAll() -> Bool
  mutating func noteOrder()
  /// Whether a list has changed since the last call; nil for an operator with a single value.
  mutating func takeChange() -> Bool?
}

extension Contributions {
  var size: Int { 0 }
  func removeAll() -> Bool { false }
  func noteOrder() {}
  func takeChange() -> Bool? { nil }
}

extension Aggregate.Extreme: Contributions {}

extension Aggregate {
  /// The state of `@sum` and `@avg`.
  private struct Total: Contributions {
    let isAverage: Bool
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

    init(isAverage: Bool) { self.isAverage = isAverage }

    var value: Value {
      mutating get {
        if let failure = failures.first { return .failure(failure) }
        if isAverage {
          let count = integerCount + floatCount
          return count <= 0 ? .none : .float(exactValue(dividedBy: count))
        }
        // A sum of integers alone wraps around.
        if floatCount == 0 { return .integer(Int(truncatingIfNeeded: integers)) }
        return .float(exactValue(dividedBy: 1))
      }
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
  private struct Truth: Contributions {
    let isAny: Bool
    private var trues = 0
    private var falses = 0
    private var failures = Failures()

    init(isAny: Bool) { self.isAny = isAny }

    var value: Value {
      mutating get {
        if let failure = failures.first { return .failure(failure) }
        return .boolean(isAny ? trues > 0 : falses == 0)
      }
    }

    mutating func change(_ operand: Operand, by count: Int) {
      switch operand {
      case .none, .boolean(false): falses += count
      case .failed: failures.change(operand, by: count)
      default: trues += count
      }
    }
  }

  /// The state of unions.
  private struct Union: Contributions {
    let isDistinct: Bool
    /// The number of times each value occurs; a float with an integer's value counts as that
    /// integer.
    private var counts: [Operand: Int] = [:]
    /// The differences between the current counts and the counts at the last delivery.
    private var changes: [Operand: Int] = [:]
    private var isReordered = false

    init(isDistinct: Bool) { self.isDistinct = isDistinct }

    var value: Value { .list }

    var size: Int { counts.count + changes.count }

    mutating func change(_ operand: Operand, by count: Int) {
      if operand == .none { return }
      let operand = operand.normalized
      counts.change(operand, by: count)
      changes.change(operand, by: count)
      // An empty dictionary would keep its memory.
      if counts.isEmpty { counts = [:] }
    }

    mutating func noteOrder() { isReordered = true }

    mutating func removeAll() -> Bool {
      for (operand, count) in counts { changes.change(operand, by: -count) }
      counts = [:]
      return true
    }

    mutating func takeChange() -> Bool? {
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
  /// The operand that represents all equal ones: 1 for 1.0.
  var normalized: Operand {
    guard case .float(let number) = self, let integer = Int(exactly: number) else { return self }
    return .integer(integer)
  }
}

extension Dictionary<Operand, Int> {
  /// Changes a count, and removes it at 0.
  fileprivate mutating func change(_ operand: Operand, by count: Int) {
    let sum = (self[operand] ?? 0) + count
    self[operand] = sum == 0 ? nil : sum
  }
}
