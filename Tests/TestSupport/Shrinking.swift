/// Shortens a failing program by leaving out steps.
///
/// The first `kept` steps stay.
package func shrunk<Step>(
  _ program: [Step], keeping kept: Int = 0, fails: ([Step]) -> Bool
) -> [Step] {
  var program = program
  var length = max(program.count / 2, 1)
  while length > 0 {
    var start = kept
    while start < program.count {
      var shorter = program
      shorter.removeSubrange(start..<min(start + length, program.count))
      if fails(shorter) { program = shorter } else { start += length }
    }
    length /= 2
  }
  return program
}

/// Shortens a failing program as long as it still fails; returns nil if it does not fail.
///
/// The result also tells the first difference if the program fails only at times.
package func smallestFailure<Step>(
  of program: [Step], _ difference: ([Step]) -> String?
) -> String? {
  guard let first = difference(program) else { return nil }
  let shortest = shrunk(program) { difference($0) != nil }
  return failure(of: shortest) { difference($0) ?? "fails only at times: \(first)" }
}

/// The difference that a program causes, and the program.
package func failure<Step>(of program: [Step], _ difference: ([Step]) -> String?) -> String {
  "\(difference(program) ?? "")\n" + program.map { "  \($0)" }.joined(separator: "\n")
}
