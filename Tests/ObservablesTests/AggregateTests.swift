import Testing

@testable import Observables

/// C9: operators keep what their members contributed.
@Suite struct AggregateTests {
  private func total(_ operands: [Operand], _ operation: Operation = .sum) -> Aggregate.Value {
    var aggregate = Aggregate(operation)
    for operand in operands { aggregate.add(operand) }
    return aggregate.value
  }

  // C9
  @Test func `0.1 added and removed a million times leaves exactly what was there`() {
    var aggregate = Aggregate(.sum)
    aggregate.add(.float(0.3))
    for _ in 0..<1_000_000 { aggregate.add(.float(0.1)) }
    for _ in 0..<1_000_000 { aggregate.remove(.float(0.1)) }
    #expect(value(of: &aggregate) == .float(0.3))
  }

  @Test func `infinity and NaN leave no trace once they are gone`() {
    var aggregate = Aggregate(.sum)
    aggregate.add(.float(1.5))
    aggregate.add(.float(.infinity))
    #expect(value(of: &aggregate) == .float(.infinity))
    aggregate.add(.float(-.infinity))
    if case .float(let sum) = aggregate.value { #expect(sum.isNaN) }
    aggregate.add(.float(.nan))
    aggregate.remove(.float(.infinity))
    aggregate.remove(.float(-.infinity))
    aggregate.remove(.float(.nan))
    #expect(value(of: &aggregate) == .float(1.5))
  }

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

  @Test func `a sum of floats is rounded once`() {
    #expect(total([.float(1e308), .float(1e308), .float(-1e308)]) == .float(1e308))
    #expect(total([.float(1), .float(1e100), .float(-1e100)]) == .float(1))
    #expect(total([.float(1), .float(0x1p-53), .float(0x1p-106)]) == .float(1 + 0x1p-52))
    #expect(total([.float(1), .float(0x1p-53)]) == .float(1))
    #expect(
      total([.float(.leastNonzeroMagnitude), .float(.leastNonzeroMagnitude)])
        == .float(0x1p-1073))
    #expect(total([.float(-2.5), .float(1)]) == .float(-1.5))
    #expect(
      total([.float(.greatestFiniteMagnitude), .float(.greatestFiniteMagnitude)])
        == .float(.infinity))
  }

  @Test func `of nothing there is a sum, but no average and no extreme`() {
    #expect(total([]) == .integer(0))
    #expect(total([.none], .avg) == .none)
    #expect(total([], .min) == .none)
    #expect(total([], .any) == .boolean(false))
    #expect(total([], .all) == .boolean(true))
    #expect(total([.none], .all) == .boolean(false))
  }

  @Test func `what is no number spoils a sum only while it is there`() {
    var aggregate = Aggregate(.sum)
    aggregate.add(.integer(1))
    aggregate.add(.text(Array("a".utf8)))
    #expect(value(of: &aggregate) == .failure(.text(Array("a".utf8))))
    aggregate.remove(.text(Array("a".utf8)))
    #expect(value(of: &aggregate) == .integer(1))
  }

  @Test func `numbers and strings have no common extreme`() {
    #expect(total([.integer(1), .integer(2), .text([65])], .max) == .failure(.text([65])))
    #expect(total([.text([66]), .text([65])], .min) == .text([65]))
    #expect(total([.integer(1 << 53 + 1), .float(0x1p53)], .max) == .integer(1 << 53 + 1))
    #expect(total([.float(.nan), .integer(3)], .min) == .integer(3))
  }

  @Test func `a distinct union changes when a value comes for the first time or goes for good`() {
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

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `random members give what adding up anew gives`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    let floats = seed % 2 == 0
    var members: [Operand] = []
    var aggregates = [Operation.sum, .avg, .min, .max].map { Aggregate($0) }
    for _ in 0..<400 {
      if !members.isEmpty, random.next() % 5 < 2 {
        let gone = members.remove(at: Int(random.next() % UInt64(members.count)))
        for index in aggregates.indices { aggregates[index].remove(gone) }
      } else {
        let number = Int(random.next() % 41) - 20
        let member: Operand =
          floats && random.next() % 2 == 0 ? .float(Double(number) / 4) : .integer(number)
        members.append(member)
        for index in aggregates.indices { aggregates[index].add(member) }
      }
      let numbers = members.map { member -> Double in
        switch member {
        case .integer(let number): Double(number)
        case .float(let number): number
        default: .nan
        }
      }
      let sum = numbers.reduce(0, +)
      #expect(number(value(of: &aggregates[0])) == sum)
      let average = numbers.isEmpty ? nil : sum / Double(numbers.count)
      #expect(number(value(of: &aggregates[1])) == average)
      #expect(number(value(of: &aggregates[2])) == numbers.min())
      #expect(number(value(of: &aggregates[3])) == numbers.max())
    }
  }

  private func value(of aggregate: inout Aggregate) -> Aggregate.Value { aggregate.value }
  private func takeChange(_ aggregate: inout Aggregate) -> Bool { aggregate.takeChange() }

  private func number(_ value: Aggregate.Value) -> Double? {
    switch value {
    case .integer(let number): Double(number)
    case .float(let number): number
    default: nil
    }
  }
}

/// A small generator whose numbers are the same on every run.
struct SplitMix: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed &+ 0x9E37_79B9_7F4A_7C15 }
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
    return z ^ z >> 31
  }
}
