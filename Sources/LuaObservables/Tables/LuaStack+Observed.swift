internal import CTables
internal import Lua

/// Access to tables as scripts see them, whether they are observed or not.
///
/// None of this calls metamethods or Swift.
extension LuaStack {
  /// Pops a key, and pushes the raw value under it in the table at `index`. [-1, +1, -]
  @discardableResult
  @inline(__always)
  func getOwn(at index: CInt) -> LuaType { LuaType(rawValue: clua_rawget(pointer, index)) }

  /// Pops a key, and pushes the value under it in the table at `index`, or inherited through tables
  /// in `__index`. [-1, +1, -]
  @discardableResult
  @inline(__always)
  func getInherited(at index: CInt) -> LuaType {
    LuaType(rawValue: clua_inheritedget(pointer, index))
  }

  /// The number of elements of the table at `index`. [-0, +0, -]
  @inline(__always)
  func ownLength(at index: CInt) -> Int { Int(truncatingIfNeeded: clua_rawlen(pointer, index)) }

  /// Pushes the metatable of the value at `index`; returns false without one. [-0, +(0|1), -]
  @inline(__always)
  func pushOwnMetatable(at index: CInt) -> Bool { clua_getmetatable(pointer, index) }

  /// Whether two values are the same by T5. [-0, +0, -]
  @inline(__always)
  func areSame(_ first: CInt, _ second: CInt) -> Bool { clua_same(pointer, first, second) }
}
