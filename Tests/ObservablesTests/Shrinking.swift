/// Leaves steps out of a failing program while it still fails; nil where it does not fail.
func smallestFailure<Step>(
  of program: [Step], _ difference: ([Step]) -> String?
) -> String? {
  guard var found = difference(program) else { return nil }
  var program = program
  var length = max(program.count / 2, 1)
  while length > 0 {
    var start = 0
    while start < program.count {
      var shorter = program
      shorter.removeSubrange(start..<min(start + length, program.count))
      if let other = difference(shorter) {
        (program, found) = (shorter, other)
      } else {
        start += length
      }
    }
    length /= 2
  }
  return "\(found)\n" + program.map { "  \($0)" }.joined(separator: "\n")
}
