import TestSupport
import Testing

@testable import Observables

/// C9: operators keep the contributions of their members.
struct AggregateTests {
  private func total(_ operands: [Operand], _ operation: Operation = .sum) -> Aggregate.Value {
    var aggregate = Aggregate(operation)
    for operand in operands { aggregate.add(operand) }
    return aggregate.value
  }

  private func value(of aggregate: inout Aggregate) -> Aggregate.Value { aggregate.value }
  private func takeChange(_ aggregate: inout Aggregate) -> Bool { aggregate.takeChange() }

  // C9
  @Test func `integer sums wrap and are integers again after the last float left`() {
    var aggregate = Aggregate(.sum)
    aggregate.add(.integer(.max))
    aggregate.add(.integer(2))
    #expect(value(of: &aggregate) == .integer(.min + 1))
    aggregate.add(.float(0.5))
    #expect(value(of: &aggregate) == .float(0x1p63))
    aggregate.remove(.float(0.5))
    #expect(value(of: &aggregate) == .integer(.min + 1))
  }

  // C9
  @Test func `an average is rounded once, and its sum may be larger than any double`() {
    #expect(total([.float(1e308), .float(1e308)], .avg) == .float(1e308))
    #expect(total([.integer(.max), .integer(.max)], .avg) == .float(0x1p63))
    #expect(total([.integer(1), .none, .integer(2)], .avg) == .float(1.5))
  }

  // C9
  @Test func `an empty collection has a sum, but no average and no extreme`() {
    #expect(total([]) == .integer(0))
    #expect(total([.none], .avg) == .none)
    #expect(total([], .min) == .none)
    #expect(total([], .any) == .boolean(false))
    #expect(total([], .all) == .boolean(true))
    #expect(total([.none], .all) == .boolean(false))
    #expect(total([.none], .any) == .boolean(false))
  }

  // C9
  @Test func `the first value that is not a number spoils a sum while it is there`() {
    var aggregate = Aggregate(.sum)
    aggregate.add(.integer(1))
    for name in ["a", "b", "c"] { aggregate.add(.opaque(type: name)) }
    #expect(value(of: &aggregate) == .failure(.opaque(type: "a")))
    aggregate.remove(.opaque(type: "a"))
    #expect(value(of: &aggregate) == .failure(.opaque(type: "b")))
    aggregate.add(.opaque(type: "a"))
    #expect(value(of: &aggregate) == .failure(.opaque(type: "b")))
    for name in ["c", "b", "a"] { aggregate.remove(.opaque(type: name)) }
    #expect(value(of: &aggregate) == .integer(1))
  }

  // C9
  @Test func `extremes compare integers and floats without rounding them`() {
    #expect(total([.integer(1 << 53 + 1), .float(0x1p53)], .max) == .integer(1 << 53 + 1))
    #expect(total([.integer(1 << 53 + 1), .float(0x1p53)], .min) == .float(0x1p53))
    #expect(total([.integer(.max), .float(0x1p63)], .max) == .float(0x1p63))
    #expect(total([.integer(.min), .float(-0x1p63)], .min) == .integer(.min))
    #expect(total([.integer(.min), .float(-.infinity)], .min) == .float(-.infinity))
    #expect(total([.float(1), .integer(1)], .min) == .integer(1))
    #expect(total([.float(1), .integer(1)], .max) == .integer(1))
  }

  // C9
  @Test func `an extreme skips NaN and names values that cannot be ordered`() {
    #expect(total([.float(.nan), .integer(3)], .min) == .integer(3))
    #expect(total([.float(.nan)], .min) == .none)
    #expect(total([.text([66]), .text([65, 1]), .text([65])], .min) == .text([65]))
    #expect(total([.integer(1), .integer(2), .text([65])], .max) == .failure(.text([65])))
    #expect(total([.text([1]), .integer(2), .text([65])], .max) == .failure(.integer(2)))
    #expect(total([.integer(1), .boolean(true)], .max) == .failure(.boolean(true)))
  }

  // C9
  @Test func `a distinct union changes when a value first appears or finally disappears`() {
    var union = Aggregate(.distinctUnionOfObjects)
    union.add(.integer(1))
    #expect(takeChange(&union))
    union.add(.float(1))
    #expect(!takeChange(&union))
    union.remove(.integer(1))
    #expect(!takeChange(&union))
    union.remove(.float(1))
    union.add(.integer(1))
    #expect(!takeChange(&union))
    union.remove(.integer(1))
    #expect(takeChange(&union))
  }

  // C9, T5
  @Test func `a value that only changes its type is the same value`() {
    var sum = Aggregate(.sum)
    sum.add(.integer(1))
    #expect(takeChange(&sum))
    sum.remove(.integer(1))
    sum.add(.float(1))
    #expect(!takeChange(&sum))
    #expect(value(of: &sum) == .float(1))
    sum.add(.float(.nan))
    #expect(takeChange(&sum))
    sum.add(.float(.nan))
    #expect(!takeChange(&sum))
  }

  // C9
  @Test(arguments: 0..<20)
  func `a random program gives the same as computing anew`(block: Int) {
    let count = Size.of(40, light: 4)
    for seed in block * count..<(block + 1) * count {
      var generator = SeededGenerator(seed: seed)
      let operands = Step.operands.shuffled(using: &generator)
        .prefix(.random(in: 1...8, using: &generator))
      let length = seed % 10 == 0 ? 400 : 40
      let program = (0..<length).map { _ in Step.random(of: operands, using: &generator) }
      if let failure = smallestFailure(of: program, difference) {
        Issue.record("seed \(seed): \(failure)")
        return
      }
    }
  }

  private func difference(_ program: [Step]) -> String? {
    let operations = Operation.allCases.filter(\.isAggregate)
    var aggregates = operations.map { Aggregate($0) }
    var references = operations.map { Reference(operation: $0) }
    for (place, step) in program.enumerated() {
      for index in operations.indices {
        switch step {
        case .add(let operand, let times): aggregates[index].add(operand, times: times)
        case .remove(let operand):
          if !references[index].members.contains(operand) { continue }
          aggregates[index].remove(operand)
        case .reorder: aggregates[index].noteOrder()
        case .ask:
          let (value, expected) = (aggregates[index].value, references[index].value)
          if !Reference.isIdentical(value, expected) {
            return "step \(place): @\(operations[index]) is \(value), not \(expected)"
          }
          let (change, isExpected) = (
            aggregates[index].takeChange(), references[index].takeChange()
          )
          if change != isExpected {
            return "step \(place): @\(operations[index]) has changed: \(change)"
          }
        }
        references[index].apply(step)
      }
    }
    return nil
  }
}

private enum Step {
  case add(Operand, times: Int)
  case remove(Operand)
  case reorder
  case ask

  static var operands: [Operand] {
    [
      .none, .boolean(false), .boolean(true), .text([]), .text([65]), .text([65, 66]),
      .integer(0), .integer(1), .integer(-1), .integer(.max), .integer(.min),
      .integer(1 << 53 + 1), .integer(7), .float(0.1), .float(-0.7), .float(1), .float(7.5),
      .float(0x1p53), .float(0x1p63), .float(.infinity), .float(-.infinity), .float(.nan),
      .object(UnsafeRawPointer(bitPattern: 8)!), .value(AnyHashable([1])), .opaque(type: "thread"),
    ]
  }

  static func random(
    of operands: ArraySlice<Operand>, using generator: inout SeededGenerator
  ) -> Step {
    let operand = operands.randomElement(using: &generator)!
    return switch Int.random(in: 0..<20, using: &generator) {
    case 0..<7: .add(operand, times: Int.random(in: 0..<8, using: &generator) == 0 ? 3 : 1)
    case 7..<15: .remove(operand)
    case 15: .reorder
    default: .ask
    }
  }
}

/// One operator, computed anew each time.
private struct Reference {
  let operation: Operation
  /// The members in the order of their arrival.
  var members: [Operand] = []
  private var isReordered = false
  private var delivered: [Operand: Int] = [:]
  private var deliveredValue: Aggregate.Value?
  private var failure: Aggregate.Value?

  init(operation: Operation) { self.operation = operation }

  mutating func apply(_ step: Step) {
    switch step {
    case .add(let operand, let times): members += Array(repeating: operand, count: times)
    case .remove(let operand):
      if let index = members.lastIndex(of: operand) { members.remove(at: index) }
    case .reorder: isReordered = true
    case .ask: isReordered = false
    }
  }

  var value: Aggregate.Value {
    let present = members.filter { $0 != .none }
    switch operation {
    case .any: return .boolean(present.contains { $0 != .boolean(false) })
    case .all: return .boolean(members.allSatisfy { $0 != .none && $0 != .boolean(false) })
    case .sum, .avg:
      if let odd = present.first(where: { $0.number == nil }) { return .failure(odd) }
      return sum(present)
    case .min, .max:
      if let odd = present.first(where: { $0.number == nil && !$0.isText }) {
        return .failure(odd)
      }
      return extreme(present.filter { $0 != .float(.nan) })
    default: return .list
    }
  }

  private func sum(_ numbers: [Operand]) -> Aggregate.Value {
    let integers = numbers.compactMap { number -> Int? in
      if case .integer(let number) = number { return number }
      return nil
    }
    if operation == .sum, integers.count == numbers.count {
      return .integer(integers.reduce(0, &+))
    }
    if numbers.isEmpty { return .none }
    var sum = ExactSum()
    for number in numbers {
      switch number {
      case .integer(let number): sum.add(Int128(number))
      case .float(let number): sum.add(number)
      default: break
      }
    }
    return .float(operation == .sum ? sum.value : sum.divided(by: numbers.count))
  }

  private func extreme(_ operands: [Operand]) -> Aggregate.Value {
    let texts = operands.filter(\.isText)
    let numbers = operands.filter { !$0.isText }
    // A whole float has exactly the value of a wide integer.
    func isBefore(_ a: Operand, _ b: Operand) -> Bool {
      let isLess =
        switch (a, b) {
        case (.text(let a), .text(let b)): a.lexicographicallyPrecedes(b)
        case (.integer(let a), .integer(let b)): a < b
        case (.float(let a), .float(let b)): a < b
        default: a.scaled < b.scaled
        }
      return isLess
    }
    func best(_ operands: [Operand]) -> Operand? {
      var best: Operand?
      for operand in operands {
        guard let other = best else {
          best = operand
          continue
        }
        let (isBetter, isWorse) =
          operation == .min
          ? (isBefore(operand, other), isBefore(other, operand))
          : (isBefore(other, operand), isBefore(operand, other))
        if isBetter { best = operand }
        if !isBetter, !isWorse, case .integer = operand { best = operand }
      }
      return best
    }
    if !texts.isEmpty, !numbers.isEmpty {
      return .failure(best(texts.count <= numbers.count ? texts : numbers)!)
    }
    switch best(operands) {
    case .integer(let number): return .integer(number)
    case .float(let number): return .float(number)
    case .text(let bytes): return .text(bytes)
    default: return .none
    }
  }

  mutating func takeChange() -> Bool {
    let value = value
    if case .failure = value {
      defer { failure = value }
      return failure != value
    }
    guard case .list = value else {
      failure = nil
      let last = deliveredValue ?? Reference(operation: operation).value
      deliveredValue = value
      return !Reference.isEqual(value, last)
    }
    var counts: [Operand: Int] = [:]
    for member in members where member != .none {
      var key = member
      if case .float(let number) = member, let integer = Int(exactly: number) {
        key = .integer(integer)
      }
      counts[key, default: 0] += 1
    }
    defer { delivered = counts }
    let isDistinct = operation.isDistinct
    if isDistinct { return Set(counts.keys) != Set(delivered.keys) }
    return isReordered || counts != delivered
  }

  static func isIdentical(_ a: Aggregate.Value, _ b: Aggregate.Value) -> Bool {
    if case (.float(let a), .float(let b)) = (a, b) { return a == b || a.isNaN && b.isNaN }
    return a == b
  }

  static func isEqual(_ a: Aggregate.Value, _ b: Aggregate.Value) -> Bool {
    switch (a, b) {
    case (.integer(let a), .float(let b)), (.float(let b), .integer(let a)):
      Int(exactly: b) == a
    default: isIdentical(a, b)
    }
  }
}

extension Operand {
  fileprivate var isText: Bool {
    if case .text = self { return true }
    return false
  }

  fileprivate var number: Operand? {
    switch self {
    case .integer, .float: self
    default: nil
    }
  }

  /// In units of 2^-60; exact, except beyond all integers.
  fileprivate var scaled: Int128 {
    switch self {
    case .integer(let number): Int128(number) << 60
    case .float(let number): Int128(exactly: number * 0x1p60) ?? (number < 0 ? .min : .max)
    default: 0
    }
  }
}
