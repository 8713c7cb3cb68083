// These functions hide the standard library's functions of the same names, which print nothing in
// release builds. They do so in this module and in every module of the package that imports it.

/// Ends the program if its caller has broken a rule, and prints a sentence to the standard error
/// stream.
///
/// - Complexity: the cost of the condition. The sentence is only made if the condition is false.
@inline(__always)
package func precondition(
  _ condition: @autoclosure () -> Bool, _ sentence: @autoclosure () -> String,
  file: StaticString = #fileID, line: UInt = #line
) {
  if !condition() { misuse(sentence(), file: file, line: line) }
}

/// Ends the program because its caller has broken a rule, and prints a sentence to the standard
/// error stream.
@inline(__always)
package func preconditionFailure(
  _ sentence: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) -> Never {
  misuse(sentence(), file: file, line: line)
}

/// Ends the program with a sentence. Every mistake of a caller is reported here.
// In release builds, `fatalError` is the only one of these functions that prints.
@inline(never)
package func misuse(_ sentence: String, file: StaticString, line: UInt) -> Never {
  fatalError("Misuse: \(sentence)", file: file, line: line)
}
