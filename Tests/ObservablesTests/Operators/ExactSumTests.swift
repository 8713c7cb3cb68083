import TestSupport
import Testing

@testable import Observables

/// Sums of floats that are rounded once (C9).
struct ExactSumTests {
  // C9
  @Test func `0.1 added and taken away a million times leaves the sum exactly unchanged`() {
    var sum = ExactSum()
    sum.add(0.3)
    for _ in 0..<1_000_000 { sum.add(0.1) }
    for _ in 0..<1_000_000 { sum.subtract(0.1) }
    #expect(value(of: sum) == 0.3)
  }

  @Test func `infinities and NaN leave no trace after their removal`() {
    var sum = ExactSum()
    sum.add(1.5)
    sum.add(.infinity)
    #expect(value(of: sum) == .infinity)
    sum.add(-.infinity)
    #expect(value(of: sum).isNaN)
    sum.subtract(.infinity)
    #expect(value(of: sum) == -.infinity)
    sum.add(.nan)
    #expect(value(of: sum).isNaN)
    sum.subtract(-.infinity)
    sum.subtract(.nan)
    #expect(value(of: sum) == 1.5)
  }

  @Test func `a sum may pass through values beyond all doubles`() {
    #expect(sum([1e308, 1e308, -1e308]) == 1e308)
    #expect(sum([.greatestFiniteMagnitude, .greatestFiniteMagnitude]) == .infinity)
    #expect(sum([1, 1e100, -1e100]) == 1)
    #expect(sum([-1, 0x1p1000, 0x1p-1074, -0x1p1000]) == -1)
  }

  @Test func `ties go to even, and the least bit above a tie decides`() {
    #expect(sum([1, 0x1p-53]) == 1)
    #expect(sum([1, 0x1p-53, 0x1p-1074]) == 1 + 0x1p-52)
    #expect(sum([1 + 0x1p-52, 0x1p-53]) == 1 + 0x1p-51)
    #expect(sum([-1, -0x1p-53, -0x1p-1074]) == -1 - 0x1p-52)
  }

  @Test(arguments: 0..<20)
  func `any two doubles add up as in the processor`(block: Int) {
    var generator = SeededGenerator(seed: block)
    for _ in 0..<Size.of(2_000, light: 100) {
      let a = anyDouble(using: &generator)
      // Also values of about the same size, whose sum loses many digits.
      let b = Bool.random(using: &generator) ? anyDouble(using: &generator) : -a.nextUp * 1.25
      let (exact, expected) = (sum([a, b]), a + b)
      #expect(exact == expected || exact.isNaN && expected.isNaN, "block \(block): \(a) + \(b)")
    }
  }

  @Test(arguments: 0..<20)
  func `multiples and quotients are rounded as in the processor`(block: Int) {
    var generator = SeededGenerator(seed: block)
    for _ in 0..<Size.of(2_000, light: 100) {
      let number = anyDouble(using: &generator)
      let times = Int.random(in: 1...1 << Int.random(in: 0...53, using: &generator))
      var sum = ExactSum()
      sum.add(number, times: times)
      let product = number * Double(times)
      let single = sum.value
      #expect(single == product || product.isNaN, "block \(block): \(number) · \(times)")
      sum.subtract(number, times: times - 1)
      #expect(
        sum.divided(by: times) == number / Double(times) || product.isNaN,
        "block \(block): \(number) / \(times)")
    }
  }

  @Test(arguments: 0..<20)
  func `many numbers and integers add up as wide integers do`(block: Int) {
    var generator = SeededGenerator(seed: block)
    for _ in 0..<Size.of(100, light: 10) {
      var (sum, expected) = (ExactSum(), Int128(0))
      for _ in 0..<50 {
        if Bool.random(using: &generator) {
          let number = Int.random(in: .min ... .max, using: &generator)
          sum.add(Int128(number))
          expected += Int128(number) << 40
        } else {
          let number = Int.random(in: -1 << 53...1 << 53, using: &generator)
          let shift = Int.random(in: 0..<60, using: &generator)
          sum.add(Double(number) * Double(sign: .plus, exponent: shift - 40, significand: 1))
          expected += Int128(number) << Int128(shift)
        }
        #expect(value(of: sum) == Double(expected) * 0x1p-40, "block \(block)")
      }
    }
  }

  private func sum(_ numbers: [Double]) -> Double {
    var sum = ExactSum()
    for number in numbers { sum.add(number) }
    return sum.value
  }

  private func value(of sum: ExactSum) -> Double {
    var sum = sum
    return sum.value
  }

  /// A value of any size: subnormal, infinite and NaN are included.
  private func anyDouble(using generator: inout SeededGenerator) -> Double {
    let bits = generator.next()
    // One in eight is subnormal.
    return Double(bitPattern: generator.next() % 8 == 0 ? bits & ~(0x7FF << 52) : bits)
  }
}
