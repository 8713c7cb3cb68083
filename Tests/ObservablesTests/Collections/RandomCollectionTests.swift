import Observables
import TestSupport
import Testing

/// Random programs over collections, compared with the collections of the standard library.
///
/// `OBS_SEED=n` sets the first seed, `OBS_COUNT=n` the number of programs.
@Suite struct `Random collections` {
  // C1–C10, T1, T3, T5, T7, T9
  @Test func `an array works like an Array and calls the watchers that the reference expects`() {
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
  @Test func `a dictionary and a set work like those of the standard library`() {
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
