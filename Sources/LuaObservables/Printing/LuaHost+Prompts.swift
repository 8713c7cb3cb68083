internal import CLua
package import Lua

/// Functions for a program's prompt.
extension LuaHost {
  /// Pushes the module `obs`, and loads it if no script has. [-0, +1, -]
  ///
  /// - Throws: `memory`.
  package func pushModule(to L: LuaStack) throws(LuaError) { _ = try module.load(L) }

  /// Sets the line of a prompt that runs from now on; nil for no line.
  ///
  /// If Lua does not know the place of a registration, because a tail call leaves no function, this
  /// line is the place.
  package func enter(_ place: (source: String, line: Int)?) { sources.enter(place) }

  /// Replaces the values above `base` by a readable text. [-n, +1, -]
  ///
  /// This computes nothing; of the scripts' code, only `__tostring` runs. With `isPaged`, the text
  /// has more entries of tables.
  ///
  /// - Throws: `memory`, and the error of an interruption.
  package func describeValues(
    above base: CInt, columns: Int, isColoured: Bool, isPaged: Bool = false, _ L: LuaStack
  ) throws(LuaError) {
    let count = L.height - base
    let shown = min(count, LuaHost.mostValues)
    L.height = base + shown
    try module.printing.pushPrinter(to: L)
    L.insert(base + 1)
    L.push(columns)
    L.insert(base + 2)
    L.push(isColoured)
    L.insert(base + 3)
    L.push(isPaged)
    L.insert(base + 4)
    L.push(Int(count - shown))
    L.insert(base + 5)
    try state.tracedCall(arguments: shown + 4, results: 1, L)
  }

  /// The maximum number of shown results of an expression.
  private static var mostValues: CInt { 100 }

  /// Completes a text at a prompt. [-3, +2, -]
  ///
  /// Pops the text, the table of global variables, and a function that lists a folder. Pushes the
  /// number of bytes before the word to complete, and a list of candidates.
  ///
  /// - Throws: `memory`.
  package func complete(_ L: LuaStack) throws(LuaError) {
    try module.printing.pushCompleter(to: L)
    L.insert(-4)
    try state.tracedCall(arguments: 3, results: 2, L)
  }
}
