internal import CLua
internal import CTables
internal import Lua

/// Walks over tables: code that runs meanwhile, finalizers included, may change them.
extension LuaState {
  /// Calls `body` with each key, at -2, and value, at -1, that the table at `index` shows to a
  /// script, without the first `length` elements.
  ///
  /// The entries are those at the beginning, in the order of `next`. `body` leaves the stack
  /// as it was.
  ///
  /// - Throws: `LuaError` where there is no memory for that, and what `body` throws.
  /// - Complexity: O(entries)
  func forEachEntry(
    at index: CInt, beyond length: lua_Integer = 0, of L: LuaStack, _ body: () throws -> Void
  ) throws {
    let height = L.height
    var count: lua_Integer = 0
    try check(clua_try_entries(L.pointer, index, length, &count), L)
    defer { L.height = height }
    for entry in stride(from: 0, to: count, by: 1) {
      L.rawGet(index: 2 * entry + 1, at: height + 1)
      L.rawGet(index: 2 * entry + 2, at: height + 1)
      try body()
      L.height = height + 1
    }
  }
}
