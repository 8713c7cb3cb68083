/// The exact sum of floating-point numbers and integers: what was added and taken away again leaves no
/// trace, in any order.
///
/// A fixed-point number wide enough for every double, in limbs of 32 bits that are kept in 64, so that
/// carries wait until the sum is read. Infinities and NaN are counted. An addition is O(1).
struct ExactSum {
  /// The weight of the first limb's lowest bit: 2 to this power, that of the smallest double.
  private static let lowest = -1074
  /// For the largest double and 2^63 of them.
  private static let limbCount = (1024 + 64 - lowest) / 32 + 2

  private var limbs = [Int64](repeating: 0, count: ExactSum.limbCount)
  /// Additions since the carries were worked in: a limb takes 2^30 of them.
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
        significand, shift: max(exponent, 1) - 1, isNegative: number < 0 ? times > 0 : times < 0,
        times: times.magnitude)
    }
  }

  /// The same for an exact integer.
  mutating func add(_ number: Int128) {
    let magnitude = number.magnitude
    for part in 0..<4 {
      let word = UInt64(truncatingIfNeeded: magnitude >> (32 * UInt128(part))) & 0xFFFF_FFFF
      if word > 0 {
        add(word, shift: 32 * part - ExactSum.lowest, isNegative: number < 0, times: 1)
      }
    }
  }

  /// Adds `significand` · 2^(shift + lowest), some times.
  private mutating func add(
    _ significand: UInt64, shift: Int, isNegative: Bool, times: UInt
  ) {
    let (limb, bit) = (shift / 32, shift % 32)
    let wide = UInt128(significand) << UInt128(bit)
    for _ in 0..<times {
      for part in 0..<3 {
        let word = Int64(truncatingIfNeeded: wide >> (32 * UInt128(part)) & 0xFFFF_FFFF)
        limbs[limb + part] += isNegative ? -word : word
      }
      additions += 1
      if additions >= 1 << 30 { carry() }
    }
  }

  /// Brings each limb but the last into 0..<2^32.
  private mutating func carry() {
    additions = 0
    for index in 0..<ExactSum.limbCount - 1 {
      let carry = limbs[index] >> 32
      limbs[index] -= carry << 32
      limbs[index + 1] += carry
    }
  }

  /// The sum, rounded once, to nearest and ties to even.
  var value: Double {
    mutating get {
      if notNumbers > 0 || infinities > 0 && negativeInfinities > 0 { return .nan }
      if infinities > 0 { return .infinity }
      if negativeInfinities > 0 { return -.infinity }
      carry()
      if limbs[ExactSum.limbCount - 1] >= 0 { return magnitude(of: limbs) }
      var negated = self
      for index in negated.limbs.indices { negated.limbs[index] = -negated.limbs[index] }
      negated.carry()
      return -magnitude(of: negated.limbs)
    }
  }

  private func magnitude(of limbs: [Int64]) -> Double {
    guard let top = limbs.lastIndex(where: { $0 != 0 }) else { return 0 }
    let width = 64 - limbs[top].leadingZeroBitCount
    let length = 32 * top + width
    // The 53 leading bits, the next one and whether anything is below it decide the rounding; a
    // subnormal sum has no more than 53 bits.
    if length <= 53 { return Double(bits(of: limbs, from: 0, count: length)) * 0x1p-1074 }
    let shift = length - 53
    var significand = bits(of: limbs, from: shift, count: 53)
    let half = bits(of: limbs, from: shift - 1, count: 1) == 1
    if half, significand & 1 == 1 || hasBits(limbs, below: shift - 1) { significand += 1 }
    // In two steps where 2^(shift - 1074) alone would be below the normal numbers.
    return Double(sign: .plus, exponent: shift + ExactSum.lowest, significand: Double(significand))
  }

  private func bits(of limbs: [Int64], from start: Int, count: Int) -> UInt64 {
    var result: UInt64 = 0
    for bit in 0..<count {
      let position = start + bit
      let limb = min(position / 32, ExactSum.limbCount - 1)
      if limbs[limb] >> Int64(position - 32 * limb) & 1 == 1 { result |= 1 << UInt64(bit) }
    }
    return result
  }

  private func hasBits(_ limbs: [Int64], below position: Int) -> Bool {
    for index in 0..<(position / 32) where limbs[index] != 0 { return true }
    let rest = position % 32
    return rest > 0 && limbs[position / 32] & (1 << Int64(rest) - 1) != 0
  }
}
