internal import CLua

/// The stack of a state, for functions that build tables on it: it knows the sizes of names, and
/// takes the errors.
///
/// It owns nothing, and is used while the function that made it runs. Nothing here can raise: what
/// may is protected, and thrown. Each operation needs five free slots.
package struct LuaFrame {
  private let state: LuaState
  private let L: OpaquePointer

  package init(_ state: LuaState, _ L: OpaquePointer) { (self.state, self.L) = (state, L) }

  /// Pushes a new table with room for so many elements and fields. [-0, +1, -]
  package func pushTable(elements: Int = 0, fields: Int = 0) throws(LuaError) {
    try state.pushTable(elements: elements, fields: fields, to: L)
  }

  /// Pops a value and makes it a field of the table below it. [-1, +0, -]
  package func setField(_ name: String) throws(LuaError) {
    try state.check(clua_try_setfield(L, -2, name, name.utf8.count), L)
  }
}
