/// The exact sum of floating-point numbers and integers.
///
/// Adding a number and subtracting it again leaves no rounding error, in any order. The sum is a
/// fixed-point number that is wide enough for every double. It consists of limbs of 32 bits, stored
/// in 64 bits, so that carries can wait until the sum is read. Infinities and NaN are counted. An
/// addition is O(1).
struct ExactSum {
  /// The lowest bit of the first limb weighs 2 to this power, as the smallest double does.
  private static let lowest = -1074
  /// The number of limbs, enough for 2^63 times the largest double; the last limb contains the
  /// sign.
  private static let limbCount = (1024 + 64 - lowest) / 32 + 2

  private var limbs = [Int64](repeating: 0, count: ExactSum.limbCount)
  /// The additions since the last carry; a limb has room for 2^30 of them.
  private var additions = 0
  private var infinities = 0
  private var negativeInfinities = 0
  private var notNumbers = 0

  mutating func add(_ number: Double, times: Int = 1) {
    if number.isNaN {
      notNumbers += times
    } else if number.isInfinite {
      if number > 0 { infinities += times } else { negativeInfinities += times }
    } else if number != 0 {
      let bits = number.bitPattern
      let exponent = Int(bits >> 52 & 0x7FF)
      let fraction = bits & (1 << 52 - 1)
      // Subnormal numbers have the exponent of the smallest normal ones, without the hidden bit.
      let significand = exponent == 0 ? fraction : fraction | 1 << 52
      add(
        UInt128(significand) * UInt128(times.magnitude), at: max(exponent, 1) - 1,
        isNegative: (number < 0) != (times < 0))
    }
  }

  mutating func subtract(_ number: Double, times: Int = 1) { add(number, times: -times) }

  mutating func add(_ number: Int128) {
    add(number.magnitude, at: -ExactSum.lowest, isNegative: number < 0)
  }

  /// Adds `magnitude` · 2^(position + lowest).
  private mutating func add(_ magnitude: UInt128, at position: Int, isNegative: Bool) {
    let bit = position % 32
    var (limb, rest) = (position / 32, magnitude)
    while rest != 0 {
      let word = Int64(UInt32(truncatingIfNeeded: rest)) << bit
      let (low, high) = (word & 0xFFFF_FFFF, word >> 32)
      limbs[limb] += isNegative ? -low : low
      limbs[limb + 1] += isNegative ? -high : high
      (limb, rest) = (limb + 1, rest >> 32)
    }
    additions += 1
    // Each addition can change a limb twice.
    if additions >= 1 << 29 { carry() }
  }

  /// Brings each limb except the last into 0..<2^32.
  private mutating func carry() {
    if additions == 0 { return }
    additions = 0
    for index in 0..<ExactSum.limbCount - 1 {
      let carry = limbs[index] >> 32
      limbs[index] -= carry << 32
      limbs[index + 1] += carry
    }
  }

  /// The sum, rounded once, to nearest and ties to even.
  var value: Double {
    mutating get { divided(by: 1) }
  }

  /// Divides the sum by a number above 0 and rounds once, to nearest and ties to even.
  mutating func divided(by divisor: Int) -> Double {
    if notNumbers > 0 || infinities > 0 && negativeInfinities > 0 { return .nan }
    if infinities > 0 { return .infinity }
    if negativeInfinities > 0 { return -.infinity }
    carry()
    let isNegative = limbs[ExactSum.limbCount - 1] < 0
    var magnitude = self
    if isNegative {
      for index in magnitude.limbs.indices { magnitude.limbs[index].negate() }
      magnitude.additions = 1
      magnitude.carry()
    }
    let quotient = magnitude.divide(by: UInt64(divisor))
    return isNegative ? -quotient : quotient
  }

  /// Divides nonnegative limbs in place, and rounds.
  private mutating func divide(by divisor: UInt64) -> Double {
    guard var top = limbs.lastIndex(where: { $0 != 0 }) else { return 0 }
    var remainder: UInt64 = 0
    if divisor > 1 {
      for index in (0...top).reversed() {
        let dividend = (high: remainder >> 32, low: remainder << 32 | UInt64(limbs[index]))
        let (quotient, rest) = divisor.dividingFullWidth(dividend)
        (limbs[index], remainder) = (Int64(quotient), rest)
      }
      while top > 0, limbs[top] == 0 { top -= 1 }
    }
    let length = 32 * top + 64 - limbs[top].leadingZeroBitCount
    // A double has the 53 leading bits, and the bits below them decide the rounding. A subnormal
    // double has fewer bits, down to the lowest bit of the first limb.
    let shift = max(length - 53, 0)
    let significand = word(at: shift) & (1 << 53 - 1)
    let isUp: Bool
    if shift > 0 {
      let isHalf = word(at: shift - 1) & 1 == 1
      isUp = isHalf && (significand & 1 == 1 || remainder > 0 || hasBits(below: shift - 1))
    } else {
      let rest = divisor - remainder
      isUp = remainder > rest || remainder == rest && significand & 1 == 1
    }
    // The hidden bit adds one to the exponent. So does a significand that became longer by
    // rounding.
    let pattern = UInt64(shift) << 52 + significand + (isUp ? 1 : 0)
    return Double(bitPattern: min(pattern, Double.infinity.bitPattern))
  }

  /// The 64 bits from a position on.
  private func word(at position: Int) -> UInt64 {
    let first = position / 32
    var bits: UInt128 = 0
    for index in first..<min(first + 3, limbs.count) {
      bits |= UInt128(limbs[index]) << UInt128(32 * (index - first))
    }
    return UInt64(truncatingIfNeeded: bits >> UInt128(position % 32))
  }

  private func hasBits(below position: Int) -> Bool {
    limbs[..<(position / 32)].contains { $0 != 0 }
      || limbs[position / 32] & (1 << (position % 32) - 1) != 0
  }
}
