// The standard library's functions with these names print nothing in release builds. These
// functions hide them.
//
// Observables has its own copies: neither target may depend on the other. Here they are internal,
// since a target that imports both would otherwise find each name twice.

/// Ends the program if its caller has broken a rule, with a sentence on the standard error stream.
///
/// - Complexity: the condition's; the sentence is made only if the condition is false.
@inline(__always)
func precondition(
  _ condition: @autoclosure () -> Bool, _ sentence: @autoclosure () -> String,
  file: StaticString = #fileID, line: UInt = #line
) {
  if !condition() { misuse(sentence(), file: file, line: line) }
}

/// Ends the program because its caller has broken a rule, with a sentence on the standard error
/// stream.
@inline(__always)
func preconditionFailure(
  _ sentence: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) -> Never {
  misuse(sentence(), file: file, line: line)
}

/// Ends the program with a sentence; all mistakes of callers are reported here.
// Among the standard library's functions, only `fatalError` prints in release builds, too.
@inline(never)
func misuse(_ sentence: String, file: StaticString, line: UInt) -> Never {
  fatalError("Misuse: \(sentence)", file: file, line: line)
}
