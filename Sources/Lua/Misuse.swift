// The standard library's functions of these names print nothing in release builds. These functions
// hide them.
//
// Observables has its own: neither target may know the other. In this one they are internal, since
// a target that imports both would find each name twice.

/// Ends the program where its caller has broken a rule, with a sentence on the standard error
/// stream.
///
/// - Complexity: that of the condition: the sentence is made where that is false.
@inline(__always)
func precondition(
  _ condition: @autoclosure () -> Bool, _ sentence: @autoclosure () -> String,
  file: StaticString = #fileID, line: UInt = #line
) {
  if !condition() { misuse(sentence(), file: file, line: line) }
}

/// Ends the program where its caller has broken a rule, with a sentence on the standard error
/// stream.
@inline(__always)
func preconditionFailure(
  _ sentence: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) -> Never {
  misuse(sentence(), file: file, line: line)
}

/// Ends the program with a sentence; all mistakes of callers are reported here.
// Of the standard library's functions only `fatalError` prints in release builds, too.
@inline(never)
func misuse(_ sentence: String, file: StaticString, line: UInt) -> Never {
  fatalError("Misuse: \(sentence)", file: file, line: line)
}
