import Observables
import TestSupport
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
      if let failure = smallestFailure(of: program, ArrayRun.difference) {
        Issue.record("seed \(seed): \(failure)")
        return
      }
    }
  }

  // C5, C6, C10
  @Test func `a dictionary and a set do what those of the standard library do`() {
    for seed in Size.seeds(400, light: 40) {
      var generator = SeededGenerator(seed: seed)
      let program = (0..<40).map { _ in KeyedStep.random(using: &generator) }
      if let failure = smallestFailure(of: program, KeyedRun.difference) {
        Issue.record("seed \(seed): \(failure)")
        return
      }
    }
  }
}
