import Observables
import Testing

/// Random programs over collections, against those of the standard library.
///
/// `OBS_SEED=n` begins with another seed, `OBS_COUNT=n` takes that many.
@Suite struct `Random collections` {
  // C1–C10, T1, T3, T5, T7, T9
  @Test func `an array does what an Array does and calls whom the reference says`() {
    for seed in Size.seeds(400, light: 40) {
      var generator = SeededGenerator(seed: seed)
      let program = (0..<50).map { _ in ArrayStep.random(using: &generator) }
      guard ArrayRun.difference(program) != nil else { continue }
      let small = shrunk(program) { ArrayRun.difference($0) != nil }
      let listing = small.map { "  .\($0)," }.joined(separator: "\n")
      Issue.record("seed \(seed): \(ArrayRun.difference(small) ?? "")\n\(listing)")
      return
    }
  }

  // C5, C6, C10
  @Test func `a dictionary and a set do what those of the standard library do`() {
    for seed in Size.seeds(400, light: 40) {
      var generator = SeededGenerator(seed: seed)
      let program = (0..<40).map { _ in KeyedStep.random(using: &generator) }
      guard KeyedRun.difference(program) != nil else { continue }
      let small = shrunk(program) { KeyedRun.difference($0) != nil }
      let listing = small.map { "  .\($0)," }.joined(separator: "\n")
      Issue.record("seed \(seed): \(KeyedRun.difference(small) ?? "")\n\(listing)")
      return
    }
  }

  /// Leaves steps out while the program still fails.
  private func shrunk<Step>(_ program: [Step], fails: ([Step]) -> Bool) -> [Step] {
    var program = program
    var length = program.count / 2
    while length > 0 {
      var start = 0
      while start < program.count {
        var shorter = program
        shorter.removeSubrange(start..<min(start + length, program.count))
        if fails(shorter) { program = shorter } else { start += length }
      }
      length /= 2
    }
    return program
  }
}
