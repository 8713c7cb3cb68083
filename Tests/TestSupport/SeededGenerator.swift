/// A random number generator that gives the same numbers for the same seed, and different ones for
/// different seeds (SplitMix64).
package struct SeededGenerator: RandomNumberGenerator {
  private static let increment: UInt64 = 0x9E37_79B9_7F4A_7C15
  private var state: UInt64

  package init(seed: Int) {
    // States of one generator are an increment apart. Scattering the seed keeps two seeds from
    // starting one step apart in the same sequence.
    state = Self.scatter(UInt64(bitPattern: Int64(seed)) &* 0xD134_2543_DE82_EF95)
  }

  package mutating func next() -> UInt64 {
    state &+= Self.increment
    return Self.scatter(state)
  }

  private static func scatter(_ value: UInt64) -> UInt64 {
    var z = value
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
