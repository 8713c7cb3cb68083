import TestSupport
import Testing

/// Random programs over models, collections and lazy properties, with callbacks that change them,
/// compared with a naive reference.
///
/// `OBS_SEED=n` sets the first seed, `OBS_COUNT=n` the number of programs.
struct RandomModelTests {
  // P3–P8, T1–T5, T7, T9, T11, L5, S8, C1–C10, C12, X2, X3, X5, Z1–Z5, Z10, Z12
  @Test func `a random program calls the watchers that the plain reference expects`() {
    for seed in Size.seeds(1000, light: 400) {
      var generator = ModelGenerator(seed: seed)
      let program = generator.program(40)
      guard difference(program) != nil else { continue }
      Issue.record("seed \(seed): \(failure(of: smallest(program), difference))")
      return
    }
  }

  /// Returns nil if the engine agrees with the reference.
  private func difference(_ program: [Statement]) -> String? {
    let actual = ModelRun.log(of: program)
    let expected = ModelReference.log(of: program)
    let count = zip(actual, expected).prefix { $0.fits($1) }.count
    if count == actual.count, count == expected.count { return nil }
    func event(_ log: [ModelEvent]) -> String { count < log.count ? "\(log[count])" : "nothing" }
    return "event \(count): expected '\(event(expected))', got '\(event(actual))'"
  }

  /// Shortens a failing program, except its first statement: first whole statements are removed,
  /// then parts of them.
  private func smallest(_ program: [Statement]) -> [Statement] {
    var program = shrunk(program, keeping: 1) { difference($0) != nil }
    var hasChanged = true
    while hasChanged {
      let first = program[0]
      let shorter = Statement.shorter(Array(program.dropFirst())).first {
        difference([first] + $0) != nil
      }
      hasChanged = shorter != nil
      if let shorter { program = [first] + shorter }
    }
    return program
  }
}
