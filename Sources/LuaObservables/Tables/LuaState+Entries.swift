internal import CLua
internal import CTables
internal import Lua
internal import Observables

/// Iteration over tables, which running code, finalizers included, may change.
extension LuaState {
  /// Calls `body` with each entry that the table at `index` shows to a script, except the first
  /// `length` elements; the key is at -2, the value at -1.
  ///
  /// The entries are the ones present at the beginning, in the order of `next`. `body` must restore
  /// the stack.
  ///
  /// - Throws: `LuaError` if memory runs out, and errors of `body`.
  /// - Complexity: O(entries)
  func forEachEntry(
    at index: CInt, beyond length: lua_Integer = 0, of L: LuaStack, _ body: () throws -> Void
  ) throws {
    try goThroughEntries(at: index, beyond: length, of: L) {
      try body()
      return true
    }
  }

  /// Calls `body` for each entry, like `forEachEntry`, until it returns false.
  func goThroughEntries(
    at index: CInt, beyond length: lua_Integer = 0, of L: LuaStack, while body: () throws -> Bool
  ) throws {
    let height = L.height
    var count: lua_Integer = 0
    try check(clua_try_entries(L.pointer, index, length, &count), L)
    defer { L.height = height }
    for entry in stride(from: 0, to: count, by: 1) {
      L.rawGet(index: 2 * entry + 1, at: height + 1)
      L.rawGet(index: 2 * entry + 2, at: height + 1)
      guard try body() else { return }
      L.height = height + 1
    }
  }

  /// The name in a list, or among the keys of a table, that a misspelt one most likely means; nil
  /// if none is similar, and once scripts must stop. [-0, +0, -]
  func nearest(to name: String, amongEntriesAt index: CInt, of L: LuaStack) -> String? {
    guard L.hasRoom(for: 4) else { return nil }
    let (height, index) = (L.height, L.absolute(index))
    defer { L.height = height }
    L.pushNil()
    let names = sequence(state: ()) { [interrupter] _ -> String? in
      while !interrupter.isStopping, clua_next(L.pointer, index) != 0 {
        defer { L.pop() }
        if L.isString(at: -2) { return self.text(at: -2, of: L) }
        if L.isString(at: -1) { return self.text(at: -1, of: L) }
      }
      return nil
    }
    return nearestName(to: name, among: names)
  }
}
