internal import CLua
package import Lua

/// What a prompt of a program needs.
extension LuaHost {
  /// Pushes the module `obs`, which is loaded if no script did. [-0, +1, -]
  ///
  /// - Throws: `memory`.
  package func pushModule(to L: LuaStack) throws(LuaError) { _ = try module.load(L) }

  /// Says which line of a prompt runs from now on; nil for none.
  ///
  /// Its place is that of registrations where Lua knows none: a tail call leaves no function.
  package func enter(_ place: (source: String, line: Int)?) { sources.enter(place) }

  /// Replaces the values above `base` by a text that shows them to a person. [-n, +1, -]
  ///
  /// Nothing is computed for it, and of the code of scripts only `__tostring` runs.
  ///
  /// - Throws: `memory`, and the error of an interruption.
  package func describeValues(
    above base: CInt, columns: Int, isColoured: Bool, _ L: LuaStack
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
    L.push(Int(count - shown))
    L.insert(base + 4)
    try state.tracedCall(arguments: shown + 3, results: 1, L)
  }

  /// How many values are shown of those that an expression gives.
  private static var mostValues: CInt { 100 }

  /// Pops a text, the table of global variables, and a function that lists a folder; pushes how
  /// many bytes of the text stand before what is completed, and a list of candidates. [-3, +2, -]
  ///
  /// - Throws: `memory`.
  package func complete(_ L: LuaStack) throws(LuaError) {
    try module.printing.pushCompleter(to: L)
    L.insert(-4)
    try state.tracedCall(arguments: 3, results: 2, L)
  }
}
